//! Real file systems of other kinds, where this machine lets a test mount them.

use crate::command::upcheck_in;
use crate::{Diagnosis, text};
use serde_json::Value;
use std::process::{Command, Output};
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

/// Where a script does not get what it needs.
const NOT_ALLOWED: i32 = 90;

/// Runs a script in a mount namespace of its own, so that nothing stays mounted. `$1` is the command, and `need` goes
/// before what may not be allowed here. `None`, and said aloud, if this machine does not allow that.
fn with_mounts(space: &Space, what: &str, script: &str) -> Option<Output> {
    let script = format!("need() {{ \"$@\" >&2 || exit {NOT_ALLOWED}; }}\n{script}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(tools::upcheck());
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
fn diagnosis(output: &Output) -> Diagnosis {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    Diagnosis { status: output.status.code().expect("a status"), document, stderr }
}

/// Examines an image of 8 MB that is mounted through a loop device.
fn on_an_image(make: &str, mount: &str) -> Option<Diagnosis> {
    let space = Space::new();
    let script = format!(
        "truncate -s 8M image && mkdir there\nneed {make} image\nneed mount -o loop {mount} image there\n\
         mkdir there/build; need touch -d @1500000000 there/build; before=$(stat -c %Y there/build)\n\
         \"$1\" doctor there/build --format json; status=$?\n\
         [ \"$(ls -A there/build)\" = '' ] && [ \"$(stat -c %Y there/build)\" = \"$before\" ] || exit 91\n\
         umount there; exit $status\n"
    );
    let output = with_mounts(&space, &format!("{make}, mounted {mount}"), &script)?;
    assert_ne!(output.status.code(), Some(91), "the doctor left traces");
    Some(diagnosis(&output))
}

#[test]
fn ext4_with_small_inodes_has_stamps_of_whole_seconds() {
    let Some(diagnosis) = on_an_image("mkfs.ext4 -q -I 128", "-t ext4") else { return };
    assert_eq!(diagnosis.evidence("file-system", "type"), "ext4");
    assert_eq!(diagnosis.evidence("file-system", "magic"), 0xef53);
    assert_eq!(diagnosis.evidence("coarse-stamps", "kept_ns"), 1_000_000_000);
    assert_eq!(diagnosis.warnings(), ["coarse-stamps"], "{:#}", diagnosis.document);
}

#[test]
fn ext4_with_usual_inodes_keeps_nanoseconds() {
    let Some(diagnosis) = on_an_image("mkfs.ext4 -q -I 256", "-t ext4") else { return };
    assert_eq!(diagnosis.evidence("stamps", "kept_ns"), 1);
    assert_eq!((diagnosis.status, diagnosis.warnings()), (0, vec![]));
}

#[test]
fn vfat_has_stamps_of_even_seconds() {
    let Some(diagnosis) = on_an_image("mkfs.vfat", "-t vfat") else { return };
    assert_eq!(diagnosis.evidence("file-system", "type"), "vfat");
    assert_eq!(diagnosis.evidence("coarse-stamps", "kept_ns"), 2_000_000_000_i64);
    assert_eq!(diagnosis.evidence("names", "case_sensitive"), false);
    assert!(diagnosis.evidence("inodes", "links_share").is_null());
}

#[test]
fn layers_are_known_as_such() {
    let space = Space::new();
    space.write("lower/old", "");
    let script = "mkdir upper work both; need mount -t tmpfs none upper; mkdir upper/upper upper/work\n\
        need mount -t overlay -o lowerdir=lower,upperdir=upper/upper,workdir=upper/work none both\n\
        \"$1\" doctor both --format json; status=$?\n[ \"$(ls -A both)\" = old ] || exit 91; exit $status\n";
    let Some(output) = with_mounts(&space, "layers of file systems", script) else { return };
    let diagnosis = diagnosis(&output);
    assert_eq!(diagnosis.evidence("file-system", "type"), "overlay");
    assert_eq!(diagnosis.evidence("file-system", "kind"), "overlay");
    assert!(text(&diagnosis.finding("file-system")["advice"]).contains("lower layer"));
    assert_eq!(diagnosis.evidence("stamps", "kept_ns"), 1);
}

#[test]
fn on_a_read_only_mount_nothing_is_measured_and_the_build_is_examined() {
    let space = Space::new();
    space.write("build.ninja", "rule t\n  command = t\nbuild a: t b\n");
    let script = "need mount --bind . .; need mount -o remount,bind,ro .; cd \"$PWD\"\n\
        \"$1\" doctor --format json\n";
    let Some(output) = with_mounts(&space, "a read-only mount", script) else { return };
    let diagnosis = diagnosis(&output);
    assert_eq!((diagnosis.status, diagnosis.remarks()), (1, vec!["build", "not-measured"]));
    assert_eq!(diagnosis.evidence("file-system", "read_only"), true);
    assert_eq!(diagnosis.evidence("build", "stale"), 1);
    let message = text(&diagnosis.finding("not-measured")["message"]);
    assert!(message.ends_with("': Read-only file system"), "{message}");
}

#[test]
fn leftovers_that_cannot_be_removed_are_a_warning() {
    let space = Space::new();
    // Nobody can take a lock that cannot be written to, so here only an empty folder is known to be left.
    space.write(".upcheck-doctor-12-1700000000000000000/lock", "");
    space.remove(".upcheck-doctor-12-1700000000000000000/lock");
    let script = "need mount --bind . .; need mount -o remount,bind,ro .; cd \"$PWD\"\n\
        \"$1\" doctor --format json\n";
    let Some(output) = with_mounts(&space, "leftovers on a read-only mount", script) else { return };
    let diagnosis = diagnosis(&output);
    assert_eq!(diagnosis.warnings(), ["leftovers", "not-measured"]);
    assert_eq!(diagnosis.evidence("leftovers", "stuck"), 1);
}

#[test]
fn a_disk_that_is_full_in_the_middle_costs_measurements_and_leaves_nothing() {
    let space = Space::new();
    let script = "mkdir there; need mount -t tmpfs -o nr_inodes=30 none there; need mkdir there/build\n\
        \"$1\" doctor there/build --format json; status=$?\n[ \"$(ls -A there/build)\" = '' ] || exit 91; exit $status\n";
    let Some(output) = with_mounts(&space, "a full disk", script) else { return };
    let diagnosis = diagnosis(&output);
    assert_eq!(diagnosis.status, 1);
    assert!(diagnosis.warnings().iter().all(|code| *code == "not-measured"), "{:#}", diagnosis.document);
    let why: Vec<_> = diagnosis.findings().iter().filter(|it| it["code"] == "not-measured").collect();
    assert!(text(&why[0]["message"]).contains(": No space left on device"), "{why:#?}");
}

#[test]
fn a_directory_that_the_user_may_not_write_to_is_not_measured() {
    let space = Space::new();
    let script = format!(
        "chmod 555 .; as=; if touch new 2>/dev/null; then\n\
         rm new; as='setpriv --reuid 65534 --regid 65534 --clear-groups'; fi\n\
         $as \"$1\" --version >&2 || exit {NOT_ALLOWED}\n\
         $as \"$1\" doctor --format json; status=$?; chmod 755 .; exit $status\n"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).arg(tools::upcheck()).current_dir(space.path());
    let output = command.output().expect("sh starts");
    if output.status.code() == Some(NOT_ALLOWED) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        not_tested(&format!("a directory that the user may not write to; {}", stderr.trim()));
        return;
    }
    let diagnosis = diagnosis(&output);
    assert_eq!(diagnosis.warnings(), ["not-measured"]);
    assert!(text(&diagnosis.finding("not-measured")["message"]).ends_with("': Permission denied"));
}

#[test]
fn a_user_namespace_with_few_watches_is_taken_into_account() {
    let space = Space::new();
    space.write("a/b/c", "");
    let mut command = Command::new("unshare");
    let script = format!(
        "echo 2 > /proc/sys/user/max_inotify_watches || exit {NOT_ALLOWED}; \"$1\" doctor --format json"
    );
    command.args(["-Ur", "sh", "-c", &script, "sh"]).arg(tools::upcheck()).current_dir(space.path());
    let output = command.output().expect("unshare starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NOT_ALLOWED) || stderr.starts_with("unshare: ") {
        not_tested(&format!("a user namespace with few watches; {}", stderr.trim()));
        return;
    }
    let diagnosis = diagnosis(&output);
    assert_eq!(diagnosis.warnings(), ["watch-limit"]);
    assert_eq!(diagnosis.evidence("watch-limit", "max_user_watches"), &Value::from(2));
}
