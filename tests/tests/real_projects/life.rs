//! The edits: what people do in a build directory, and what happens to them.

use crate::projects::{Project, Replacement, System};
use crate::work::{Work, is_compilation, must_run, nothing, touch};
use std::process::Command;
use upcheck_tests::answer::{Answer, Question, look_past};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool};

/// Before anything in a build directory.
const OLD: i64 = 1_000_000_000_000_000_000;

/// The life of a build directory: the first build, one edit after another, and the end.
pub(crate) fn live_through(project: &Project, version: Ninja) {
    let source = Space::new();
    let pristine = run_tool("get-source", project.name);
    must_run(Command::new("cp").arg("-a").arg(pristine.join(".")).arg(source.path()));
    let meson = matches!(project.system, System::Meson { .. }).then(install_meson);
    let mut work = Work::new(project.name, source, meson, project.options, version);
    first_build(&mut work, project);
    edit_headers(&mut work, project);
    edit_outputs(&mut work, project);
    lose_inputs(&mut work, project);
    fail(&mut work, project);
    damage_logs(&mut work);
    reconfigure(&mut work, project);
    end(&mut work);
    work.report();
}

fn first_build(work: &mut Work, project: &Project) {
    work.stale("never built");
    work.interrupt_build(20);
    work.stale("first build interrupted");
    work.rebuild("first build");
    for args in [&["check"][..], &["check", "--exact"]] {
        let (status, output) = work.upcheck(args);
        assert_eq!(status, Some(0), "{output}");
    }
    let always = [project.always_stale()];
    assert_ne!(work.agreed("never there", &always), nothing(), "{always:?}");
}

fn edit_headers(work: &mut Work, project: &Project) {
    let Project { header, header_users, header_library, generated, .. } = *project;
    work.touch(header);
    let objects = work.stale("header touched").iter().filter(|command| is_compilation(command)).count();
    assert!(objects >= header_users, "{header} is used by {objects} objects, not {header_users}");
    let (status, output) = work.upcheck(&["why", header_library]);
    assert_eq!(status, Some(1), "{output}");
    assert!(output.contains(header), "{header} is the cause:\n{output}");
    for target in work.some_targets() {
        work.agreed("header touched", &[&target]);
    }
    work.interrupt_build(2);
    work.stale("rebuild interrupted");
    work.rebuild("header touched");

    if let Some((input, output)) = generated {
        work.touch(input);
        work.stale("input of a generated header touched");
        work.rebuild("input of a generated header touched");
        work.build.remove(output);
        work.stale("generated header deleted");
        work.rebuild("generated header deleted");
    }
}

fn edit_outputs(work: &mut Work, project: &Project) {
    let Project { object, library, .. } = *project;
    work.build.remove(object);
    work.stale("object deleted");
    work.rebuild("object deleted");

    // Ninja does not look whether outputs are as it left them, but its deps log does.
    touch(&work.build, object);
    work.stale("object touched");
    work.rebuild("object touched");

    work.build.set_mtime(object, OLD);
    work.stale("object aged");
    work.rebuild("object aged");

    touch(&work.build, library);
    work.agreed("library touched", &[]);
    work.rebuild("library touched");
    work.build.set_mtime(library, OLD);
    work.stale("library aged");
    work.rebuild("library aged");
}

/// Takes a header and a source file away, and puts them back as they were.
fn lose_inputs(work: &mut Work, project: &Project) {
    let Project { header, source, .. } = *project;
    let lost = work.lose(header);
    work.stale("header removed");
    work.put_back(header, &lost);
    work.fresh("header put back");

    work.touch(source);
    let touched = work.agreed("source touched", &[]);
    let lost = work.lose(source);
    work.agreed("source removed", &[]);
    // Where ninja has only an error, upcheck still says what the source would be needed for.
    assert_eq!(look_past(&work.build, work.version, &Question::default()), touched);
    work.put_back(source, &lost);
    work.rebuild("source put back");
}

