//! Repair on file systems of other kinds, where this machine lets a test mount them, and as somebody who may not do all.

use super::command::upcheck_in;
use super::{MANIFEST, SECOND};
use std::process::{Command, Output};
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, Ninja};

/// Where a script does not get what it needs.
const NOT_ALLOWED: i32 = 90;

/// What all scripts begin with: a build in `there`, recorded, whose sources and outputs then get new times.
const BUILT: &str = "\
build() { cp -r sources/. there; \"$2\" -C there --quiet >&2; \"$1\" record -C there || exit 92; }
age() { find there -type f ! -path '*/.upcheck/*' -exec touch -c -d @1700000000 {} + ; }
fresh() { [ \"$(\"$2\" -C there -n | tail -n 1)\" = 'ninja: no work to do.' ] || exit 93; }
";

/// Runs a script in a mount namespace of its own, so that nothing stays mounted. `$1` is the command, `$2` a ninja, and
/// `need` goes before what may not be allowed here. `None`, and said aloud, if this machine does not allow that.
fn with_mounts(what: &str, script: &str) -> Option<Output> {
    let space = Space::new();
    for (path, content) in [("a.c", "a\n"), ("b.c", "b\n"), ("h/all.h", "h\n"), ("words.txt", "w\n")] {
        space.write_at(&format!("sources/{path}"), content, 1_600_000_000 * SECOND + 123_456_789);
    }
    space.write("sources/build.ninja", MANIFEST);
    let script = format!("need() {{ \"$@\" >&2 || exit {NOT_ALLOWED}; }}\n{BUILT}{script}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(tools::upcheck()).arg(Ninja::V1_13.path());
    let like = upcheck_in(space.path());
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = match command.current_dir(space.path()).output() {
        Ok(output) => output,
        Err(error) => {
            not_tested(&format!("{what}; starting unshare: {error}"));
            return None;
        }
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NOT_ALLOWED) || stderr.starts_with("unshare: ") {
        not_tested(&format!("{what}; {}", stderr.trim()));
        return None;
    }
    Some(output)
}

#[track_caller]
fn answer(output: &Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {stdout}{stderr}", output.status);
    stdout.into_owned()
}

#[test]
fn where_times_are_whole_seconds_an_archive_from_elsewhere_is_repaired_all_the_same() {
    let script = "truncate -s 8M image; mkdir there; need mkfs.ext4 -q -I 128 image\n\
        build \"$@\"; mv there elsewhere; mkdir there; need mount -o loop -t ext4 image there\n\
        cp -r elsewhere/. there; \"$1\" repair -C there; fresh \"$@\"\n\
        echo B > there/b.c; touch -d @1600000000 there/b.c; \"$1\" repair -C there; \"$2\" -C there -n -v\n";
    let Some(output) = with_mounts("a file system of whole seconds", script) else { return };
    let text = answer(&output);
    // How many before depends on whether all was copied within a second.
    assert!(text.contains("repaired: ninja would run 0 of 5 targets, before "), "{text}");
    assert!(
        text.contains("[2/2] cat b.o > b\n") && text.contains("not proved: b.o: input b.c changed\n"),
        "{text}"
    );
}

#[test]
fn times_that_cannot_be_set_are_an_error_and_nothing_is_half_done() {
    let script = "mkdir there; build \"$@\"; age; touch there/a.c there/h/all.h\n\
        need mount --bind there/h there/h; need mount -o remount,bind,ro there/h\n\
        before=$(find there -type f -exec stat -c '%n %y' {} + | sort; cat there/.ninja_log)\n\
        \"$1\" repair -C there; status=$?\n\
        [ \"$before\" = \"$(find there -type f -exec stat -c '%n %y' {} + | sort; cat there/.ninja_log)\" ] || exit 94\n\
        [ $status = 2 ] || exit 95\n\
        \"$1\" repair -C there --keep-sources; fresh \"$@\"\n";
    let Some(output) = with_mounts("sources that can only be read", script) else { return };
    let text = answer(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("setting the time of 'h/all.h': Read-only file system"), "{stderr}");
    assert!(text.contains("repaired: ninja would run 0 of 5 targets, before "), "{text}");
}

#[test]
fn files_of_others_keep_their_times_and_what_is_made_of_them_gets_later_ones() {
    let script = "mkdir there; build \"$@\"; age; touch there/a.c there/h/all.h\n\
        need chown -R 65534:65534 .; need chown 0:0 there/h/all.h\n\
        as='setpriv --reuid 65534 --regid 65534 --clear-groups'; need $as \"$1\" --version\n\
        before=$(stat -c %y there/h/all.h); $as \"$1\" repair -C there || exit 95\n\
        [ \"$before\" = \"$(stat -c %y there/h/all.h)\" ] || exit 94; fresh \"$@\"\n";
    let Some(output) = with_mounts("files of somebody else", script) else { return };
    let text = answer(&output);
    assert!(text.contains("repaired: ninja would run 0 of 5 targets, before 5\n"), "{text}");
    assert!(!text.contains("h/all.h"), "{text}");
}

#[test]
fn in_a_folder_of_somebody_else_nothing_is_half_done() {
    let script = "mkdir there; build \"$@\"; age; echo B > there/b.c; chmod 755 there\n\
        need chown -R 65534:65534 there; need chown 0:0 there; chmod 755 .\n\
        as='setpriv --reuid 65534 --regid 65534 --clear-groups'; need $as \"$1\" --version\n\
        look() { find there -type f ! -path '*/.upcheck/*' -exec stat -c '%n %y' {} + | sort; cat there/.ninja_log; }\n\
        before=$(look); $as \"$1\" repair -C there; [ $? = 2 ] || exit 95; [ \"$before\" = \"$(look)\" ] || exit 94\n";
    let Some(output) = with_mounts("a folder of somebody else", script) else { return };
    answer(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("writing '.ninja_log': Permission denied"), "{stderr}");
}

#[test]
fn on_a_full_disk_nothing_is_half_done() {
    let script = "mkdir there; need mount -t tmpfs -o size=400k none there; build \"$@\"; age; echo B > there/b.c\n\
        cat /dev/zero > there/zeros 2>/dev/null\n\
        look() { find there -type f -exec stat -c '%n %y' {} + | sort; cat there/.ninja_log; }\n\
        before=$(look); \"$1\" repair -C there; [ $? = 2 ] || exit 95; [ \"$before\" = \"$(look)\" ] || exit 94\n";
    let Some(output) = with_mounts("a full disk", script) else { return };
    answer(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("writing '.ninja_log': No space left on device"), "{stderr}");
}
