//! What a client asks of a cache, of bazel-remote: small blobs and large ones, many and none, and results.

use super::{bytes_of, client, client_with, read_all};
use std::sync::Barrier;
use std::thread;
use upcheck_reapi::messages::google::{Any, Duration};
use upcheck_reapi::messages::{Action, Command, ExecutedActionMetadata, OutputFile};
use upcheck_reapi::{ActionResult, Blob, Client, Digest, ErrorKind, Options, encode};
use upcheck_tests::bazel_remote::{BazelRemote, Setup};

fn blob(bytes: &[u8]) -> Blob {
    Blob::Bytes { digest: Digest::of(bytes), bytes: bytes.to_owned() }
}

fn store(client: &Client, blobs: &[Blob]) {
    let mut stored = 0;
    client.write_all(blobs, &mut |bytes| stored += bytes).expect("stored");
    assert_eq!(stored, blobs.iter().map(|blob| blob.digest().size).sum::<u64>());
}

#[test]
fn blobs_of_all_sizes_come_back_as_they_were() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    // Around the sizes at which one batch, a batch and a stream, and one part of a stream end.
    let sizes =
        [1, 100, 65_536, (1 << 20) - 1, 3_600_000, 3_670_016, 3_670_017, 4 << 20, 5 << 20, (9 << 20) + 1];
    let mut blobs: Vec<_> = sizes.iter().enumerate().map(|(number, &size)| bytes_of(number, size)).collect();
    blobs.extend((100..1500).map(|number| bytes_of(number, 300)));
    let digests: Vec<_> = blobs.iter().map(|bytes| Digest::of(bytes)).collect();

    assert_eq!(client.find_missing(&digests).expect("an answer"), digests);
    store(&client, &blobs.iter().map(|bytes| blob(bytes)).collect::<Vec<_>>());
    assert_eq!(client.find_missing(&digests).expect("an answer"), []);
    let read = read_all(&client, &digests);
    for (digest, bytes) in digests.iter().zip(&blobs) {
        assert!(matches!(&read[digest], Ok(Some(read)) if read == bytes), "{digest}");
        if digest.size > 1 << 20 {
            let mut read = Vec::new();
            assert!(client.read_into(*digest, &mut read).expect("a stream"));
            assert!(read == *bytes, "{digest}");
        }
    }
}

#[test]
fn what_is_not_there_is_said_not_to_be() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let (small, large) =
        (Digest::of(b"nobody stored this"), Digest { size: 50 << 20, ..Digest::of(b"nor this") });
    let read = read_all(&client, &[small, large, Digest::EMPTY, small]);
    assert!(matches!(read[&small], Ok(None)));
    assert!(matches!(read[&large], Ok(None)));
    assert!(matches!(&read[&Digest::EMPTY], Ok(Some(bytes)) if bytes.is_empty()));
    assert!(!client.read_into(large, &mut Vec::new()).expect("an answer"));
    assert!(client.read_into(Digest::EMPTY, &mut Vec::new()).expect("an answer"));
    assert_eq!(client.find_missing(&[small, small, Digest::EMPTY]).expect("an answer"), [small]);
    assert!(matches!(client.action_results(&[small])[..], [Ok(None)]));
    assert!(client.action_results(&[]).is_empty());
    assert_eq!(client.find_missing(&[]).expect("no question"), []);
    store(&client, &[]);
}

#[test]
fn a_result_comes_back_with_all_that_it_says() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let output = b"what a command made";
    let (command, command_bytes) = encode(&Command { arguments: vec!["cc".into()], ..Command::default() });
    let (root, root_bytes) = encode(&upcheck_reapi::messages::Directory::default());
    let action = Action {
        command_digest: Some(command.to_message()),
        input_root_digest: Some(root.to_message()),
        salt: b"upcheck".to_vec(),
        ..Action::default()
    };
    let (action, action_bytes) = encode(&action);
    let result = ActionResult {
        output_files: vec![OutputFile {
            path: "out/a.o".into(),
            digest: Some(Digest::of(output).to_message()),
            is_executable: true,
            ..OutputFile::default()
        }],
        execution_metadata: Some(ExecutedActionMetadata {
            worker: "upcheck/0.1.0@here".into(),
            auxiliary_metadata: vec![Any { type_url: "type.googleapis.com/x.Y".into(), value: vec![1, 2] }],
            virtual_execution_duration: Some(Duration { seconds: 3, nanos: 4 }),
            ..ExecutedActionMetadata::default()
        }),
        ..ActionResult::default()
    };
    let bytes = [output.to_vec(), command_bytes, root_bytes, action_bytes];
    store(&client, &bytes.iter().map(|bytes| blob(bytes)).collect::<Vec<_>>());
    client.put_action_result(action, &result).expect("stored");
    let other = Digest::of(b"another action");
    let [Ok(Some(found)), Ok(None), Ok(Some(again))] = &client.action_results(&[action, other, action])[..]
    else {
        panic!("three answers, in their order");
    };
    assert_eq!(found, &result);
    assert_eq!(again, &result);
}

