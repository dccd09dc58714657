#include "codec.h"

unsigned codec_add(unsigned sum, const char *text) {
  for (; *text; text++) sum = sum * 31 + (unsigned char)*text;
  return sum;
}
