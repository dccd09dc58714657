//! `upcheck_add_custom_command`.

use crate::{Project, everywhere};

/// `first` takes the first letter of its input, `second` copies that; each says in `log` that it ran.
const CHAIN: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "upcheck_add_custom_command(OUTPUT one.txt
           COMMAND sh \"${CMAKE_CURRENT_SOURCE_DIR}/first.sh\" \"${CMAKE_CURRENT_SOURCE_DIR}/in.txt\" one.txt
           DEPENDS in.txt first.sh COMMENT \"making one\")
         upcheck_add_custom_command(OUTPUT two.txt
           COMMAND cp one.txt two.txt COMMAND sh -c \"echo second >> log\" DEPENDS one.txt)
         add_custom_target(everything ALL DEPENDS two.txt)\n",
    ),
    ("first.sh", "echo first >> log; head -c 1 $1 > $2; test ! -e fail\n"),
    ("in.txt", "abc\n"),
];

fn built(project: &Project) {
    project.configure();
    project.build();
    assert_eq!(project.ran(), "first second");
}

#[test]
fn nothing_runs_where_nothing_changed() {
    everywhere(CHAIN, |project| {
        built(project);
        project.build();
        assert_eq!(project.ran(), "");
        // Configuring anew changes nothing either.
        project.configure();
        project.build();
        assert_eq!(project.ran(), "");
    });
}

#[test]
fn a_touched_input_runs_nothing() {
    everywhere(CHAIN, |project| {
        built(project);
        for _ in 0..2 {
            project.touch("in.txt");
            let before = project.space.mtime("build/one.txt");
            project.build();
            assert_eq!(project.ran(), "");
            assert_eq!(project.space.mtime("build/one.txt"), before);
        }
        if project.generator == "Ninja" {
            assert!(project.build().contains("no work to do"), "settled");
        }
    });
}

#[test]
fn an_output_that_comes_out_as_it_was_keeps_its_time_and_what_is_made_from_it() {
    everywhere(CHAIN, |project| {
        built(project);
        let before = project.space.mtime("build/one.txt");
        project.edit("in.txt", "axyz\n");
        project.build();
        assert_eq!(project.ran(), "first");
        assert_eq!(project.space.mtime("build/one.txt"), before);
        project.build();
        assert_eq!(project.ran(), "");
        project.edit("in.txt", "xyz\n");
        project.build();
        assert_eq!(project.ran(), "first second");
        assert_eq!(project.text("build/two.txt"), "x");
    });
}

#[test]
fn what_is_changed_and_changed_back_between_two_builds_runs_nothing() {
    everywhere(CHAIN, |project| {
        built(project);
        project.edit("in.txt", "other\n");
        project.edit("in.txt", "abc\n");
        project.build();
        assert_eq!(project.ran(), "");
        // With a build in between it is another thing to be made from.
        project.edit("in.txt", "other\n");
        project.build();
        assert_eq!(project.ran(), "first second");
        project.edit("in.txt", "abc\n");
        project.build();
        assert_eq!((project.ran().as_str(), project.text("build/two.txt").as_str()), ("first second", "a"));
    });
}

#[test]
fn a_deleted_output_is_made_again() {
    everywhere(CHAIN, |project| {
        built(project);
        project.space.remove("build/one.txt");
        project.build();
        // It has another time now, and the same content as before.
        assert_eq!(project.ran(), "first");
        project.space.remove("build/two.txt");
        project.build();
        assert_eq!(project.ran(), "second");
    });
}

#[test]
fn a_failed_command_runs_again_although_its_input_is_put_back() {
    everywhere(CHAIN, |project| {
        built(project);
        project.edit("in.txt", "other\n");
        project.space.write("build/fail", "");
        assert!(!project.building(&[]).badly().is_empty());
        assert_eq!(project.ran(), "first");
        project.building(&[]).badly();
        assert_eq!(project.ran(), "first");
        project.space.remove("build/fail");
        project.edit("in.txt", "abc\n");
        project.build();
        // The second was last made from what has come out again.
        assert_eq!((project.ran().as_str(), project.text("build/one.txt").as_str()), ("first", "a"));
        project.build();
        assert_eq!((project.ran().as_str(), project.text("build/two.txt").as_str()), ("", "a"));
    });
}

