//! `upcheck remote doctor` and `upcheck remote show`.

use super::client;
use serde_json::Value;
use std::process::{Command, Output};
use upcheck_reapi::messages::{self, Action, OutputFile};
use upcheck_reapi::{ActionResult, Blob, Digest, Message, encode};
use upcheck_tests::bazel_remote::{BazelRemote, Setup};
use upcheck_tests::strict_cache::StrictCache;
use upcheck_tests::tools::upcheck;

pub(super) fn remote(args: &[&str]) -> Output {
    let mut command = Command::new(upcheck());
    // The machine may have other things to do.
    command
        .arg("remote")
        .args(args)
        .args(["--remote-timeout", "300"])
        .env_remove("UPCHECK_REMOTE")
        .env("NO_COLOR", "1");
    command.output().expect("upcheck starts")
}

#[track_caller]
fn text(output: &Output, status: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    format!("{}{stderr}", String::from_utf8_lossy(&output.stdout))
}

#[track_caller]
pub(super) fn json(output: &Output, status: i32) -> Value {
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn names(doctor: &Value, found: &str) -> Vec<String> {
    let steps = doctor["steps"].as_array().expect("steps").iter();
    steps
        .filter(|step| step["found"] == found)
        .map(|step| step["name"].as_str().expect("a name").into())
        .collect()
}

const ALL: [&str; 6] = ["connection", "credentials", "capabilities", "write", "round-trip", "large-request"];

#[test]
fn a_cache_that_works_is_found_to_work() {
    let cache = StrictCache::start();
    let said = json(&remote(&["doctor", &cache.address(), "--format", "json"]), 0);
    assert_eq!(names(&said, "good"), ALL);
    assert_eq!(said["address"], cache.address());
    assert!(cache.blobs().is_empty() && cache.complaints().is_empty(), "nothing was stored");
    let Some(server) = BazelRemote::plain() else { return };
    let said = text(&remote(&["doctor", "--remote", &server.address()]), 0);
    assert!(said.starts_with("unix:///"), "{said}");
    assert!(said.contains("SHA256; API 2.0 to 2.3; no limit for batches is told"), "{said}");
    assert!(said.contains("20000 digests in "), "{said}");
}

#[test]
fn what_does_not_work_is_the_last_step_and_no_password_is_shown() {
    // Built before the server is started, which ends by itself when nobody asks it for minutes.
    let _ = upcheck();
    let Some(server) = BazelRemote::start(Setup { ports: true, ..Setup::default() }) else { return };
    let http = server.http_address().replace("grpc://", "grpc://me:s3cret@");
    let said = text(&remote(&["doctor", &http]), 2);
    assert!(
        said.contains("bad        connection") && said.contains("is it the server's HTTP port"),
        "{said}"
    );
    let tls = server.tls_address().replace("grpcs://", "grpcs://me:s3cret@");
    let said = text(&remote(&["doctor", &tls]), 2);
    assert!(said.contains("bad        tls"), "{said}");
    let nobody = text(&remote(&["doctor", "unix:///no/such.sock"]), 2);
    assert!(nobody.contains("there is no such socket"), "{nobody}");
    for wrong in ["grpc://me:s3cret@cache", "http://me:s3cret@cache:1", "grpc://me:s3cret@cache.invalid:1"] {
        let said = text(&remote(&["doctor", wrong]), 2);
        assert!(!said.contains("s3cret"), "{said}");
    }
    let said = text(&remote(&["doctor", &server.address(), "--remote-header", "authorization=s3cret"]), 2);
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn what_is_there_is_shown_as_what_it_is() {
    let cache = StrictCache::start();
    let client = client(&cache.address());
    let command = messages::Command {
        arguments: vec!["cc".into(), "-c\u{1b}[2J".into()],
        output_paths: vec!["a.o".into()],
        working_directory: "build".into(),
        ..messages::Command::default()
    };
    let (command_digest, command) = encode(&command);
    let root = encode(&messages::Directory::default()).0;
    let action = Action {
        command_digest: Some(command_digest.to_message()),
        input_root_digest: Some(root.to_message()),
        salt: b"grain".to_vec(),
        ..Action::default()
    };
    let (action_digest, action) = encode(&action);
    for bytes in [command, action, b"output".to_vec()] {
        client.write_all(&[Blob::Bytes { digest: Digest::of(&bytes), bytes }], &mut |_| {}).expect("stored");
    }
    let output = Digest::of(b"output");
    let file =
        OutputFile { path: "../a.o".into(), digest: Some(output.to_message()), ..OutputFile::default() };
    let result = ActionResult { output_files: vec![file], ..ActionResult::default() };
    client.put_action_result(action_digest, &result).expect("stored");

    let show = |digest: Digest, more: &[&str]| {
        let digest = digest.to_string();
        remote(&[&["show", "--remote", &cache.address(), &digest], more].concat())
    };
    let said = text(&show(action_digest, &[]), 0);
    assert!(said.contains(&format!("action\n  command  {command_digest}\n")), "{said}");
    assert!(said.contains("  salt  grain\n") && said.contains("result\n"), "{said}");
    assert!(said.contains(&format!("  files  ../a.o  {output}\n")), "{said}");
    let said = text(&show(command_digest, &[]), 0);
    assert!(said.contains("command\n  arguments  cc\n  arguments  -c\\u{1b}[2J\n"), "{said}");
    let said = json(&show(command_digest, &["--format", "json"]), 0);
    assert_eq!(said["command"]["arguments"][0], "cc");
    assert_eq!(text(&show(output, &[]), 0), "blob\n  size  6\n");
    assert_eq!(text(&show(Digest::of(b"nothing"), &[]), 1), "nothing is there\n");
    let said = text(&show(output, &["--as", "action"]), 2);
    assert!(said.contains("it is no action"), "{said}");
    // A blob that is no message is not even read as one that it could be.
    assert!(messages::Command::decode(&b"output"[..]).is_err());
}
