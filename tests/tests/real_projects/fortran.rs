//! A CMake project in Fortran. Which module a file makes and uses is found out while building: CMake has a scanner
//! write that into dyndep files, one for each target, and lets modules that come out the same keep their times.

use crate::work::{Work, touch};
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::answer::Answer;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const FILES: [(&str, &str); 9] = [
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(figures LANGUAGES Fortran)\nadd_subdirectory(lib)\n\
         add_executable(app app/main.f90 app/report.f90)\ntarget_link_libraries(app PRIVATE figures)\n",
    ),
    (
        LIST,
        "add_library(figures circle.f90 kinds.f90 measures.f90 measures_impl.f90 square.F90)\n\
         target_include_directories(figures INTERFACE ${CMAKE_CURRENT_BINARY_DIR})\n",
    ),
    ("lib/kinds.f90", KINDS),
    (
        "lib/circle.f90",
        "module circle\n  use kinds\ncontains\n  real(real_kind) function circle_area(r)\n    \
         real(real_kind), intent(in) :: r\n    circle_area = 3.14_real_kind * r * r\n  end function\nend module\n",
    ),
    (
        "lib/square.F90",
        "#include \"unit.h\"\nmodule square\n  use kinds, only: real_kind\ncontains\n  \
         real(real_kind) function square_area(a)\n    real(real_kind), intent(in) :: a\n    \
         square_area = UNIT * a * a\n  end function\nend module\n",
    ),
    ("lib/unit.h", "#define UNIT 1\n"),
    (
        "lib/measures.f90",
        "module measures\n  interface\n    module subroutine measure(total)\n      \
         real, intent(out) :: total\n    end subroutine\n  end interface\nend module\n",
    ),
    (
        "lib/measures_impl.f90",
        "submodule (measures) measures_impl\n  use circle\n  use square\ncontains\n  \
         module subroutine measure(total)\n    real, intent(out) :: total\n    \
         total = real(circle_area(1.0_real_kind) + square_area(1.0_real_kind))\n  end subroutine\nend submodule\n",
    ),
    (
        "app/report.f90",
        "module report\ncontains\n  subroutine say()\n    print *, 'done'\n  end subroutine\nend module\n",
    ),
];
const MAIN: &str = "app/main.f90";
const KINDS: &str = "module kinds\n  integer, parameter :: real_kind = kind(1.0)\nend module\n";
const CIRCLE_OBJECT: &str = "lib/CMakeFiles/figures.dir/circle.f90.o";
const LIST: &str = "lib/CMakeLists.txt";
const LOG: &str = ".ninja_log";
const DYNDEP: &str = "lib/CMakeFiles/figures.dir/Fortran.dd";

/// The main program, using these modules.
fn main_program(modules: &[&str]) -> String {
    let uses: String = modules.iter().map(|module| format!("  use {module}\n")).collect();
    format!("program main\n{uses}  real :: total\n  call measure(total)\n  print *, total\nend program\n")
}

/// The life of its build directory.
pub(crate) fn live_through(version: Ninja) {
    if Command::new("gfortran").arg("--version").output().is_err() {
        not_tested("dyndep files of a real project; this needs gfortran");
        return;
    }
    let source = Space::new();
    for (path, text) in FILES {
        source.write(path, text);
    }
    source.write(MAIN, main_program(&["measures"]));
    let mut work = Work::new("a project in Fortran", source, None, &[], version);
    first_build(&mut work);
    edit_modules(&mut work);
    edit_uses(&mut work);
    edit_outputs(&mut work);
    edit_dyndep_files(&mut work);
    damage_log(&mut work);
    reconfigure(&mut work);
    work.report();
}

fn first_build(work: &mut Work) {
    stale(work, "never built");
    work.interrupt_build(5);
    stale(work, "first build interrupted");
    work.rebuild("first build");
    asked_for_each_object(work, "built");
}

/// Files that make a module. A build runs what uses it only if the module comes out other than before; a dry run,
/// which cannot know that, names all of it.
fn edit_modules(work: &mut Work) {
    for path in ["lib/kinds.f90", "lib/circle.f90", "lib/measures_impl.f90", "lib/unit.h", "app/report.f90"] {
        touch(&work.source, path);
        stale(work, &format!("{path} touched"));
        asked_for_each_object(work, &format!("{path} touched"));
        work.rebuild(&format!("{path} touched"));
    }
    work.source.write("lib/kinds.f90", KINDS.replace("1.0", "1.0d0"));
    stale(work, "a module has another interface");
    work.interrupt_build(4);
    stale(work, "a module has another interface, interrupted");
    work.rebuild("a module has another interface");

    work.source.write("lib/kinds.f90", KINDS.replace("kinds", "precisions"));
    stale(work, "a module has another name");
    // What uses it finds what was left of it under the old name.
    work.rebuild("a module has another name");
    work.source.write("lib/kinds.f90", KINDS);
    stale(work, "a module has its name again");
    work.rebuild("a module has its name again");
}

