//! Makes the C++ half of the bridge, and a folder with all headers that C++ programs need.
//!
//! The folder is `OUT_DIR/include`, and once more `<target directory>/<profile>/upcheck-cxx-include`, where it is found
//! without knowing cargo's hashes. Everything in it is a file of its own; what cxx leaves in its folders are links.
//!
//! ```text
//! upcheck.h              the C interface
//! upcheck/upcheck.hpp    the C++ interface; includes the two that follow
//! upcheck/types.hpp
//! upcheck/bridge.rs.h    generated
//! rust/cxx.h             only for programs that have a bridge of their own
//! ```

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const BRIDGE: &str = "src/bridge.rs";

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let c_include = own.join("../c/include");

    cxx_build::CFG.include_prefix = "upcheck";
    cxx_build::bridge(BRIDGE).include("include").include(&c_include).std("c++17").compile("upcheck_bridge");

    let generated = out.join("cxxbridge/include");
    let headers = [
        (c_include.join("upcheck.h"), "upcheck.h"),
        (own.join("include/upcheck/upcheck.hpp"), "upcheck/upcheck.hpp"),
        (own.join("include/upcheck/types.hpp"), "upcheck/types.hpp"),
        (generated.join("upcheck/src/bridge.rs.h"), "upcheck/bridge.rs.h"),
        (generated.join("rust/cxx.h"), "rust/cxx.h"),
    ];
    // OUT_DIR is somewhere below <target directory>/<profile>/build.
    let build = out.ancestors().find(|path| path.ends_with("build")).expect("cargo's layout");
    let profile = build.parent().expect("cargo's layout");
    for folder in [out.join("include"), profile.join("upcheck-cxx-include")] {
        for (from, to) in &headers {
            copy(from, &folder.join(to))?;
        }
    }

    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={BRIDGE}");
    for (from, _) in &headers {
        if !from.starts_with(&out) {
            println!("cargo::rerun-if-changed={}", from.display());
        }
    }
    Ok(())
}

/// Copies what a path leads to, unless it is there: what was compiled with a header that stays the same stays fresh.
/// Others may read it meanwhile.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let content = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().expect("a header lies in a folder"))?;
    let new = to.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, content)?;
    fs::rename(&new, to)
}
