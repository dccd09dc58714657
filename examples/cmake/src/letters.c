#include "letters_of.h"

#include "codec.h"
#include "letters.h"

int letters_count(void) { return sizeof all_letters / sizeof *all_letters; }

unsigned letters_sum(void) {
  unsigned sum = 0;
  for (int at = 0; at < letters_count(); at++) sum = codec_add(sum, all_letters[at]);
  return sum;
}
