#include "greet.h"
#include <stdio.h>

void greet(const char *whom, int times) {
  while (times-- > 0) printf("%s, %s!\n", GREETING, whom);
}
