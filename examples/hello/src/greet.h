#define GREETING "Hello"
void greet(const char *whom, int times);
