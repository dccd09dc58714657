// Says how many lines the letters have.
#include <stdio.h>

#include "letters_of.h"

int main(void) {
  printf("%d lines, %u\n", letters_count(), letters_sum());
  return 0;
}