#[test]
fn another_command_line_or_value_runs_the_command() {
    let lists = |value: &str, word: &str| {
        format!(
            "upcheck_add_custom_command(OUTPUT out COMMAND sh -c \"echo {word} > out; echo ran >> log\"
               VALUES VERSION={value} \"OTHER=a;b\")
             add_custom_target(everything ALL DEPENDS out)\n"
        )
    };
    everywhere(&[("CMakeLists.txt", &lists("1", "x"))], |project| {
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran");
        if project.generator == "Ninja" {
            project.lists(&lists("2", "x"));
            project.build();
            assert_eq!(project.ran(), "ran");
            project.lists(&lists("2", "y"));
            project.build();
            assert_eq!((project.ran().as_str(), project.text("build/out").as_str()), ("ran", "y\n"));
        }
        project.build();
        assert_eq!(project.ran(), "");
    });
}

#[test]
fn an_input_that_is_no_input_any_more_runs_the_command() {
    let lists = |inputs: &str| {
        format!(
            "upcheck_add_custom_command(OUTPUT out COMMAND sh -c \"echo x > out; echo ran >> log\" DEPENDS {inputs})
             add_custom_target(everything ALL DEPENDS out)\n"
        )
    };
    everywhere(&[("CMakeLists.txt", &lists("a b")), ("a", ""), ("b", "")], |project| {
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran");
        project.lists(&lists("a"));
        project.build();
        assert_eq!(project.ran(), "ran");
        project.build();
        assert_eq!(project.ran(), "");
    });
}

