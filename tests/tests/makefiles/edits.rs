//! Edits, one after the other: what is said to be stale is what make makes.

use crate::harness::{Answer, Build, VERSIONS};
use std::process::Command;
use upcheck_tests::space::set_mtime;

/// A project with libraries, a program, and files that commands make.
pub(crate) const FILES: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)
project(demo C CXX)
add_subdirectory(lib)
add_subdirectory(app)
add_custom_command(OUTPUT all.txt second.txt
  COMMAND cat ${CMAKE_SOURCE_DIR}/a.txt > all.txt
  COMMAND ${CMAKE_COMMAND} -E touch second.txt
  DEPENDS ${CMAKE_SOURCE_DIR}/a.txt VERBATIM)
add_custom_target(bundle ALL DEPENDS all.txt)
add_custom_target(always ALL COMMAND ${CMAKE_COMMAND} -E echo hi)
add_custom_target(notall COMMAND ${CMAKE_COMMAND} -E echo hi)
",
    ),
    ("a.txt", "a"),
    (
        "lib/CMakeLists.txt",
        "add_library(text STATIC text.c more.c)
target_include_directories(text PUBLIC .)
set_target_properties(text PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(net SHARED net.c)
target_link_libraries(net PRIVATE text)
set_target_properties(net PROPERTIES VERSION 1.2 SOVERSION 1)
add_library(objs OBJECT o1.c)
add_library(iface INTERFACE)
add_library(spare STATIC EXCLUDE_FROM_ALL spare.c)
",
    ),
    ("lib/text.c", "#include \"text.h\"\nint text(void) { return N; }\n"),
    ("lib/more.c", "int more(void) { return 1; }\n"),
    ("lib/text.h", "#include \"deep.h\"\n#define N M\n"),
    ("lib/deep.h", "#define M 1\n"),
    ("lib/net.c", "#include \"text.h\"\nint text(void);\nint net(void) { return text(); }\n"),
    ("lib/o1.c", "int o1(void) { return 1; }\n"),
    ("lib/spare.c", "int spare;\n"),
    (
        "app/CMakeLists.txt",
        "add_custom_command(OUTPUT version.h
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_CURRENT_SOURCE_DIR}/version.in version.h
  DEPENDS version.in)
add_custom_command(OUTPUT gen.c
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/gen.in gen.c DEPENDS gen.in)
add_executable(app main.cpp gen.c version.h $<TARGET_OBJECTS:objs>)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR} ../lib)
target_link_libraries(app net iface)
add_custom_command(TARGET app POST_BUILD COMMAND ${CMAKE_COMMAND} -E echo built)
",
    ),
    ("app/main.cpp", "#include \"version.h\"\n#include \"text.h\"\nint main() { return V - V; }\n"),
    ("app/version.in", "#define V 1\n"),
    ("app/gen.in", "int gen;\n"),
];

/// The same for every release, on a project that is built and looked at once more.
fn each(act: impl Fn(&mut Build)) {
    for version in VERSIONS {
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        build.settled("after the first build");
        act(&mut build);
    }
}

#[track_caller]
fn has(answer: &Answer, stale: &[&str], fresh: &[&str]) {
    for name in stale {
        assert!(answer.stale.contains(*name), "{name} is not stale: {answer:#?}");
    }
    for name in fresh {
        assert!(answer.targets.contains(*name), "{name} is no target: {answer:#?}");
        assert!(!answer.stale.contains(*name) && !answer.pending.contains(*name), "{name}: {answer:#?}");
    }
}

const MAIN: &str = "app/CMakeFiles/app.dir/main.cpp.o";
const TEXT: &str = "lib/CMakeFiles/text.dir/text.c.o";
const MORE: &str = "lib/CMakeFiles/text.dir/more.c.o";
const NET: &str = "lib/CMakeFiles/net.dir/net.c.o";

