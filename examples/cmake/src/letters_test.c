#include "letters_of.h"

int main(void) { return letters_count() >= 2 && letters_sum() != 0 ? 0 : 1; }
