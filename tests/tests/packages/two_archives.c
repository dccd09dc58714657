/* A program, in C and in C++, with two archives made by Rust. */
#include <stdio.h>
#include <string.h>
#include <upcheck.h>

#ifdef __cplusplus
extern "C"
#endif
int other_answer(void);

int main(int argc, char **argv) {
  char path[4096];
  upcheck_str output;
  int32_t stale = 0, reason = UPCHECK_FRESH;
  if (argc != 2) return 3;
  snprintf(path, sizeof path, "%s/main.o", argv[1]);
  output.ptr = path;
  output.len = strlen(path);
  if (upcheck_is_stale(&output, 1, NULL, 0, &stale, &reason, NULL) != UPCHECK_OK) return 2;
  printf("other: %d, upcheck: %s\n", other_answer(), upcheck_reason_name(reason));
  return 0;
}
