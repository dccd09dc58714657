//! The most dangerous things, done to real files without waiting: on the disk of temporary files, and where this machine
//! lets a test mount them, on file systems of other kinds.

use crate::describe::{Desc, Process, lines};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use upcheck::Policy;
use upcheck::collect::os_disk;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;

/// The directory on which [`dangers_on_this_disk`] is to work, if not that of temporary files.
const GROUND: &str = "UPCHECK_GROUND";
/// Where a script does not get what it needs.
const NOT_ALLOWED: i32 = 90;
/// How often what depends on the moment is tried.
const TIMES: usize = 12;

const RECORDED: [Policy; 5] = [
    Policy::Mtime,
    Policy::Digest,
    Policy::MtimeAndDigest,
    Policy::MtimeAndDigestInput,
    Policy::MtimeOrDigest,
];

/// A directory in which `out` is made from `in`.
struct Place {
    dir: TempDir,
    desc: Desc,
}

impl Place {
    fn new(ground: &Path, policy: Policy) -> Self {
        let place = Self {
            dir: TempDir::new_in(ground).expect("a directory"),
            desc: Desc::new("out", &["in"]).policy(policy),
        };
        place.write("in", "one");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("written");
    }

    fn process(&self) -> Process {
        Process::new(std::slice::from_ref(&self.desc))
    }

    /// Builds `out`, and lets something happen before and after the command.
    fn build(&self, before: impl FnOnce(), after: impl FnOnce()) -> bool {
        let disk = os_disk(self.dir.path()).expect("a disk");
        let running = self.process().begin(&disk, &self.path("store"), &["out"]);
        before();
        let content = fs::read(self.path("in")).expect("read");
        fs::write(self.path("out"), content).expect("written");
        after();
        running.commit(&disk)
    }

    fn stale(&self) -> Vec<String> {
        let disk = os_disk(self.dir.path()).expect("a disk");
        lines(&self.process().check(&disk, &self.path("store")))
    }

    /// A command line in the directory.
    fn sh(&self, script: &str) {
        let mut command = Command::new("sh");
        let status = command.args(["-ec", script]).current_dir(self.dir.path()).status().expect("sh starts");
        assert!(status.success(), "{script}");
    }
}

fn edit_right_after_the_build(ground: &Path, policy: Policy) {
    for time in 0..TIMES {
        let place = Place::new(ground, policy);
        assert!(place.build(|| {}, || {}));
        assert_eq!(place.stale(), [""; 0], "{policy:?} {time}");
        place.write("in", "two");
        assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?} {time}");
        assert!(place.build(|| {}, || {}));
        assert_eq!(place.stale(), [""; 0], "{policy:?} {time}");
        place.write("out", "BY!");
        assert_eq!(place.stale(), ["out: output-changed out"], "{policy:?} {time}");
    }
}

fn edit_during_the_build(ground: &Path, policy: Policy) {
    for time in 0..TIMES {
        let place = Place::new(ground, policy);
        place.build(|| place.write("in", "two"), || {});
        assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?} {time}, before it is read");
        place.build(|| {}, || place.write("in", "six"));
        assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?} {time}, after it was read");
    }
}

/// Put back as it was, in another file, while the command runs: only where stamps are coarse it can look the same.
fn edit_and_put_back_during_the_build(ground: &Path, policy: Policy) {
    for time in 0..TIMES {
        let place = Place::new(ground, policy);
        place.sh("cp -p in kept");
        place.build(|| place.write("in", "two"), || place.sh("mv kept in"));
        assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?} {time}");
    }
}

fn edit_with_the_time_put_back(ground: &Path, policy: Policy) {
    let place = Place::new(ground, policy);
    place.sh("touch -d 2020-01-01T00:00:00.5 in");
    assert!(place.build(|| {}, || {}));
    assert_eq!(place.stale(), [""; 0], "{policy:?}");
    place.sh("touch -r in stamp; printf two > in; touch -r stamp in");
    // Only by its stamp, the file is the same, unless that proves nothing.
    if policy != Policy::Mtime {
        assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?}");
    }
}

fn an_older_file_of_the_same_size_and_time(ground: &Path, policy: Policy) {
    let place = Place::new(ground, policy);
    place.sh("printf two > older; touch -d 2020-01-01 in older");
    assert!(place.build(|| {}, || {}));
    assert_eq!(place.stale(), [""; 0], "{policy:?}");
    place.sh("mv older in");
    assert_eq!(place.stale(), ["out: input-changed in"], "{policy:?}");
}