#[test]
fn sources_and_headers() {
    each(|build| {
        let answer = build.edit("touching a header", |build| build.touch("s/lib/text.h"));
        has(
            &answer,
            &[MAIN, TEXT, NET, "lib/libtext.a", "lib/libnet.so.1.2", "app/app"],
            &[MORE, "app/gen.c"],
        );
        let answer = build.edit("touching a header of a header", |build| build.touch("s/lib/deep.h"));
        has(&answer, &[MAIN, TEXT, NET], &[MORE]);
        let answer = build.edit("touching a source", |build| build.touch("s/lib/more.c"));
        has(&answer, &[MORE, "lib/libtext.a", "lib/libnet.so.1.2", "app/app"], &[MAIN, TEXT, NET]);
        build.edit("a source of an object library", |build| build.touch("s/lib/o1.c"));
        build.edit("a header that includes a new one", |build| {
            build.write("s/lib/new.h", "#define M 2\n");
            build.write("s/lib/text.h", "#include \"new.h\"\n#define N M\n");
        });
        let answer = build.edit("the new header", |build| build.touch("s/lib/new.h"));
        has(&answer, &[MAIN, TEXT, NET], &[MORE]);
        let answer = build.edit("what is not included any more", |build| build.touch("s/lib/deep.h"));
        has(&answer, &[], &[MAIN, TEXT, NET]);
        build.edit("a header that is gone, and its include", |build| {
            build.remove("s/lib/new.h");
            build.write("s/lib/text.h", "#define N 3\n");
        });
    });
}

#[test]
fn a_header_that_is_gone_makes_stale_what_included_it() {
    each(|build| {
        // Nothing else changes: the source still says that it includes the header, but now finds another one.
        build.write("s/app/deep.h", "#define M 4\n");
        let answer = build.edit("a header in the place of another one", |build| {
            build.remove("s/lib/deep.h");
            build.write("s/lib/text.h", "#define N 3\n");
            build.space.set_mtime("s/lib/text.h", 1_000_000_000);
        });
        has(&answer, &[MAIN, TEXT, NET], &[MORE]);
    });
}

#[test]
fn generated_files() {
    each(|build| {
        // The command leaves its output as it is, so it will run in every build to come.
        build.touch("s/app/version.in");
        build.compare("the source of a generated header, touched");
        let (answer, _) = build.compare("the same once more");
        has(&answer, &["app/version.h"], &["app/gen.c", TEXT]);
        assert!(answer.pending.contains(MAIN) && answer.pending.contains("app/app"), "{answer:#?}");
    });
    each(|build| {
        build.edit("the source of a generated header", |build| {
            build.write("s/app/version.in", "#define V 2\n")
        });
        build.edit("the source of a generated source", |build| build.write("s/app/gen.in", "int gen2;\n"));
        build.edit("a generated source that is gone", |build| build.remove("b/app/gen.c"));
        build.edit("a generated header that is gone", |build| build.remove("b/app/version.h"));
        build.edit("what two outputs are made from", |build| build.touch("s/a.txt"));
        let answer = build.edit("a second output that is gone", |build| build.remove("b/second.txt"));
        has(&answer, &["all.txt", "second.txt"], &[MAIN]);
        build.edit("a first output that is gone", |build| build.remove("b/all.txt"));
        build.edit("a second output that is older", |build| build.space.set_mtime("b/second.txt", 1));
        build.edit("a first output that is older", |build| build.space.set_mtime("b/all.txt", 1));
    });
}

