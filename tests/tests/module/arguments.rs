//! What the functions say to arguments that make no sense: their own name, the argument, and what is wrong.

use crate::{CMAKES, Project};

/// Calls, and what is said of them.
const WRONG: &[(&str, &str)] = &[
    ("upcheck_add_custom_command()", "upcheck_add_custom_command: OUTPUT is missing"),
    ("upcheck_add_custom_command(OUTPUT a)", "upcheck_add_custom_command: COMMAND is missing"),
    ("upcheck_add_custom_command(OUTPUT COMMAND x)", "upcheck_add_custom_command: no value given for OUTPUT"),
    (
        "upcheck_add_custom_command(OUTPUT a COMMAND)",
        "upcheck_add_custom_command: no value given for COMMAND",
    ),
    (
        "upcheck_add_custom_command(OUTPUT a COMMAND COMMAND x)",
        "upcheck_add_custom_command: no value given for COMMAND",
    ),
    (
        "upcheck_add_custom_command(a b OUTPUT c COMMAND d)",
        "upcheck_add_custom_command: unknown argument: a, b",
    ),
    (
        "upcheck_add_custom_command(OUTPUT c COMMAND d > e)",
        "upcheck_add_custom_command: '>' is for a shell: COMMAND sh -c \"... > ...\"",
    ),
    (
        "upcheck_add_custom_command(OUTPUT c COMMAND d VALUES x)",
        "upcheck_add_custom_command: VALUES: 'x' has not the form NAME=VALUE",
    ),
    (
        "set_property(GLOBAL PROPERTY _UPCHECK_EXECUTABLE)\nupcheck_add_custom_command(OUTPUT c COMMAND d)",
        "upcheck_add_custom_command: the command 'upcheck' was not found; set UPCHECK_EXECUTABLE to its path",
    ),
    ("upcheck_glob()", "upcheck_glob Function invoked with incorrect arguments"),
    ("upcheck_glob(x)", "upcheck_glob: there is no pattern"),
    ("upcheck_glob(x RELATIVE)", "upcheck_glob: no value given for RELATIVE"),
    ("upcheck_glob(x *.c STRATEGY ALL)", "upcheck_glob: STRATEGY 'ALL' is none of DIRS, VERIFY"),
    ("upcheck_glob(x *.c FOLLOW_SYMLINKS)", "upcheck_glob: FOLLOW_SYMLINKS is for RECURSE"),
    (
        "upcheck_glob(x CONFIGURE_DEPENDS *.c)",
        "upcheck_glob: CONFIGURE_DEPENDS is what it replaces: see STRATEGY",
    ),
    ("upcheck_skip_passed_tests(a)", "upcheck_skip_passed_tests: unknown argument: a"),
    ("upcheck_skip_passed_tests(INPUTS)", "upcheck_skip_passed_tests: no value given for INPUTS"),
    (
        "upcheck_skip_passed_tests(TESTS gone)",
        "upcheck_skip_passed_tests: TESTS: there is no test 'gone' in ",
    ),
    (
        "upcheck_skip_passed_tests(DIRECTORY gone)",
        "upcheck_skip_passed_tests: DIRECTORY 'gone' is no directory of the project, or not known yet",
    ),
];

#[test]
fn errors_name_the_function_and_the_argument() {
    for version in CMAKES {
        for (call, expected) in WRONG {
            let project = Project::new(version, "Unix Makefiles", &[("CMakeLists.txt", call)]);
            let error = project.refused();
            assert!(error.contains(expected), "{call}\n{error}");
        }
    }
}
