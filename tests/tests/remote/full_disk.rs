//! A disk without room for what is restored, where this machine lets a test mount one.

use super::Checkout;
use super::command::upcheck_in;
use std::process::{Command, Stdio};
use upcheck_tests::aloud::not_tested;
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::{self, Ninja};

/// Where a script does not get what it needs.
const NOT_ALLOWED: i32 = 90;

const MANIFEST: &str = "\
rule cat
  command = cat $in > $out
rule cc
  command = cp $in $out && echo \"$out: $in\" > $out.d
  depfile = $out.d
  deps = gcc
build a: cc @/src/a
build b: cc @/src/b
build c: cat a b
";

/// Leaves more and more room, from none to enough. What is there after a restore is right, or ninja makes it.
const SCRIPT: &str = "\
need() { \"$@\" >&2 || exit 90; }
mkdir there; need mount -t tmpfs -o size=1M none there; cp -r \"$4/src\" there; mkdir there/build
sed \"s,$4/,$PWD/there/,g\" \"$4/build/build.ninja\" > there/build/build.ninja
for room in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 30 40; do
  rm -f there/zeros there/room there/build/[abc] there/build/.ninja_*
  dd if=/dev/zero of=there/room bs=4k count=$room status=none
  cat /dev/zero > there/zeros 2> /dev/null; rm there/room
  \"$1\" restore -C there/build --ninja-version 1.13 --remote \"$3\" > said 2>&1; status=$?
  [ $status -le 2 ] || exit 91
  [ -z \"$(find there -name '.upcheck-*')\" ] || exit 92
  rm there/zeros; \"$2\" -C there/build -n -v > listed || exit 93
  for output in a b c; do
    cmp -s there/build/$output \"$4/build/$output\" || grep -q \"[ >] *$output\\( \\|$\\)\" listed || exit 94
  done
  grep -q 'no work to do' listed && is_fresh=yes || is_fresh=no
  echo \"$status $is_fresh $(grep -c 'No space left on device' said)\"
  \"$2\" -C there/build > /dev/null || exit 95
  for output in a b c; do cmp there/build/$output \"$4/build/$output\" || exit 96; done
done
";

#[test]
fn on_a_full_disk_what_is_there_is_right_or_stale_and_the_rest_is_told() {
    let (a, b) = ("a".repeat(30_000), "b".repeat(12_000));
    let one = Checkout::with(Ninja::V1_13, MANIFEST, &[("src/a", &a), ("src/b", &b)]);
    one.build_twice();
    let Some(server) = BazelRemote::plain() else { return };
    let said = one.publish(&server.address());
    assert!(said.starts_with("3 targets uploaded"), "{said}");
    let place = tempfile::tempdir().expect("a directory");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT, "sh"]).arg(tools::upcheck()).arg(Ninja::V1_13.path());
    command.arg(server.address()).arg(one.space.path().canonicalize().expect("a path"));
    for (name, value) in upcheck_in(place.path()).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let ran = match command.current_dir(place.path()).stdin(Stdio::null()).output() {
        Ok(ran) => ran,
        Err(error) => return not_tested(&format!("a full disk; starting unshare: {error}")),
    };
    let stderr = String::from_utf8_lossy(&ran.stderr);
    if ran.status.code() == Some(NOT_ALLOWED) || stderr.starts_with("unshare: ") {
        return not_tested(&format!("a full disk; {}", stderr.trim()));
    }
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let said = std::fs::read_to_string(place.path().join("said")).unwrap_or_default();
    assert!(ran.status.success(), "{}: {stdout}{stderr}{said}", ran.status);
    let lines: Vec<&str> = stdout.lines().collect();
    for line in &lines {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0] == "0", words[1] == "yes", "fresh is what it says: {line}");
        assert_eq!(words[0] == "0", words[2] == "0", "it says what was missing: {line}");
    }
    assert_eq!(lines.last(), Some(&"0 yes 0"), "in the end there is room: {stdout}");
    assert!(lines.iter().any(|line| line.starts_with("1 no")), "some were left: {stdout}");
}