/// What is restored from an archive has another inode and another status, and perhaps no fractions of seconds.
fn restored_from_an_archive(ground: &Path, policy: Policy) {
    for format in ["ustar", "pax"] {
        let place = Place::new(ground, policy);
        assert!(place.build(|| {}, || {}));
        // Something else takes the inodes first.
        place.sh(&format!(
            "tar --format={format} -cf all.tar in out; rm in out; : > x; : > y; tar -xpf all.tar"
        ));
        let expected: &[&str] = match policy {
            Policy::Digest | Policy::MtimeAndDigest => &[],
            Policy::MtimeAndDigestInput => &["out: output-changed out"],
            _ => &["out: input-changed in, output-changed out"],
        };
        assert_eq!(place.stale(), expected, "{policy:?} {format}");
        place.sh("touch -r in stamp; printf two > in; touch -r stamp in");
        assert!(place.stale()[0].contains("input-changed in"), "{policy:?} {format}");
    }
}

/// On layers, a file of the lower one becomes another file when it is first changed.
fn copied_up(ground: &Path, policy: Policy) {
    let below = ground.join(format!("below-{}", policy.name()));
    if !below.exists() {
        return;
    }
    let place = Place::new(ground, policy);
    let name = format!("../{}", below.file_name().expect("a name").to_string_lossy());
    let mut desc = place.desc.clone();
    desc.implicit = vec![name.clone()];
    let place = Place { desc, ..place };
    assert!(place.build(|| {}, || {}));
    assert_eq!(place.stale(), [""; 0], "{policy:?}");
    place.sh(&format!("chmod u+x {name}"));
    if policy.of_inputs().forgives() {
        assert_eq!(place.stale(), [""; 0], "{policy:?}");
    }
    place.sh(&format!("touch -r {name} stamp; printf two > {name}; touch -r stamp {name}"));
    if policy != Policy::Mtime {
        assert_eq!(place.stale(), [format!("out: input-changed {name}")], "{policy:?}");
    }
}

#[test]
fn dangers_on_this_disk() {
    let ground = std::env::var_os(GROUND).map_or_else(std::env::temp_dir, PathBuf::from);
    for policy in RECORDED {
        for danger in [
            edit_right_after_the_build,
            edit_during_the_build,
            edit_and_put_back_during_the_build,
            edit_with_the_time_put_back,
            an_older_file_of_the_same_size_and_time,
            restored_from_an_archive,
            copied_up,
        ] {
            danger(&ground, policy);
        }
    }
}

/// Does the same in a mount namespace of its own: `mount` makes the directory `there` one of another file system.
fn dangers_on(what: &str, mount: &str) {
    let space = Space::new();
    let script = format!(
        "need() {{ \"$@\" >&2 || exit {NOT_ALLOWED}; }}\nmkdir there\n{mount}\n\
         {GROUND}=\"$PWD/there\" \"$1\" --exact disks::dangers_on_this_disk >&2"
    );
    let test = std::env::current_exe().expect("a running test has a path");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(test).current_dir(space.path());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return not_tested(&format!("records on {what}; starting unshare: {error}")),
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NOT_ALLOWED) || stderr.starts_with("unshare: ") {
        return not_tested(&format!("records on {what}; {}", stderr.trim()));
    }
    assert!(output.status.success() && stderr.contains("1 passed"), "{what}:\n{stderr}");
}

#[test]
fn dangers_in_memory() {
    dangers_on("tmpfs", "need mount -t tmpfs none there");
}

#[test]
fn dangers_where_stamps_are_whole_seconds() {
    dangers_on(
        "ext4 with small inodes",
        "truncate -s 16M image; need mkfs.ext4 -q -I 128 image; need mount -o loop -t ext4 image there",
    );
}

#[test]
fn dangers_where_stamps_are_even_seconds() {
    dangers_on("vfat", "truncate -s 16M image; need mkfs.vfat image; need mount -o loop -t vfat image there");
}

#[test]
fn dangers_on_layers() {
    dangers_on(
        "layers of file systems",
        "mkdir lower upper; for policy in mtime digest mtime-and-digest mtime-and-digest-input mtime-or-digest\n\
         do printf one > lower/below-$policy; touch -d 2020-01-01 lower/below-$policy; done\n\
         need mount -t tmpfs none upper; mkdir upper/upper upper/work\n\
         need mount -t overlay -o lowerdir=lower,upperdir=upper/upper,workdir=upper/work none there",
    );
}
