// The other one.
#include "upcheck/upcheck.hpp"

#include "rust/cxx.h"

std::size_t findings_of(const upcheck::Report &report);
std::size_t findings_of(const upcheck::Report &report) { return report.findings().size(); }