#[test]
fn outputs_that_are_gone_or_older() {
    each(|build| {
        build.edit("an object that is gone", |build| build.remove(&format!("b/{TEXT}")));
        build.edit("a library that is gone", |build| build.remove("b/lib/libtext.a"));
        build.edit("a shared library that is gone", |build| build.remove("b/lib/libnet.so.1.2"));
        build.edit("its link that is gone", |build| build.remove("b/lib/libnet.so"));
        build.edit("its other link that is gone", |build| build.remove("b/lib/libnet.so.1"));
        build.edit("a program that is gone", |build| build.remove("b/app/app"));
        build.edit("an object that is older", |build| build.space.set_mtime(&format!("b/{MAIN}"), 1));
        build.edit("a library that is newer", |build| build.touch("b/lib/libtext.a"));
        build.edit("a source that is older", |build| build.space.set_mtime("s/lib/text.c", 1));
        build.edit("flags that are newer", |build| build.touch("b/lib/CMakeFiles/text.dir/flags.make"));
        build.edit("a link line that is newer", |build| build.touch("b/app/CMakeFiles/app.dir/link.txt"));
        build.edit("rules that are newer", |build| build.touch("b/app/CMakeFiles/app.dir/build.make"));
        if build.version != "3.16" {
            build.edit("a stamp that is newer", |build| {
                build.touch("b/lib/CMakeFiles/text.dir/compiler_depend.ts");
            });
        }
    });
}

#[test]
fn equal_times_are_fresh() {
    each(|build| {
        let object = build.space.mtime(&format!("b/{TEXT}")).expect("an object");
        let answer = build.edit("a source as old as its object", |build| {
            set_mtime(&build.path("s/lib/text.c"), object);
            set_mtime(&build.path("s/lib/text.h"), object);
        });
        has(&answer, &[], &[TEXT]);
        let answer = build.edit("a header that is one nanosecond newer", |build| {
            set_mtime(&build.path("s/lib/text.h"), object + 1);
        });
        has(&answer, &[TEXT], &[MORE]);
    });
}

#[test]
fn headers_count_before_they_are_collected() {
    // After one build only the compilers' depfiles know, and nobody has collected them.
    for version in VERSIONS {
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        let answer = build.edit("touching a header of a header", |build| build.touch("s/lib/deep.h"));
        has(&answer, &[MAIN, TEXT, NET], &[MORE]);
    }
}

#[test]
fn without_the_collection_depfiles_count() {
    each(|build| {
        if build.version == "3.16" {
            return;
        }
        build.edit("a lost collection", |build| {
            build.remove("b/lib/CMakeFiles/text.dir/compiler_depend.internal");
        });
        build.edit("a lost collection, and a header", |build| {
            build.remove("b/lib/CMakeFiles/text.dir/compiler_depend.internal");
            build.touch("s/lib/deep.h");
        });
        let answer = build.edit("depfiles that are gone, but collected", |build| {
            build.make();
            build.remove(&format!("b/{TEXT}.d"));
        });
        has(&answer, &[], &[TEXT]);
    });
}

#[test]
fn an_object_whose_headers_nobody_knows_is_stale() {
    each(|build| {
        let lost = match build.version {
            "3.16" => {
                // The scan keeps what is there and asks for no more.
                let path = "lib/CMakeFiles/text.dir/depend.internal";
                let text = build.read(&format!("b/{path}"));
                let (blocks, _) = text.split_once(TEXT).expect("the last block");
                build.space.write(&format!("b/{path}"), blocks);
                path
            }
            _ => {
                build.remove(&format!("b/{TEXT}.d"));
                build.remove("b/lib/CMakeFiles/text.dir/compiler_depend.internal");
                "lib/CMakeFiles/text.dir/compiler_depend.internal"
            }
        };
        // make would do nothing, whatever header changes.
        let answer = build.ask();
        has(&answer, &[TEXT, "lib/libtext.a", "app/app"], &[MORE, MAIN]);
        let reason = format!("{TEXT} Stale: deps-unknown {TEXT}");
        assert!(answer.reasons.contains(&reason), "{lost}: {answer:#?}");
    });
}

