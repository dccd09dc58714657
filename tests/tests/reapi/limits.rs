//! Nothing takes longer than it may: all questions together, however much comes from the server, and credentials that expire.

use super::client_with;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use upcheck_reapi::messages::rpc;
use upcheck_reapi::{ActionResult, Blob, Client, Digest, Error, ErrorKind, Options};
use upcheck_tests::grpc_server::{End, GrpcServer, Reply, capabilities};
use upcheck_tests::strict_cache::StrictCache;

/// A client that would wait for ever for a server that goes on, were it not for the time for all.
fn limited(server: &GrpcServer) -> Client {
    let options = Options { total_timeout: Some(Duration::from_millis(300)), ..Options::default() };
    client_with(&server.address(), options)
}

#[track_caller]
fn is_over(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Stalled, "{error}");
    assert_eq!(error.cause(), "all that was asked of it has taken more than 0.3 s", "{error}");
}

#[test]
fn a_blob_that_trickles_in_is_given_up_and_nothing_is_asked_after_it() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = GrpcServer::start(move |method, _| match method {
        "GetCapabilities" => Reply::of(&capabilities()),
        "Read" => {
            let part = rpc::ReadResponse { data: b"x".to_vec().into() };
            let message = upcheck_reapi::Message::encode_to_vec(&part);
            Reply { messages: Vec::new(), end: End::Endless(message) }
        }
        _ => {
            count.fetch_add(1, Ordering::Relaxed);
            Reply::of(&rpc::FindMissingBlobsResponse::default())
        }
    });
    let client = limited(&server);
    // At some bytes for each part this would take days.
    let endless = Digest { size: 1 << 40, ..Digest::of(b"endless") };
    is_over(&client.read_into(endless, &mut std::io::sink()).expect_err("it has no end"));
    is_over(&client.find_missing(&[Digest::of(b"x")]).expect_err("it is over"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_server_that_takes_no_more_of_a_blob_is_given_up() {
    let server = GrpcServer::start(|method, _| match method {
        "GetCapabilities" => Reply::of(&capabilities()),
        _ => Reply { messages: Vec::new(), end: End::Silence },
    });
    let bytes = vec![1; 5 << 20];
    let blob = Blob::Bytes { digest: Digest::of(&bytes), bytes };
    is_over(&limited(&server).write_all(&[blob], &mut |_| {}).expect_err("it says nothing"));
}

#[test]
fn many_answers_that_come_one_by_one_end_when_the_time_for_all_is_over() {
    // Each answer makes the next question, so that there is no end to them.
    let server = GrpcServer::start(|method, _| match method {
        "GetCapabilities" => Reply::of(&capabilities()),
        _ => Reply::of(&ActionResult { exit_code: 1, ..ActionResult::default() }),
    });
    let client = limited(&server);
    let error = loop {
        if let Err(error) = client.action_results(&[Digest::of(b"x")]).remove(0) {
            break error;
        }
    };
    is_over(&error);
}

/// A helper that counts in a file how often it was asked, and says when what it says expires.
fn helper(folder: &Path, expires: &str) -> Options {
    let (path, count) = (folder.join("helper"), folder.join("count"));
    let script = format!(
        "#!/bin/sh\necho asked >> {}\necho '{{\"headers\":{{\"x\":[\"y\"]}},\"expires\":\"{expires}\"}}'\n",
        count.display()
    );
    std::fs::write(&path, script).expect("a script");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
    let long = Duration::from_secs(600);
    Options { credential_helper: Some(path), helper_timeout: long, ..Options::default() }
}

#[test]
fn a_helper_is_asked_again_when_what_it_said_has_expired_and_not_before() {
    let cache = StrictCache::start();
    for (expires, expected) in [("2000-01-01T00:00:00Z", 3), ("9000-01-01T00:00:00Z", 1)] {
        let folder = tempfile::tempdir().expect("a folder");
        let client = client_with(&cache.address(), helper(folder.path(), expires));
        for _ in 0..3 {
            client.find_missing(&[Digest::of(b"x")]).expect("an answer");
        }
        let asked = std::fs::read_to_string(folder.path().join("count")).expect("it was asked");
        assert_eq!(asked.lines().count(), expected, "{expires}");
    }
}