#[test]
fn arguments_arrive_as_they_are() {
    let odd = ["a b", "$HOME", "#", "'", "back\\\\", "[", "x;y", "*", "\\\"", "ä", "%", "--then", "", "-o"];
    let words: Vec<_> = odd.iter().map(|word| format!("\"{word}\"")).collect();
    let lists = format!(
        "upcheck_add_custom_command(OUTPUT \"odd name.txt\"
           COMMAND sh \"${{CMAKE_CURRENT_SOURCE_DIR}}/say.sh\" {words}
           COMMAND sh -c \"echo second >> log\")
         add_custom_target(everything ALL DEPENDS \"odd name.txt\")\n",
        words = words.join(" ")
    );
    let files = [("CMakeLists.txt", lists.as_str()), ("say.sh", "printf '<%s>' \"$@\" > 'odd name.txt'\n")];
    everywhere(&files, |project| {
        project.configure();
        project.build();
        let expected = "<a b><$HOME><#><'><back\\><[><x;y><*><\"><ä><%><--then><><-o>";
        assert_eq!(project.text("build/odd name.txt"), expected);
        assert_eq!(project.ran(), "second");
    });
}

#[test]
fn a_program_of_the_project_is_named_by_its_target_also_before_there_is_one() {
    let files = [
        (
            "CMakeLists.txt",
            "upcheck_add_custom_command(OUTPUT out.txt COMMAND maker out.txt \"$<TARGET_FILE:part>\" DEPENDS maker part
               \"$<TARGET_OBJECTS:objects>\")
             add_executable(maker maker.c)
             add_library(part STATIC part.c)
             add_library(objects OBJECT part.c)
             add_custom_target(everything ALL DEPENDS out.txt)
             # Before CMake 3.17 no order follows from objects with make.
             add_dependencies(everything objects)\n",
        ),
        (
            "maker.c",
            "#include <stdio.h>\nint main(int n, char **words) {\n  fputs(\"made\\n\", fopen(words[1], \"w\"));\n  \
             fputs(\"ran\\n\", fopen(\"log\", \"a\"));\n  return n != 3;\n}\n",
        ),
        ("part.c", "int part;\n"),
    ];
    everywhere(&files, |project| {
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran");
        project.build();
        assert_eq!(project.ran(), "");
        project.edit("part.c", "int part = 5;\n");
        project.build();
        assert_eq!(project.ran(), "ran");
        let maker = project.text("src/maker.c");
        project.edit("maker.c", &maker.replace("made", "Made"));
        project.build();
        assert_eq!((project.ran().as_str(), project.text("build/out.txt").as_str()), ("ran", "Made\n"));
    });
}

#[test]
fn commands_of_other_configurations_are_left_out() {
    let files = [(
        "CMakeLists.txt",
        "upcheck_add_custom_command(OUTPUT out COMMAND \"$<$<CONFIG:Other>:false>\"
           COMMAND sh -c \"echo $<CONFIG> > out\")
         add_custom_target(everything ALL DEPENDS out)\n",
    )];
    everywhere(&files, |project| {
        project.configuring(&["-DCMAKE_BUILD_TYPE=Debug"]).well();
        project.build();
        assert_eq!(project.text("build/out"), "Debug\n");
    });
}

#[test]
fn each_configuration_has_its_own_inputs() {
    let files = [
        (
            "CMakeLists.txt",
            "add_executable(maker maker.c)
             upcheck_add_custom_command(OUTPUT out.txt COMMAND sh -c \"echo $<CONFIG> > out.txt; echo ran >> log\"
               DEPENDS maker)
             add_custom_target(everything ALL DEPENDS out.txt)\n",
        ),
        ("maker.c", "int main(void) { return 0; }\n"),
    ];
    for version in ["3.25", "4"] {
        let project = Project::new(version, "Ninja Multi-Config", &files);
        project.configure();
        for config in ["Debug", "Release", "Debug"] {
            project.building(&["--config", config]).well();
            assert_eq!((project.ran(), project.text("build/out.txt")), ("ran".into(), format!("{config}\n")));
            project.building(&["--config", config]).well();
            assert_eq!(project.ran(), "");
        }
    }
}

#[test]
fn what_a_depfile_names_is_an_input() {
    let files = [
        (
            "CMakeLists.txt",
            "upcheck_add_custom_command(OUTPUT out.txt
               COMMAND sh \"${CMAKE_CURRENT_SOURCE_DIR}/make.sh\" \"${CMAKE_CURRENT_SOURCE_DIR}\"
               DEPENDS in.txt DEPFILE out.d)
             add_custom_target(everything ALL DEPENDS out.txt)\n",
        ),
        (
            "make.sh",
            "cat $1/in.txt $1/deep.txt > out.txt; echo out.txt: $1/deep.txt > out.d; echo ran >> log\n",
        ),
        ("in.txt", "in\n"),
        ("deep.txt", "deep\n"),
    ];
    everywhere(&files, |project| {
        if (project.version, project.generator) == ("3.16", "Unix Makefiles") {
            let error = project.refused();
            let expected =
                "upcheck_add_custom_command: DEPFILE needs CMake 3.20 with the generator 'Unix Makefiles'";
            assert!(error.contains(expected), "{error}");
            return;
        }
        // What the build knows of the depfile it knows from the second build on.
        project.space.set_mtime("src/deep.txt", 1_700_000_000_000_000_000);
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran");
        project.build();
        assert_eq!(project.ran(), "");
        project.touch("deep.txt");
        project.build();
        assert_eq!(project.ran(), "");
        project.edit("deep.txt", "deeper\n");
        project.build();
        assert_eq!((project.ran().as_str(), project.text("build/out.txt").as_str()), ("ran", "in\ndeeper\n"));
    });
}