fn fail(work: &mut Work, project: &Project) {
    let Project { header, source, .. } = *project;
    let good = work.source.read(source);
    work.source.write(source, [&good[..], b"\n#error no good\n"].concat());
    work.touch(header);
    let (built, _) = work.run_build(&["-k", "0"]);
    assert!(!built, "{source} is an error");
    work.stale("build failed in part");
    work.source.write(source, good);
    work.stale("error corrected");
    work.rebuild("error corrected");
}

fn damage_logs(work: &mut Work) {
    for log in [".ninja_deps", ".ninja_log"] {
        let whole = work.build.read(log);
        work.build.remove(log);
        work.stale(&format!("{log} deleted"));
        // In the middle of a line or record. To half a line ninja appends the next, and so loses both.
        work.build.write(log, &whole[..whole.len() * 3 / 5 + 1]);
        work.stale(&format!("{log} cut off"));
        let (built, output) = work.run_build(&[]);
        assert!(built, "{output}");
        work.agreed(&format!("{log} cut off, built once"), &[]);
        work.rebuild(&format!("{log} cut off"));
    }
    work.tool("recompact");
    work.fresh("logs recompacted");
}

fn reconfigure(work: &mut Work, project: &Project) {
    let Project { header, list, all_flags, .. } = *project;
    edit_list(work, list, project.new_flags());
    work.stale_manifest("flags edited");
    work.touch(header);
    work.stale_manifest("flags edited, header touched");
    work.configure(&[]);
    work.stale("flags edited, header touched, configured");
    work.rebuild("flags edited");

    // Ninja configures by itwork.
    work.touch(list);
    work.stale_manifest("list touched");
    work.rebuild("list touched");

    let before = work.source.read(list);
    let new_source = project.new_source();
    work.source.write(&new_source, "int upcheck_probe(void);\nint upcheck_probe(void) { return 1; }\n");
    edit_list(work, list, project.new_source_entry());
    work.stale_manifest("source added");
    work.configure(&[]);
    work.stale("source added, configured");
    work.rebuild("source added");

    work.source.write(list, before);
    work.stale_manifest("source taken out");
    work.configure(&[]);
    work.source.remove(&new_source);
    work.stale("source taken out, configured");
    work.rebuild("source taken out");

    let (on, off) = all_flags;
    work.configure(&[on]);
    work.stale("all flags changed");
    work.configure(&[off]);
    // Not fresh with Meson: it has ninja record the outputs' own times, and those that restat kept are old.
    let Answer::Run(commands) = work.agreed("all flags as before", &[]) else {
        panic!("no error is expected")
    };
    assert!(!commands.iter().any(|command| is_compilation(command)), "{commands:?}");
    work.rebuild("all flags as before");
    if matches!(project.system, System::CMake(_)) {
        watch_globs(work, project);
    }
}

/// From now on every build begins with a command that looks for new files, and may rewrite the manifest:
/// for a dry run the manifest is always stale.
fn watch_globs(work: &mut Work, project: &Project) {
    let Project { header, list, .. } = *project;
    let before = work.source.read(list);
    edit_list(work, list, ("", "file(GLOB probe CONFIGURE_DEPENDS *.c *.cpp)\n".to_owned()));
    for state in ["glob added", "glob added, built"] {
        work.stale_manifest(state);
        let (built, output) = work.run_build(&[]);
        assert!(built, "{output}");
    }
    work.touch(header);
    work.stale_manifest("glob added, header touched");
    work.source.write(list, before);
    work.rebuild("glob taken out");
}

fn end(work: &mut Work) {
    work.tool("clean");
    work.stale("cleaned");
}

fn edit_list(work: &Work, list: &str, (from, to): Replacement) {
    let before = String::from_utf8(work.source.read(list)).expect("text");
    let after = if from.is_empty() { before.clone() + &to } else { before.replacen(from, &to, 1) };
    assert_ne!(before, after, "{list} has {from:?}");
    work.source.write(list, after);
}

/// From PyPI, for this test alone.
fn install_meson() -> Space {
    let space = Space::new();
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(space.path()).arg("meson==1.*");
    must_run(&mut pip);
    // Python looks for modules beside the script, pip puts them a folder up.
    std::os::unix::fs::symlink("../mesonbuild", space.path().join("bin/mesonbuild")).expect("a link");
    space
}
