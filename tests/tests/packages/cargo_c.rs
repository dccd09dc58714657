//! cargo-c, which packagers may use instead of CMake: it makes the C library's part of the same tree.

use crate::find::check_program;
use crate::installed::{folder, prefix};
use crate::{SONAME, VERSION, dynamic, pkg_config, run};
use std::fs;
use std::process::Command;
use upcheck_tests::tools::{root, run_tool};

#[test]
#[ignore = "builds cargo-c, which takes ten minutes and more"]
fn cargo_c_makes_the_same_c_library() {
    prefix(); // takes the lock
    let mut path = run_tool("get-cargo-c", "0.10.24").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let own = folder().join("own-cargo-c");
    let _ = fs::remove_dir_all(&own);
    let mut install = Command::new(env!("CARGO"));
    install.current_dir(root()).env("PATH", path).env_remove("LD_LIBRARY_PATH");
    install.args([
        "cinstall",
        "--locked",
        "--package",
        "upcheck-c",
        "--profile",
        "archive",
        "--libdir",
        "lib",
    ]);
    install.arg("--target-dir").arg(folder().join("cargo-c")).arg("--prefix").arg(&own);
    run(&mut install);

    let lib = own.join("lib");
    for name in
        ["libupcheck.so", SONAME, &format!("libupcheck.so.{VERSION}"), "libupcheck.a", "pkgconfig/upcheck.pc"]
    {
        assert!(lib.join(name).exists(), "{name}");
    }
    assert_eq!(dynamic(&lib.join("libupcheck.so"), "SONAME"), [SONAME]);
    let header = |prefix: &std::path::Path| fs::read(prefix.join("include/upcheck.h")).expect("a header");
    assert!(header(&own) == header(prefix()));
    let private = |lib: &std::path::Path| pkg_config::words(lib, &["--static", "--libs-only-l", "upcheck"]);
    assert_eq!(private(&lib), private(&prefix().join("lib")));
    for (change, library) in [(&[][..], Some(SONAME)), (&[("-lupcheck", "-l:libupcheck.a")][..], None)] {
        let space = pkg_config::compile(&lib, "from_c", "upcheck", change);
        check_program(&space.path().join("from_c"), library);
    }
    fs::remove_dir_all(own).expect("it goes away");
}