#[test]
fn content_decides_for_outputs_too_if_it_is_told_to() {
    let lists = |content: &str| {
        format!(
            "upcheck_add_custom_command(OUTPUT out.txt COMMAND sh -c \"echo x > out.txt; echo ran >> log\"
               DEPENDS in.txt {content})
             add_custom_target(everything ALL DEPENDS out.txt)\n"
        )
    };
    for (content, ran) in [("", "ran"), ("CONTENT", "")] {
        everywhere(&[("CMakeLists.txt", &lists(content)), ("in.txt", "")], |project| {
            project.configure();
            project.build();
            assert_eq!(project.ran(), "ran");
            // An output that was touched, and an input, so that the build asks.
            project.space.set_mtime("build/out.txt", 1_700_000_000_000_000_000);
            project.touch("in.txt");
            project.build();
            assert_eq!(project.ran(), ran);
        });
    }
}

#[test]
fn the_command_runs_where_it_is_told_to() {
    let files = [(
        "CMakeLists.txt",
        "file(MAKE_DIRECTORY \"${CMAKE_CURRENT_BINARY_DIR}/sub dir\")
         upcheck_add_custom_command(OUTPUT \"sub dir/out\" COMMAND sh -c \"pwd > out; echo x > by; echo ran >> ../log\"
           BYPRODUCTS \"sub dir/by\" WORKING_DIRECTORY \"sub dir\")
         add_custom_target(everything ALL DEPENDS \"sub dir/out\")\n",
    )];
    everywhere(&files, |project| {
        project.configure();
        project.build();
        assert!(project.text("build/sub dir/out").ends_with("/build/sub dir\n"));
        assert_eq!(project.ran(), "ran");
        project.build();
        assert_eq!(project.ran(), "");
    });
}

#[test]
fn directories_of_one_project_do_not_mix_their_records() {
    let sub = "upcheck_add_custom_command(OUTPUT out COMMAND sh -c \"cat in > out; echo ran >> ${CMAKE_BINARY_DIR}/log\"
           DEPENDS in WORKING_DIRECTORY \"${CMAKE_CURRENT_BINARY_DIR}\")
         add_custom_target(everything_${name} ALL DEPENDS out)\n"
        .replace("cat in", "cat ${CMAKE_CURRENT_SOURCE_DIR}/in");
    let files = [
        ("CMakeLists.txt", "set(name a)\nadd_subdirectory(a)\nset(name b)\nadd_subdirectory(b)\n"),
        ("a/CMakeLists.txt", sub.as_str()),
        ("a/in", "of a\n"),
        ("b/CMakeLists.txt", sub.as_str()),
        ("b/in", "of b\n"),
    ];
    everywhere(&files, |project| {
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran ran");
        project.edit("a/in", "new\n");
        project.build();
        assert_eq!((project.ran(), project.text("build/a/out")), ("ran".into(), "new\n".into()));
        assert_eq!(project.text("build/b/out"), "of b\n");
    });
}

#[test]
fn a_build_that_is_killed_is_finished_by_the_next_one() {
    let lists = "upcheck_add_custom_command(OUTPUT out.txt
           COMMAND sh \"${CMAKE_CURRENT_SOURCE_DIR}/make.sh\" \"${CMAKE_CURRENT_SOURCE_DIR}\" DEPENDS in.txt)
         add_custom_target(everything ALL DEPENDS out.txt)\n";
    // It kills the shell that the build tool has started, and upcheck with it, having written half of the output.
    let script =
        "echo ran >> log; if [ -e kill ]; then rm kill; echo half > out.txt; kill -9 $PPID; exit 1; fi
        cat $1/in.txt > out.txt\n";
    let files = [("CMakeLists.txt", lists), ("make.sh", script), ("in.txt", "1\n")];
    everywhere(&files, |project| {
        project.configure();
        project.build();
        assert_eq!(project.ran(), "ran");
        project.edit("in.txt", "2\n");
        project.space.write("build/kill", "");
        project.building(&[]).badly();
        project.edit("in.txt", "1\n");
        project.build();
        assert_eq!((project.ran(), project.text("build/out.txt")), ("ran ran".into(), "1\n".into()));
        project.build();
        assert_eq!(project.ran(), "");
    });
}
