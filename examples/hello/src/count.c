#include "count.h"

int count(void) { return 2; }
