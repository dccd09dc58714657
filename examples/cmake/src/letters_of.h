// All letters, as one number that changes when one of them does.
unsigned letters_sum(void);

// How many lines they have.
int letters_count(void);