#[test]
fn a_scan_to_come_leaves_it_open() {
    let mut build = Build::new("3.16", FILES);
    build.compare("the first build");
    build.settled("after the first build");
    let answer = build.edit("a lost scan", |build| build.remove("b/lib/CMakeFiles/text.dir/depend.internal"));
    assert!(answer.pending.contains(TEXT) && answer.pending.contains("app/app"), "{answer:#?}");
    assert!(answer.stale.contains("lib/CMakeFiles/text.dir/depend"), "{answer:#?}");
    let answer = build.edit("new include directories", |build| {
        build.touch("b/lib/CMakeFiles/CMakeDirectoryInformation.cmake");
        // What was found before has changed; what will be found has, too.
        build.touch("s/lib/deep.h");
    });
    has(&answer, &[TEXT, NET], &["app/gen.c"]);
    build.configure(&[]);
    build.compare("a configure");
    build.settled("after a configure");
}

#[test]
fn flags_and_files_of_the_project() {
    each(|build| {
        let answer = build.edit("a CMakeLists.txt", |build| build.touch("s/lib/CMakeLists.txt"));
        let path = build.path("s/lib/CMakeLists.txt");
        assert_eq!(answer.configure, [format!("input-newer {}", path.display())]);
        let lists = build.read("s/app/CMakeLists.txt");
        build.edit("a flag", |build| {
            let more = lists.clone() + "target_compile_definitions(app PRIVATE X=1)\n";
            build.write("s/app/CMakeLists.txt", &more);
        });
        build.write(
            "s/app/CMakeLists.txt",
            &(lists.clone() + "target_compile_definitions(app PRIVATE X=2)\n"),
        );
        build.configure(&[]);
        let (answer, _) = build.compare("a flag, and a configure");
        has(&answer, &[MAIN, "app/app"], &["lib/libtext.a"]);
        assert!(answer.configure.is_empty());
        build.settled("after a configure");
        build.edit("another source", |build| {
            build.write("s/app/more.cpp", "int more2;\n");
            let more = lists.clone() + "target_sources(app PRIVATE more.cpp)\n";
            build.write("s/app/CMakeLists.txt", &more);
        });
        build.edit("a source less", |build| build.write("s/app/CMakeLists.txt", &lists));
        let answer = build.edit("the cache", |build| build.touch("b/CMakeCache.txt"));
        assert_eq!(answer.configure, ["input-newer CMakeCache.txt"]);
        let answer = build.edit("what CMake found out", |build| {
            let product = "CMakeFiles/CMakeDirectoryInformation.cmake";
            build.remove(&format!("b/{product}"));
        });
        assert_eq!(answer.configure, ["output-missing CMakeFiles/CMakeDirectoryInformation.cmake"]);
        let answer =
            build.edit("an output of CMake's", |build| build.remove("b/CMakeFiles/cmake.check_cache"));
        assert_eq!(answer.configure, ["output-missing CMakeFiles/cmake.check_cache"]);
        let answer = build.edit("an older output of CMake's", |build| build.space.set_mtime("b/Makefile", 1));
        assert!(!answer.configure.is_empty());
    });
}

#[test]
fn everything_again() {
    each(|build| {
        let make = |goal: &str| {
            let status =
                Command::new("make").arg(goal).current_dir(build.path("b")).output().expect("make runs");
            assert!(status.status.success());
        };
        make("clean");
        build.compare("after cleaning");
        build.settled("after cleaning and building");
        let made = Command::new("make").arg("depend").current_dir(build.path("b")).output();
        assert!(made.expect("make runs").status.success());
        build.compare("with dependencies cleared");
        build.settled("after that");
    });
}

#[test]
fn other_goals() {
    for version in VERSIONS {
        let mut build = Build::new(version, FILES).goal("spare");
        let (answer, _) = build.compare("what is not in all");
        has(&answer, &["lib/libspare.a"], &[]);
        assert!(!answer.targets.contains("lib/libtext.a"), "{answer:#?}");
        build.settled("after that");
        let mut build = build.goal("net");
        let (answer, _) = build.compare("a library");
        has(&answer, &["lib/libtext.a", "lib/libnet.so.1.2"], &[]);
        assert!(!answer.targets.contains("app/app"), "{answer:#?}");
        let mut build = build.goal("always");
        build.compare("what is always made");
        let mut build = build.goal("all");
        build.compare("the rest");
        build.settled("after all");
    }
}
