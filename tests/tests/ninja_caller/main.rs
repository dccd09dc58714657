//! Ninja as a caller of the C interface: ninja built with `integrations/ninja/disk_interface`, by its recipe, beside ninja
//! built from the same source without it. Both have to say and to do the same, always.

mod lies;
mod ninjas;
mod same;
mod unit;

use upcheck_tests::tools::Ninja;

/// The versions that are compared: those of every run, or all with `UPCHECK_ALL_NINJAS=1`.
fn versions() -> &'static [Ninja] {
    if std::env::var_os("UPCHECK_ALL_NINJAS").is_some() { Ninja::ALL } else { Ninja::USUAL }
}
