#include "count.h"
#include "greet.h"

int main(void) {
  greet("world", count());
  return 0;
}
