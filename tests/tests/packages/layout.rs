//! What lies where in an installed tree.

use crate::find::{check_program, check_programs, configure, found_in};
use crate::installed::{CMAKES, cmake, first_prefix, folder, install, prefix};
use crate::{SONAME, VERSION, clean, dynamic, pkg_config, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// All files of a tree, by path, with their content; of a link, where it leads.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            if path.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                files.insert(name, format!("-> {}", target.display()).into_bytes());
            } else if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().filter(|name| !name.starts_with("share/doc/upcheck/docs/")).collect()
}

/// What a tree has, beside the documents.
fn files() -> Vec<String> {
    let module = tree(&root().join("integrations/cmake/module"));
    let mut files = other_files();
    files.extend(module.into_keys().map(|name| format!("lib/cmake/Upcheck/{name}")));
    files.sort();
    files
}

fn other_files() -> Vec<String> {
    let versioned = format!("lib/libupcheck.so.{VERSION}");
    let shared = format!("lib/{SONAME}");
    [
        "bin/upcheck",
        "include/upcheck.h",
        "include/upcheck/bridge.rs.h",
        "include/upcheck/types.hpp",
        "include/upcheck/upcheck.hpp",
        "lib/cmake/Upcheck/UpcheckConfig.cmake",
        "lib/cmake/Upcheck/UpcheckConfigVersion.cmake",
        "lib/cmake/Upcheck/UpcheckTargets.cmake",
        "lib/libupcheck.a",
        "lib/libupcheck.so",
        &shared,
        &versioned,
        "lib/libupcheck_cxx.a",
        "lib/pkgconfig/upcheck.pc",
        "lib/pkgconfig/upcheck_cxx.pc",
        "share/doc/upcheck/LICENSE-APACHE",
        "share/doc/upcheck/LICENSE-MIT",
        "share/doc/upcheck/README.md",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn these_files_are_installed() {
    assert_eq!(names(prefix()), files());
    let tree = tree(prefix());
    for link in ["lib/libupcheck.so", &format!("lib/{SONAME}")] {
        let target = String::from_utf8_lossy(&tree[link]);
        assert_eq!(target, format!("-> libupcheck.so.{VERSION}"), "{link}");
    }
    assert_eq!(dynamic(&prefix().join("lib/libupcheck.so"), "SONAME"), [SONAME]);
    assert_eq!(run(clean(prefix().join("bin/upcheck")).arg("--version")), format!("upcheck {VERSION}\n"));
    // What the header and the README say is to be read there is there.
    for document in fs::read_dir(root().join("docs")).expect("documents") {
        let name = document.expect("a document").file_name().into_string().expect("UTF-8");
        if name.ends_with(".md") {
            assert!(tree.contains_key(&format!("share/doc/upcheck/docs/{name}")), "{name}");
        }
    }
    assert!(tree.contains_key("share/doc/upcheck/docs/schema/graph.json"));
    let links = tree.values().filter(|content| content.starts_with(b"-> ")).count();
    assert_eq!(links, 2, "headers are files, not links to where cargo has left them");
}

/// What `cargo build` makes is found under the name it has.
#[test]
fn cargo_alone_gives_the_shared_library_no_other_name() {
    let library = upcheck_tests::tools::c_library().join("libupcheck.so");
    assert_eq!(dynamic(&library, "SONAME"), [""; 0]);
}

#[test]
fn no_installed_text_names_the_place_it_was_made_in() {
    let home = std::env::var("HOME").expect("a home");
    let places = [root().to_owned(), folder(), first_prefix(), prefix().to_owned(), PathBuf::from(home)];
    for (name, content) in tree(prefix()) {
        if ![".pc", ".cmake", ".h", ".hpp"].iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let content = String::from_utf8(content).expect("a text");
        for place in &places {
            assert!(!content.contains(place.to_str().expect("UTF-8")), "{name} names {}", place.display());
        }
    }
}

#[test]
fn every_cmake_installs_the_same_tree() {
    let expected = tree(prefix());
    for version in CMAKES {
        let name = format!("by-{version}");
        let _ = fs::remove_dir_all(folder().join(&name));
        run(&mut install(&cmake(version), &name, &["-DSTRIP=OFF"]));
        let made = folder().join(&name);
        let mut tree = tree(&made);
        assert_eq!(names(&made), files(), "{version}");
        let config = tree.remove("lib/cmake/Upcheck/UpcheckConfig.cmake");
        tree.remove("lib/cmake/Upcheck/UpcheckConfigVersion.cmake");
        for (file, content) in tree {
            assert!(content == expected[&file], "CMake {version} installs another {file}");
        }
        // In these two CMake writes parts of its own. The oldest one has to understand what the newest one wrote.
        assert!(
            config.is_some_and(|config| String::from_utf8_lossy(&config).contains("Upcheck::upcheck_cxx"))
        );
        let space = Space::new();
        run(&mut configure(&space, &cmake("3.16"), "Ninja", &[found_in(&made), "-DVERSION=0.1.0".into()]));
        fs::remove_dir_all(made).expect("it goes away");
        let _ = fs::remove_dir_all(folder().join(format!("build-{name}")));
    }
}

/// One tree of a test that installs a tree of its own.
struct Own(PathBuf, PathBuf);

impl Own {
    /// With these options; what is not named by `UPCHECK_...=ON` is left out.
    fn install(name: &str, options: &[&str]) -> Self {
        prefix(); // takes the lock, and leaves nothing to build
        let own = Self(folder().join(name), folder().join(format!("build-{name}")));
        let _ = fs::remove_dir_all(&own.0);
        run(&mut install(&cmake("3.25"), name, options));
        own
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        for folder in [&self.0, &self.1] {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[test]
fn libraries_lie_where_the_platform_has_them() {
    for libdir in ["lib64", "lib/x86_64-linux-gnu"] {
        let name = format!("own-{}", libdir.replace('/', "-"));
        let own = Own::install(&name, &[&format!("-DCMAKE_INSTALL_LIBDIR={libdir}"), "-DSTRIP=OFF"]);
        let expected: Vec<_> = files()
            .iter()
            .map(|file| file.strip_prefix("lib/").map_or(file.clone(), |rest| format!("{libdir}/{rest}")))
            .collect();
        let mut found = names(&own.0);
        found.sort_by_key(|name| expected.iter().position(|other| other == name));
        assert_eq!(found, expected);

        let moved = folder().join(format!("{name}-moved"));
        let _ = fs::remove_dir_all(&moved);
        fs::rename(&own.0, &moved).expect("a tree can be moved");
        let space = Space::new();
        // Which of these CMake looks into is up to the platform; all can be told.
        let told = format!("-DUpcheck_DIR={}", moved.join(libdir).join("cmake/Upcheck").display());
        run(&mut configure(&space, &cmake("3.16"), "Ninja", &[told]));
        run(clean(cmake("3.16")).arg("--build").arg(space.path().join("build")));
        check_programs(&space.path().join("build"), Some(SONAME));
        let from_c = pkg_config::compile(&moved.join(libdir), "from_c", "upcheck", &[]);
        check_program(&from_c.path().join("from_c"), Some(SONAME));
        fs::remove_dir_all(moved).expect("it goes away");
    }
}

#[test]
fn destdir_comes_in_front() {
    prefix();
    let space = Space::new();
    let own = Own(folder().join("own-staged"), folder().join("build-/usr"));
    let mut command =
        install(&cmake("3.25"), "/usr", &["-DBUILD=build-own-staged", "-DCMAKE_INSTALL_LIBDIR=lib"]);
    run(command.env("DESTDIR", space.path()));
    let own = Own(own.0.clone(), folder().join("build-own-staged"));
    assert_eq!(names(&space.path().join("usr")), files());
    drop(own);
}

/// It is most of the tree, and stripping leaves all that is linked by.
#[test]
fn debug_information_is_stripped_unless_it_is_wanted() {
    let own = Own::install("own-stripped", &[]);
    for file in ["lib/libupcheck.so", "lib/libupcheck.a", "lib/libupcheck_cxx.a", "bin/upcheck"] {
        let has = |prefix: &Path| {
            let sections = run(clean("readelf").args(["--sections", "--wide"]).arg(prefix.join(file)));
            sections.contains(".debug_line")
        };
        assert_eq!((has(prefix()), has(&own.0)), (true, false), "{file}");
    }
    for kind in ["shared", "static"] {
        let space = Space::new();
        run(&mut configure(
            &space,
            &cmake("4"),
            "Ninja",
            &[found_in(&own.0), format!("-DCOMPONENTS={kind}")],
        ));
        run(clean(cmake("4")).arg("--build").arg(space.path().join("build")));
        check_programs(&space.path().join("build"), (kind == "shared").then_some(SONAME));
    }
}

#[test]
fn parts_can_be_left_out() {
    let options = ["-DUPCHECK_SHARED=OFF", "-DUPCHECK_CXX=OFF", "-DUPCHECK_CLI=OFF"];
    let own = Own::install("own-archive", &options);
    let expected: Vec<_> = files()
        .into_iter()
        .filter(|file| !file.contains(".so") && !file.contains("cxx") && !file.contains("include/upcheck/"))
        .filter(|file| !file.starts_with("bin"))
        .collect();
    assert_eq!(names(&own.0), expected);
    // Nothing shared is there, so that everybody links the archive, and all get what it needs.
    let from_c = pkg_config::compile(&own.0.join("lib"), "from_c", "upcheck", &[]);
    check_program(&from_c.path().join("from_c"), None);
    let space = Space::new();
    let options = [found_in(&own.0), "-DCOMPONENTS=cxx".into()];
    let said = crate::refused(&mut configure(&space, &cmake("3.25"), "Ninja", &options));
    assert!(said.contains("its component 'cxx' is not installed: there is no"), "{said}");
    drop(own);

    let own =
        Own::install("own-command", &["-DUPCHECK_SHARED=OFF", "-DUPCHECK_STATIC=OFF", "-DUPCHECK_CXX=OFF"]);
    let found = names(&own.0);
    assert!(
        found.contains(&"bin/upcheck".to_owned()) && !found.iter().any(|name| name.contains("include")),
        "{found:?}"
    );
}

#[test]
fn options_of_an_earlier_run_are_forgotten() {
    let own = Own::install("own-twice", &["-DUPCHECK_CLI=OFF"]);
    assert!(!own.0.join("bin/upcheck").exists());
    run(&mut install(&cmake("3.25"), "own-twice", &[]));
    assert!(own.0.join("bin/upcheck").exists());
}

/// What people have in their environment and in cargo's configuration changes where cargo puts things, and for what it
/// builds.
#[test]
fn settings_of_cargo_that_move_its_results_do_no_harm() {
    let space = Space::new();
    let own = Own(folder().join("own-settings"), folder().join("build-own-settings"));
    prefix();
    let _ = fs::remove_dir_all(&own.0);
    let mut command = install(&cmake("3.25"), "own-settings", &[]);
    for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"] {
        command.env(name, space.path().join(name));
    }
    command
        .env("CARGO_BUILD_TARGET", crate::rust_archives::host())
        .env("MAKEFLAGS", "-j2 --jobserver-auth=98,99");
    run(&mut command);
    assert_eq!(names(&own.0), files());
    assert_eq!(names(space.path()), [""; 0]);
}

#[test]
fn places_may_have_spaces_in_their_names() {
    let own = Own::install("own with spaces", &[]);
    let space = Space::new();
    run(&mut configure(&space, &cmake("3.16"), "Unix Makefiles", &[found_in(&own.0)]));
    run(clean(cmake("3.16")).arg("--build").arg(space.path().join("build")));
    check_programs(&space.path().join("build"), Some(SONAME));
}

/// As Nix has it. Then the tree cannot be moved, which is what was asked for.
#[test]
fn the_folder_of_libraries_may_be_absolute() {
    let lib = folder().join("own-absolute/lib");
    let own = Own::install("own-absolute", &[&format!("-DCMAKE_INSTALL_LIBDIR={}", lib.display())]);
    assert_eq!(names(&own.0), files());
    let space = Space::new();
    run(&mut configure(&space, &cmake("3.16"), "Ninja", &[found_in(&own.0)]));
    run(clean(cmake("3.16")).arg("--build").arg(space.path().join("build")));
    check_programs(&space.path().join("build"), Some(SONAME));
    let from_c = pkg_config::compile(&lib, "from_c", "upcheck", &[]);
    check_program(&from_c.path().join("from_c"), Some(SONAME));
}
