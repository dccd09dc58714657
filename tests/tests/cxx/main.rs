//! The C++ library: programs that use it, compiled with all warnings, run under the sanitizers and valgrind.

mod compile;
mod driver;
mod headers;
mod ninja;
mod programs;
mod release;
