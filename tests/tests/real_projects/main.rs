//! Real C and C++ projects from Debian's source packages, and one in Fortran for its dyndep files, configured by
//! CMake or Meson and built by the real ninja, then edited as people edit them. After each edit ninja and upcheck
//! must name the same commands. The same projects once more, for Makefiles and for ninja, in CMake's words.
//!
//! Long: `cargo test -p upcheck-tests --test real_projects -- --ignored --nocapture`. Needs cmake, a C and a C++
//! compiler, gfortran, perl, and python3 with pip. `UPCHECK_ALL_NINJAS=1` adds ninja 1.12.

mod cmake;
mod fortran;
mod life;
mod projects;
mod work;

use life::live_through;
use projects::{FRIBIDI, LIBICAL, MBEDTLS, TAGLIB};
use upcheck_tests::tools::Ninja;

#[test]
#[ignore = "long: builds a real project with each ninja"]
fn libical_and_its_generated_headers() {
    for version in versions() {
        live_through(&LIBICAL, version);
    }
}

#[test]
#[ignore = "long: builds a real project"]
fn mbedtls_in_static_and_shared_libraries() {
    live_through(&MBEDTLS, Ninja::V1_13);
}

#[test]
#[ignore = "long: builds a real project"]
fn taglib_in_cpp() {
    live_through(&TAGLIB, Ninja::V1_13);
}

#[test]
#[ignore = "long: builds a real project"]
fn fribidi_with_meson_and_its_own_generators() {
    live_through(&FRIBIDI, Ninja::V1_13);
}

#[test]
#[ignore = "long: builds a real project with each ninja"]
fn fortran_and_its_dyndep_files() {
    for version in versions() {
        fortran::live_through(version);
    }
}

#[test]
#[ignore = "long: builds a real project"]
fn libical_in_cmakes_words_with_makefiles() {
    cmake::live_through(&LIBICAL, cmake::MAKEFILES);
}

#[test]
#[ignore = "long: builds a real project"]
fn libical_in_cmakes_words_with_ninja() {
    cmake::live_through(&LIBICAL, cmake::NINJA);
}

#[test]
#[ignore = "long: builds a real project"]
fn mbedtls_in_cmakes_words_with_makefiles() {
    cmake::live_through(&MBEDTLS, cmake::MAKEFILES);
}

#[test]
#[ignore = "long: builds a real project"]
fn mbedtls_in_cmakes_words_with_ninja() {
    cmake::live_through(&MBEDTLS, cmake::NINJA);
}

#[test]
#[ignore = "long: builds a real project"]
fn taglib_in_cmakes_words_with_makefiles() {
    cmake::live_through(&TAGLIB, cmake::MAKEFILES);
}

#[test]
#[ignore = "long: builds a real project"]
fn taglib_in_cmakes_words_with_ninja() {
    cmake::live_through(&TAGLIB, cmake::NINJA);
}

fn versions() -> Vec<Ninja> {
    let all = std::env::var_os("UPCHECK_ALL_NINJAS").is_some();
    if all { Ninja::ALL.to_vec() } else { Ninja::USUAL.to_vec() }
}
