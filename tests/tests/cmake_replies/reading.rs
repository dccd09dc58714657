//! What a reply says, for each CMake and generator.

use crate::builds::{ALL, Build, VERSIONS, target};
use upcheck_cmake::reply;

#[test]
fn a_reply_has_all_targets_with_what_they_make() {
    for which in ALL {
        let build = Build::sample(which);
        let reply = build.read();
        assert_eq!(reply.generator, build.generator);
        assert!(reply.cmake_version.starts_with(build.version), "{}", reply.cmake_version);
        assert_eq!(reply.is_multi_config, build.is_multi_config());
        let place = |name: &str| build.space.path().join(name).into_os_string().into_encoded_bytes();
        assert_eq!((reply.source, reply.build), (place("src"), place("build")));
        assert!(!reply.has_failed_since);
        let names: Vec<&str> = reply.configurations.iter().map(|found| &*found.name).collect();
        assert_eq!(names, if build.is_multi_config() { vec!["Debug", "Release"] } else { vec![""] });
        for configuration in &reply.configurations {
            let names: Vec<&str> = configuration.targets.iter().map(|target| &*target.name).collect();
            assert_eq!(
                names,
                ["app", "below", "bundle", "net", "never", "nothing", "objs", "text", "zfirst"]
            );
            let part =
                if build.is_multi_config() { format!("{}/", configuration.name) } else { String::new() };
            let app = target(configuration, "app");
            assert_eq!((&*app.kind, &*app.directory), ("EXECUTABLE", &b"app"[..]));
            assert_eq!(app.artifacts, [build.made(&format!("app/{part}program"))]);
            assert!(app.generated.contains(&build.made("app/version.h")));
            let net = target(configuration, "net");
            assert!(net.artifacts.contains(&build.made(&format!("lib/{part}libnet.so"))));
            let depends: Vec<&str> = app.depends.iter().map(|&at| names[at]).collect();
            assert!(["net", "zfirst", "objs"].iter().all(|name| depends.contains(name)), "{depends:?}");
            let bundle = target(configuration, "bundle");
            assert_eq!((&*bundle.kind, &*bundle.directory), ("UTILITY", &b""[..]));
            assert!(bundle.generated.contains(&build.made("all.txt")));
            let objs = target(configuration, "objs");
            let object = build.made(&format!("lib/CMakeFiles/objs.dir/{part}o1.c.o"));
            // CMake 3.16 does not say.
            assert!(objs.artifacts == [object] || build.version == "3.16", "{:?}", objs.artifacts);
        }
    }
}

#[test]
fn a_reply_has_all_that_cmake_has_read() {
    for which in ALL {
        let build = Build::sample(which);
        let reply = build.read();
        let input = |path: Vec<u8>| reply.inputs.iter().find(|input| input.path == path).expect("an input");
        for path in ["CMakeLists.txt", "lib/CMakeLists.txt", "app/CMakeLists.txt"] {
            let input = input(build.source(path));
            assert!(!input.is_cmake && !input.is_generated && !input.is_external);
        }
        assert!(reply.inputs.iter().any(|input| input.is_cmake && input.is_external));
        assert!(reply.inputs.iter().all(|input| input.path.starts_with(b"/")));
        assert!(
            reply
                .inputs
                .iter()
                .any(|input| input.is_generated && input.path.starts_with(&build.made("CMakeFiles")))
        );
    }
}

#[test]
fn the_queries_of_other_clients_do_as_well() {
    for version in VERSIONS {
        for client in ["", "client-other/"] {
            let build = Build::empty((version, "Unix Makefiles"));
            build
                .space
                .write("src/CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\n");
            build.space.write(&format!("build/.cmake/api/v1/query/{client}codemodel-v2"), "");
            build.space.write(&format!("build/.cmake/api/v1/query/{client}cmakeFiles-v1"), "");
            build.generate(&[]);
            assert_eq!(build.read().configurations.len(), 1);
        }
    }
}

#[test]
fn a_directory_may_have_several_names() {
    let build = Build::sample(("3.25", "Ninja"));
    let link = build.space.path().join("link");
    std::os::unix::fs::symlink("build", &link).expect("a link");
    let reply = reply::read(&link).expect("a reply");
    assert_eq!(reply.build, build.directory().into_os_string().into_encoded_bytes());
    let through_dots = build.directory().join("../link/lib/..");
    assert!(reply::read(&through_dots).is_ok());
}

#[test]
fn hundreds_of_targets_are_read_in_order() {
    let build = Build::empty(("4", "Ninja"));
    build.space.write(
        "src/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nadd_custom_target(t100)\n\
         foreach(i RANGE 101 499)\n  add_custom_target(t${i})\n  add_dependencies(t${i} t100)\nendforeach()\n",
    );
    build.ask();
    build.generate(&[]);
    let reply = build.read();
    let names: Vec<String> =
        reply.configurations[0].targets.iter().map(|target| target.name.clone()).collect();
    assert_eq!(names, (100..500).map(|at| format!("t{at}")).collect::<Vec<_>>());
    assert!(reply.configurations[0].targets[1..].iter().all(|target| target.depends == [0]));
}