#[test]
fn a_file_that_has_changed_is_not_stored() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let folder = tempfile::tempdir().expect("a folder");
    for size in [1000, 6 << 20] {
        let path = folder.path().join("file");
        let bytes = bytes_of(1, size);
        let digest = Digest::of(&bytes);
        let mut longer = bytes.clone();
        longer.push(0);
        let mut other = bytes.clone();
        *other.last_mut().expect("a byte") ^= 1;
        for changed in [&longer[..], &other, &bytes[..size - 1], b""] {
            std::fs::write(&path, changed).expect("a file");
            let error = client.write_all(&[Blob::File { digest, path: path.clone() }], &mut |_| {});
            let error = error.expect_err("changed");
            assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
            assert!(error.to_string().starts_with(&format!("storing {}: ", path.display())), "{error}");
        }
        assert_eq!(client.find_missing(&[digest]).expect("an answer"), [digest]);
        std::fs::write(&path, &bytes).expect("a file");
        store(&client, &[Blob::File { digest, path: path.clone() }]);
        assert_eq!(client.find_missing(&[digest]).expect("an answer"), []);
        std::fs::remove_file(&path).expect("a file");
        let error = client.write_all(&[Blob::File { digest, path }], &mut |_| {}).expect_err("no file");
        assert_eq!(error.kind(), ErrorKind::Local, "{error}");
    }
}

#[test]
fn sixty_thousand_digests_are_more_than_one_request_holds() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let there = bytes_of(7, 10);
    store(&client, &[blob(&there)]);
    let mut digests: Vec<_> = (0..60_000).map(|number| Digest::of(&bytes_of(number, 9))).collect();
    digests.insert(30_000, Digest::of(&there));
    let missing = client.find_missing(&digests).expect("an answer");
    digests.remove(30_000);
    assert_eq!(missing, digests);
}

#[test]
fn capabilities_are_told_and_whoever_may_write_is_told_so() {
    let Some(server) = BazelRemote::start(Setup { ports: true, ..Setup::default() }) else { return };
    let client = client(&format!("{}/some/instance", server.address()));
    let told = client.capabilities().expect("an answer");
    assert!(told.sha256 && told.update_enabled);
    assert_eq!(told.digest_functions, ["SHA256"]);
    assert_eq!(told.max_batch, None);
    assert_eq!(told.versions, Some(("2.0".into(), "2.3".into())));
    assert!(client.may_write().expect("an answer"));
    // With an instance the names of streams are others, too.
    let large = bytes_of(1, 5 << 20);
    store(&client, &[blob(&large)]);
    assert!(
        matches!(&read_all(&client, &[Digest::of(&large)])[&Digest::of(&large)], Ok(Some(read)) if *read == large)
    );
}

#[test]
fn two_publishers_at_once_do_not_disturb_each_other() {
    let Some(server) = BazelRemote::plain() else { return };
    let blobs: Vec<_> =
        (0..400).map(|number| bytes_of(number, if number % 100 == 0 { 5 << 20 } else { 2000 })).collect();
    let begin = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let client = client(&server.address());
                begin.wait();
                store(&client, &blobs.iter().map(|bytes| blob(bytes)).collect::<Vec<_>>());
            });
        }
    });
    let client = client(&server.address());
    let digests: Vec<_> = blobs.iter().map(|bytes| Digest::of(bytes)).collect();
    let read = read_all(&client, &digests);
    assert!(blobs.iter().all(|bytes| matches!(&read[&Digest::of(bytes)], Ok(Some(read)) if read == bytes)));
}

#[test]
fn one_client_is_for_many_threads_and_also_within_another_runtime() {
    let Some(server) = BazelRemote::plain() else { return };
    let client = client_with(&server.address(), Options { max_in_flight: 3, ..Options::default() });
    store(&client, &[blob(b"shared")]);
    let ask = || {
        let digest = Digest::of(b"shared");
        assert_eq!(client.find_missing(&[digest]).expect("an answer"), []);
        assert!(matches!(&read_all(&client, &[digest])[&digest], Ok(Some(bytes)) if bytes == b"shared"));
        assert_eq!(
            client.action_results(&[digest; 100]).iter().filter(|result| matches!(result, Ok(None))).count(),
            100
        );
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(ask);
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async { ask() });
    let _ = runtime.enter();
    drop(client);
}
