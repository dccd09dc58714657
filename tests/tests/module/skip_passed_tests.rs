//! `upcheck_skip_passed_tests`: which tests `ctest` runs, and which it skips.

use crate::{Outcome, Project, everywhere};

impl Project {
    fn testing(&self, dir: &str, options: &[&str], environment: &[(&str, &str)]) -> Outcome {
        let mut command = self.tool(self.ctest());
        command.current_dir(self.space.path().join(dir)).args(options).envs(environment.iter().copied());
        Outcome::of(command.output().expect("ctest starts"))
    }

    /// Runs all tests: how each of them ended, `p`assed, `S`kipped, `F`ailed, `-` where it was not run.
    #[track_caller]
    fn test_with(&self, dir: &str, options: &[&str], environment: &[(&str, &str)]) -> String {
        let said = self.testing(dir, options, environment).said;
        let mut ends: Vec<_> = said.lines().filter_map(end).collect();
        ends.sort_unstable();
        assert!(!ends.is_empty(), "{said}");
        ends.join(" ")
    }

    #[track_caller]
    fn test(&self) -> String {
        self.test_with("build", &[], &[])
    }

    /// Builds, and tests.
    #[track_caller]
    fn build_and_test(&self) -> String {
        self.build();
        self.test()
    }
}

/// What a line says of a test's end.
fn end(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(" Test ")?;
    let (_, rest) = rest.split_once(": ")?;
    let (name, rest) = rest.split_once(" .")?;
    let marks = [("Passed", "p"), ("Skipped", "S"), ("Failed", "F"), ("Not Run", "-"), ("Disabled", "-")];
    let mark = marks.iter().find(|(word, _)| rest.contains(word)).map_or("?", |(_, mark)| mark);
    Some(format!("{name}:{mark}"))
}

/// Tests of scripts: `pass` reads `data.txt`, `fail` fails as long as there is no file `good`.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "enable_testing()
         find_program(SHELL sh)
         add_test(NAME pass COMMAND ${SHELL} ${CMAKE_CURRENT_SOURCE_DIR}/read.sh ${CMAKE_CURRENT_SOURCE_DIR}/data.txt)
         add_test(NAME fail COMMAND ${SHELL} -c \"test -e good\")
         upcheck_skip_passed_tests()\n",
    ),
    ("read.sh", "cat $1\n"),
    ("data.txt", "data\n"),
];

#[test]
fn a_test_that_passed_is_skipped_and_one_that_failed_runs_again() {
    everywhere(SCRIPTS, |project| {
        project.configure();
        assert_eq!(project.test(), "fail:F pass:p");
        assert_eq!(project.test(), "fail:F pass:S");
        assert_eq!(project.test(), "fail:F pass:S");
        project.space.write("build/good", "");
        assert_eq!(project.test(), "fail:p pass:S");
        assert_eq!(project.test(), "fail:S pass:S");
        project.configure();
        assert_eq!(project.test(), "fail:S pass:S");
        // Nobody is told what is undone behind the back of all; but it is said that something was skipped.
        let said = project.testing("build", &[], &[]).well();
        assert!(said.contains("pass (Skipped)") && said.contains("100% tests passed"), "{said}");
    });
}

#[test]
fn a_file_on_the_command_line_is_an_input() {
    everywhere(SCRIPTS, |project| {
        project.configure();
        project.test();
        project.touch("data.txt");
        assert_eq!(project.test(), "fail:F pass:S");
        project.edit("data.txt", "other\n");
        assert_eq!(project.test(), "fail:F pass:p");
        project.edit("read.sh", "cat $1; exit 3\n");
        assert_eq!(project.test(), "fail:F pass:F");
        // What failed is not as it was before that.
        project.edit("read.sh", "cat $1\n");
        assert_eq!(project.test(), "fail:F pass:p");
        assert_eq!(project.test(), "fail:F pass:S");
        project.space.remove("src/data.txt");
        assert_eq!(project.test(), "fail:F pass:F");
    });
}

const PROGRAM: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "enable_testing()
         add_library(direct SHARED direct.c)
         add_library(behind SHARED behind.c)
         target_link_libraries(direct PRIVATE behind)
         add_executable(prog prog.c)
         target_link_libraries(prog PRIVATE direct)
         add_test(NAME run COMMAND prog)
         add_test(NAME through COMMAND /bin/sh -c \"$@\" sh $<TARGET_FILE:prog>)
         upcheck_skip_passed_tests()\n",
    ),
    ("prog.c", "int direct(void);\nint main(void) { return direct(); }\n"),
    ("direct.c", "int behind(void);\nint direct(void) { return behind(); }\n"),
    ("behind.c", "int behind(void) { return 0; }\n"),
];

