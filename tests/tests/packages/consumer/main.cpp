// A C++ program that uses the C interface.
#include <iostream>
#include <upcheck.h>

int main(int argc, char **argv) {
  if (argc != 2 || upcheck_version() != UPCHECK_VERSION) return 3;
  const std::string folder = argv[1], output = folder + "/main.o", input = folder + "/main.c";
  const upcheck_str outputs = {output.data(), output.size()}, inputs = {input.data(), input.size()};
  int32_t stale = 0, reason = UPCHECK_FRESH;
  upcheck_error *error = nullptr;
  if (upcheck_is_stale(&outputs, 1, &inputs, 1, &stale, &reason, &error) != UPCHECK_OK) {
    std::cerr << "error: " << upcheck_error_message(error) << '\n';
    upcheck_error_free(error);
    return 2;
  }
  std::cout << upcheck_reason_name(reason) << '\n';
}
