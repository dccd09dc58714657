//! Another user can neither ask a daemon, nor read what it says, nor end it. To be another user takes root.

use crate::User;
use crate::command::spaces::program;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use upcheck_tests::tools;

/// Runs something as a user who owns nothing here; `None` where this user may not do so.
fn as_nobody(program: &Path) -> Option<Command> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    let may = command.arg("true").output().is_ok_and(|output| output.status.success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(program).current_dir("/");
    may.then_some(command)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn open_for_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
}

#[test]
#[expect(clippy::print_stderr, reason = "it says what was left out")]
fn a_stranger_gets_nothing_even_where_the_folder_lets_him_in() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let pid = user.pid();
    // A stranger may be able to run neither what lies in a private home.
    let upcheck = user.folder().parent().expect("a folder").join("upcheck-for-all");
    std::fs::copy(tools::upcheck(), &upcheck).expect("a copy");
    let Some(mut status) = as_nobody(&upcheck) else {
        eprintln!("not root: nobody was another user");
        return;
    };
    for folder in upcheck.ancestors().skip(1).take(2) {
        open_for_all(folder, 0o755);
    }
    user.be(status.args(["watch", "status"]));
    let said = text(&status.output().expect("setpriv starts"));
    assert!(said.contains("Permission denied") || said.contains("only its user can look into"), "{said}");

    // What if the folder were open? The other end is asked who he is.
    open_for_all(&user.folder(), 0o755);
    open_for_all(&user.folder().join("socket"), 0o777);
    let script = "my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; my $n = sysread($s, my $said, 100);\n\
                  print 'got ', $n // 'an error', qq{\\n};";
    let mut perl = as_nobody(Path::new("perl")).expect("it could a moment ago");
    perl.args(["-MIO::Socket::UNIX", "-e", script]).arg(user.folder().join("socket"));
    let said = text(&perl.output().expect("setpriv starts"));
    assert!(said.contains("got 0") || said.contains("got an error"), "{said}");
    open_for_all(&user.folder(), 0o700);
    open_for_all(&user.folder().join("socket"), 0o600);
    let status = user.status().expect("it runs");
    assert_eq!((&status["pid"], &status["strangers"]), (&pid.into(), &1.into()), "{status}");
}