#[test]
fn a_changed_program_or_library_runs_the_test() {
    everywhere(PROGRAM, |project| {
        project.configure();
        assert_eq!(project.build_and_test(), "run:p through:p");
        assert_eq!(project.build_and_test(), "run:S through:S");
        // Compiled and linked again, to the same.
        project.touch("prog.c");
        assert_eq!(project.build_and_test(), "run:S through:S");
        project.edit("prog.c", "int direct(void);\nint more;\nint main(void) { return direct(); }\n");
        assert_eq!(project.build_and_test(), "run:p through:p");
        project.edit(
            "direct.c",
            "int behind(void);\nint more(void) { return 7; }\nint direct(void) { return behind(); }\n",
        );
        assert_eq!(project.build_and_test(), "run:p through:p");
        // A library that only another library loads.
        project.edit("behind.c", "int behind(void) { return 1; }\n");
        assert_eq!(project.build_and_test(), "run:F through:F");
        project.edit("behind.c", "int behind(void) { return 0; }\n");
        assert_eq!(project.build_and_test(), "run:p through:p");
        assert_eq!(project.build_and_test(), "run:S through:S");
    });
}

#[test]
fn inputs_are_files_directories_and_patterns() {
    let lists = "enable_testing()
        add_test(NAME one COMMAND /bin/sh -c true)
        upcheck_skip_passed_tests(INPUTS single.txt \"data[1]\" \"many/*.in\" \"!many/not.in\" \"$<1:${CMAKE_CURRENT_SOURCE_DIR}/expr.txt>\")\n";
    let files = [
        ("CMakeLists.txt", lists),
        ("single.txt", ""),
        ("data[1]/deep/a", ""),
        ("many/a.in", ""),
        ("many/not.in", ""),
        ("expr.txt", ""),
    ];
    everywhere(&files, |project| {
        project.configure();
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
        for (path, expected) in [
            ("single.txt", "one:p"),
            ("data[1]/deep/a", "one:p"),
            ("data[1]/new", "one:p"),
            ("many/a.in", "one:p"),
            ("many/new.in", "one:p"),
            ("many/not.in", "one:S"),
            ("many/other", "one:S"),
            ("expr.txt", "one:p"),
        ] {
            project.edit(path, "edited");
            assert_eq!([project.test(), project.test()], [expected, "one:S"], "{path}");
        }
        project.space.remove("src/many/a.in");
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
        // What should be there and is not is no reason to skip.
        project.space.remove("src/single.txt");
        assert_eq!([project.test(), project.test()], ["one:p", "one:p"]);
    });
}

#[test]
fn another_command_line_environment_or_directory_runs_the_test() {
    let lists = |word: &str, properties: &str| {
        format!(
            "enable_testing()
             add_test(NAME one COMMAND /bin/sh -c \"true {word}\")
             set_tests_properties(one PROPERTIES TIMEOUT 100 {properties})
             upcheck_skip_passed_tests()\n"
        )
    };
    everywhere(&[("CMakeLists.txt", &lists("", "")), ("sub/x", ""), ("need.txt", "")], |project| {
        let steps = [
            ("", ""),
            ("x", ""),
            ("x", "ENVIRONMENT \"A=1;B=2\""),
            ("x", "ENVIRONMENT \"A=1;B=3\""),
            ("x", "WORKING_DIRECTORY \"${CMAKE_CURRENT_SOURCE_DIR}\""),
            ("x", "WORKING_DIRECTORY \"${CMAKE_CURRENT_SOURCE_DIR}/sub\""),
            ("x", "TIMEOUT 99"),
            ("x", "REQUIRED_FILES \"${CMAKE_CURRENT_SOURCE_DIR}/need.txt\""),
        ];
        for (word, properties) in steps {
            project.lists(&lists(word, properties));
            project.configure();
            assert_eq!([project.test(), project.test()], ["one:p", "one:S"], "{word} {properties}");
        }
        project.edit("need.txt", "needed");
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
        let environment = [("LC_ALL", "C.UTF-8")];
        let test = || project.test_with("build", &[], &environment);
        assert_eq!([test(), test(), project.test()], ["one:p", "one:S", "one:p"]);
    });
}

#[test]
fn tests_that_are_not_judged_by_status_or_not_alone_are_left_alone() {
    let properties = [
        "WILL_FAIL ON",
        "PASS_REGULAR_EXPRESSION word",
        "FAIL_REGULAR_EXPRESSION other",
        "SKIP_REGULAR_EXPRESSION other",
        "FIXTURES_SETUP f",
        "FIXTURES_CLEANUP f",
        "FIXTURES_REQUIRED f",
        "DEPENDS t0",
        "SKIP_RETURN_CODE 0",
        "RESOURCE_GROUPS 0",
        "REQUIRED_FILES relative.txt",
    ];
    let mut text = String::from("enable_testing()\nupcheck_skip_passed_tests()\n");
    for (number, property) in properties.iter().enumerate() {
        let script = if number == 0 { "echo word; exit 1" } else { "echo word" };
        text += &format!(
            "add_test(NAME t{number} COMMAND /bin/sh -c \"{script}\")\n\
             set_tests_properties(t{number} PROPERTIES {property})\n"
        );
    }
    text += "add_test(NAME bare COMMAND true)\nadd_test(NAME gone COMMAND /nonexistent/program)\n\
        add_test(NAME off COMMAND /bin/true)\nset_tests_properties(off PROPERTIES DISABLED ON)\n\
        add_test(NAME usual COMMAND /bin/true)\n";
    everywhere(&[("CMakeLists.txt", &text)], |project| {
        project.space.write("build/relative.txt", "");
        project.configure();
        let first = project.test();
        assert!(first.contains("usual:p") && first.contains("off:-") && first.contains("gone:-"), "{first}");
        assert!(first.contains("bare:p") && first.contains("t0:p t10:p t1:p"), "{first}");
        assert_eq!(project.test(), first.replace("usual:p", "usual:S"));
    });
}

#[test]
fn the_status_that_a_test_has_for_being_skipped_stays_its_own() {
    let lists = "enable_testing()
        add_test(NAME own COMMAND /bin/sh -c \"test -e ready || exit 9\")
        set_tests_properties(own PROPERTIES SKIP_RETURN_CODE 9)
        add_test(NAME none COMMAND /bin/sh -c \"test -e ready || exit 77\")
        upcheck_skip_passed_tests()\n";
    everywhere(&[("CMakeLists.txt", lists)], |project| {
        project.configure();
        // One has skipped itself, and the other one has failed with a status that means nothing to it.
        assert_eq!(project.test(), "none:F own:S");
        project.space.write("build/ready", "");
        assert_eq!(project.test(), "none:p own:p");
        assert_eq!(project.test(), "none:S own:S");
    });
}

#[test]
fn a_test_that_dies_runs_again() {
    let lists = "enable_testing()
        add_test(NAME one COMMAND /bin/sh -c \"test -e ready || kill -9 $$\")
        upcheck_skip_passed_tests()\n";
    everywhere(&[("CMakeLists.txt", lists)], |project| {
        project.configure();
        assert_eq!([project.test(), project.test()], ["one:F", "one:F"]);
        project.space.write("build/ready", "");
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
    });
}

#[test]
fn directories_and_names_say_which_tests_are_meant() {
    let sub = "add_test(NAME same COMMAND /bin/sh -c true)\nadd_test(NAME more COMMAND /bin/sh -c true)\n";
    let files = [
        (
            "CMakeLists.txt",
            "enable_testing()\nadd_subdirectory(a)\nadd_subdirectory(b)\nadd_subdirectory(c)\nadd_subdirectory(d)
             upcheck_skip_passed_tests(DIRECTORY b)
             upcheck_skip_passed_tests(DIRECTORY c TESTS more)
             add_test(NAME top COMMAND /bin/true)\n",
        ),
        ("a/CMakeLists.txt", &sub.replace("same", "a").replace("more", "a2")),
        ("b/CMakeLists.txt", &format!("{sub}add_subdirectory(deep)")),
        ("b/deep/CMakeLists.txt", &sub.replace("same", "deep").replace("more", "deep2")),
        ("c/CMakeLists.txt", sub),
        ("d/CMakeLists.txt", sub),
    ];
    everywhere(&files, |project| {
        project.configure();
        let all = "a2:p a:p deep2:p deep:p more:p more:p more:p same:p same:p same:p top:p";
        assert_eq!(project.test(), all);
        assert_eq!(project.test(), "a2:p a:p deep2:S deep:S more:S more:S more:p same:S same:p same:p top:p");
        // Where ctest is started below, it knows what was said there.
        let below = |dir| project.test_with(dir, &[], &[]);
        assert_eq!(below("build/b"), "deep2:S deep:S more:S same:S");
        assert_eq!(below("build/c"), "more:S same:p");
        assert_eq!(below("build/d"), "more:p same:p");
        // What was said for another directory above is not known: they run.
        assert_eq!(below("build/b/deep"), "deep2:p deep:p");
        let everything = project.test_with("build", &[], &[("UPCHECK_RUN_ALL_TESTS", "1")]);
        assert_eq!(everything, all);
    });
}

#[test]
fn several_calls_about_a_test_hold_together() {
    let files = [
        (
            "CMakeLists.txt",
            "enable_testing()
             add_test(NAME one COMMAND /bin/sh -c true)\nadd_test(NAME two COMMAND /bin/sh -c true)
             upcheck_skip_passed_tests(INPUTS all.txt)
             upcheck_skip_passed_tests(TESTS two INPUTS two.txt)\n",
        ),
        ("all.txt", ""),
        ("two.txt", ""),
    ];
    everywhere(&files, |project| {
        project.configure();
        assert_eq!([project.test(), project.test()], ["one:p two:p", "one:S two:S"]);
        project.edit("two.txt", "edited");
        assert_eq!([project.test(), project.test()], ["one:S two:p", "one:S two:S"]);
        project.edit("all.txt", "edited");
        assert_eq!([project.test(), project.test()], ["one:p two:p", "one:S two:S"]);
    });
}

#[test]
fn a_directory_of_the_project_on_the_command_line_counts_with_what_is_in_it() {
    let files = [
        (
            "CMakeLists.txt",
            "enable_testing()
             add_test(NAME one COMMAND /bin/sh -c true sh --data=${CMAKE_CURRENT_SOURCE_DIR}/data ${CMAKE_CURRENT_BINARY_DIR})
             upcheck_skip_passed_tests()\n",
        ),
        ("data/a", ""),
    ];
    everywhere(&files, |project| {
        project.configure();
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
        project.edit("data/deep/b", "new");
        assert_eq!([project.test(), project.test()], ["one:p", "one:S"]);
        project.space.write("build/whatever", "");
        assert_eq!(project.test(), "one:S");
    });
}

#[test]
fn arguments_of_all_tests_arrive_as_they_are() {
    // Not all of them, in versions that write names and arguments as they are.
    let odd =
        ["a b", "$HOME", "#", "'", "back\\\\", "[", "x;y", "*", "ä", "%", "--", "", "-o", "]=]", "\\\""];
    let words: Vec<_> = odd.iter().map(|word| format!("\"{word}\"")).collect();
    let words = words.join(" ");
    let script = "f=$1; shift; printf '<%s>' \"$@\" > $f.txt\n";
    let text = format!(
        "enable_testing()
         set(script \"${{CMAKE_CURRENT_SOURCE_DIR}}/say.sh\")
         add_test(NAME wrapped COMMAND /bin/sh \"${{script}}\" wrapped {words})
         add_test(NAME alone COMMAND /bin/sh \"${{script}}\" alone {words})
         set_tests_properties(wrapped PROPERTIES ENVIRONMENT \"ONE=a b\\;c;TWO=[\")
         add_test(old /bin/sh ${{script}} old \"a b\" \"\" c)
         upcheck_skip_passed_tests(TESTS wrapped old)\n"
    );
    everywhere(&[("CMakeLists.txt", &text), ("say.sh", script)], |project| {
        project.configure();
        assert_eq!(project.test(), "alone:p old:p wrapped:p");
        let expected = "<a b><$HOME><#><'><back\\><[><x;y><*><ä><%><--><><-o><]=]><\">";
        assert_eq!(project.text("build/alone.txt"), expected);
        assert_eq!(project.text("build/wrapped.txt"), expected);
        assert_eq!(project.text("build/old.txt"), "<a b><><c>");
        assert_eq!(project.test(), "alone:p old:S wrapped:S");
    });
}

#[test]
fn configurations_are_tested_each_for_itself() {
    let files = [
        (
            "CMakeLists.txt",
            "enable_testing()
             add_executable(prog prog.c)
             add_test(NAME one COMMAND prog)
             add_test(NAME two COMMAND /bin/sh -c true)
             upcheck_skip_passed_tests(INPUTS \"${CMAKE_CURRENT_SOURCE_DIR}/$<CONFIG>.txt\")\n",
        ),
        ("prog.c", "int main(void) { return 0; }\n"),
        ("Debug.txt", ""),
        ("Release.txt", ""),
    ];
    for version in ["3.25", "4"] {
        let project = Project::new(version, "Ninja Multi-Config", &files);
        project.configure();
        let test = |config| project.test_with("build", &["-C", config], &[]);
        for config in ["Debug", "Release"] {
            project.building(&["--config", config]).well();
            assert_eq!([test(config), test(config)], ["one:p two:p", "one:S two:S"]);
        }
        assert_eq!(test("Debug"), "one:S two:S");
        project.edit("Debug.txt", "edited");
        assert_eq!([test("Release"), test("Debug")], ["one:S two:S", "one:p two:p"]);
    }
}

#[test]
fn a_test_that_changes_its_input_is_never_skipped() {
    let files = [
        (
            "CMakeLists.txt",
            "enable_testing()
             add_test(NAME one COMMAND /bin/sh -c \"echo x >> $0\" ${CMAKE_CURRENT_SOURCE_DIR}/grows.txt)
             upcheck_skip_passed_tests()\n",
        ),
        ("grows.txt", ""),
    ];
    everywhere(&files, |project| {
        project.configure();
        assert_eq!([project.test(), project.test(), project.test()], ["one:p", "one:p", "one:p"]);
    });
}