/// Which modules a file uses: what the scanner writes will be other than what the dyndep files say now.
fn edit_uses(work: &mut Work) {
    for modules in [&["measures", "report"][..], &["measures", "report", "circle", "kinds"], &["measures"]] {
        work.source.write(MAIN, main_program(modules));
        stale(work, &format!("main uses {modules:?}"));
        asked_for_each_object(work, &format!("main uses {modules:?}"));
        work.rebuild(&format!("main uses {modules:?}"));
    }
    let circle = text(work, "lib/circle.f90");
    work.source.write("lib/circle.f90", circle.replace("use kinds", "use kinds\n  use square"));
    stale(work, "a use more");
    work.rebuild("a use more");
    touch(&work.source, "lib/square.F90");
    stale(work, "a use more, and that touched");
    work.rebuild("a use more, and that touched");

    let square = text(work, "lib/square.F90");
    work.source.write("lib/square.F90", square.replace("module square\n", "module square\n  use circle\n"));
    stale(work, "modules use each other");
    let (built, _) = work.run_build(&["-k", "0"]);
    assert!(!built, "they use each other");
    exactly(work, "modules use each other, built as far as it goes", &[]);
    work.source.write("lib/square.F90", square);
    exactly(work, "they no longer do", &[]);
    // Ninja reads the dyndep file that has the cycle before it would make it again.
    let _ = work.run_build(&[]);
    exactly(work, "they no longer do, built once", &[]);
    work.build.remove(DYNDEP);
    work.rebuild("they no longer do");
}

fn edit_outputs(work: &mut Work) {
    for path in ["lib/kinds.mod", "lib/measures.smod", CIRCLE_OBJECT, "lib/libfigures.a", "report.mod"] {
        let made = work.build.read(path);
        assert!(!made.is_empty(), "the build makes {path}");
        work.build.remove(path);
        exactly(work, &format!("{path} deleted"), &[]);
        asked_for_each_object(work, &format!("{path} deleted"));
        work.rebuild(&format!("{path} deleted"));
        // CMake does not tell ninja of modules that only submodules use.
        work.build.write(path, made);
        exactly(work, &format!("{path} touched"), &[]);
        work.rebuild(&format!("{path} touched"));
    }
}

fn edit_dyndep_files(work: &mut Work) {
    let whole = work.build.read(DYNDEP);
    touch(&work.build, DYNDEP);
    exactly(work, "a dyndep file touched", &[]);
    let text = String::from_utf8_lossy(&whole).into_owned();
    let (all_but_the_last, _) = text.rsplit_once("build ").expect("a statement");
    for (state, content) in [("cut off", all_but_the_last), ("empty", "")] {
        work.build.write(DYNDEP, content);
        exactly(work, &format!("a dyndep file {state}"), &[]);
        asked_for_each_object(work, &format!("a dyndep file {state}"));
        touch(&work.source, "lib/circle.f90");
        exactly(work, &format!("a dyndep file {state}, and to be made again"), &[]);
        work.build.write(DYNDEP, &whole);
        work.rebuild(&format!("a dyndep file {state}, put back"));
    }
    work.build.remove(DYNDEP);
    exactly(work, "a dyndep file deleted", &[]);
    asked_for_each_object(work, "a dyndep file deleted");
    work.rebuild("a dyndep file deleted");
}

fn damage_log(work: &mut Work) {
    let whole = work.build.read(LOG);
    work.build.remove(LOG);
    stale(work, "log deleted");
    work.build.write(LOG, &whole[..whole.len() / 2]);
    stale(work, "log cut off");
    asked_for_each_object(work, "log cut off");
    let (built, output) = work.run_build(&[]);
    assert!(built, "{output}");
    exactly(work, "log cut off, built once", &[]);
    work.rebuild("log cut off");
}

fn reconfigure(work: &mut Work) {
    work.source.write("lib/extra.f90", "module extra\n  use measures\nend module\n");
    touch(&work.source, LIST);
    work.stale_manifest("list touched");
    work.source.write(LIST, text(work, LIST).replace("square.F90", "square.F90 extra.f90"));
    work.stale_manifest("a source added");
    work.configure(&[]);
    exactly(work, "a source added, configured", &[]);
    work.rebuild("a source added");
    touch(&work.source, "lib/measures.f90");
    stale(work, "what the new source uses touched");
    work.rebuild("what the new source uses touched");
}

fn asked_for_each_object(work: &mut Work, state: &str) {
    let objects: Vec<String> = ["circle.f90", "kinds.f90", "measures.f90", "measures_impl.f90", "square.F90"]
        .iter()
        .map(|name| format!("lib/CMakeFiles/figures.dir/{name}.o"))
        .chain(["CMakeFiles/app.dir/app/main.f90.o".into(), "lib/figures".into(), "lib/circle.mod".into()])
        .collect();
    for object in &objects {
        exactly(work, state, &[object]);
    }
}

fn text(work: &Work, path: &str) -> String {
    String::from_utf8(work.source.read(path)).expect("text")
}

/// Both sides say the same in ninja's mode. The useful mode knows no less: of a stale dyndep file it also says what
/// may have to run because of it, and it looks past one that is not there.
#[track_caller]
fn exactly(work: &mut Work, state: &str, targets: &[&str]) -> Answer {
    let (useful, theirs) = work.agreed_exactly(state, targets);
    if let (Answer::Run(useful), Answer::Run(theirs)) = (&useful, &theirs) {
        let missed: Vec<_> = theirs.difference(useful).collect();
        assert!(missed.is_empty(), "{state} {targets:?}: the useful mode misses {missed:#?}");
    }
    useful
}

#[track_caller]
fn stale(work: &mut Work, state: &str) {
    let useful = exactly(work, state, &[]);
    assert!(matches!(&useful, Answer::Run(commands) if !commands.is_empty()), "{state}: {useful:?}");
}
