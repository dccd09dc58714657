//! A cache loses things: blobs that were thrown out, before or after they were asked about, damaged ones, and servers that are
//! killed in the middle.

use super::{bytes_of, client, read_all};
use std::io::{self, Write};
use upcheck_reapi::messages::OutputFile;
use upcheck_reapi::{ActionResult, Blob, Client, Digest, ErrorKind};
use upcheck_tests::bazel_remote::{BazelRemote, Setup};

/// An action with one output.
fn publish(client: &Client, output: &[u8]) -> (Digest, Digest) {
    let (action, output_digest) = (Digest::of(b"an action"), Digest::of(output));
    client
        .write_all(&[Blob::Bytes { digest: output_digest, bytes: output.to_owned() }], &mut |_| {})
        .expect("stored");
    let file =
        OutputFile { path: "a".into(), digest: Some(output_digest.to_message()), ..OutputFile::default() };
    client
        .put_action_result(action, &ActionResult { output_files: vec![file], ..ActionResult::default() })
        .expect("stored");
    (action, output_digest)
}

fn remove(server: &BazelRemote, digest: Digest) {
    let files = server.files_of(&digest.hex());
    assert_eq!(files.len(), 1);
    files.iter().for_each(|file| std::fs::remove_file(file).expect("a file"));
}

#[test]
fn what_was_thrown_out_is_no_hit() {
    let Some(mut server) = BazelRemote::plain() else { return };
    let (action, output) = publish(&client(&server.address()), b"output");
    server.stop();
    remove(&server, output);
    server.start_again();
    let client = client(&server.address());
    assert!(matches!(client.action_results(&[action])[..], [Ok(None)]));
    assert_eq!(client.find_missing(&[output]).expect("an answer"), [output]);
}

#[test]
fn what_is_gone_after_the_hit_is_not_there_and_no_error() {
    for size in [100, 6 << 20] {
        let Some(server) = BazelRemote::plain() else { return };
        let client = client(&server.address());
        let (action, output) = publish(&client, &bytes_of(1, size));
        remove(&server, output);
        assert!(
            matches!(client.action_results(&[action])[..], [Ok(Some(_))]),
            "the server does not know yet"
        );
        assert!(matches!(read_all(&client, &[output])[&output], Ok(None)));
        assert!(!client.read_into(output, &mut Vec::new()).expect("an answer"));
    }
}

#[test]
fn a_flipped_byte_is_never_handed_on() {
    for uncompressed in [true, false] {
        for size in [100, 6 << 20] {
            let Some(server) = BazelRemote::start(Setup { uncompressed, ..Setup::default() }) else { return };
            let client = client(&server.address());
            let (_, output) = publish(&client, &bytes_of(1, size));
            let file = server.files_of(&output.hex()).pop().expect("a file");
            let mut bytes = std::fs::read(&file).expect("a file");
            let last = bytes.len() - 20;
            bytes[last] ^= 0x10;
            std::fs::write(&file, bytes).expect("a file");
            let read =
                read_all(&client, &[output]).remove(&output).expect("an answer").map(|bytes| bytes.is_some());
            let streamed = client.read_into(output, &mut Vec::new());
            // A server that compresses sees the damage itself: it says so, ends early, or throws the blob out.
            for answer in [read, streamed] {
                match answer {
                    Ok(found) => assert!(!found && !uncompressed, "a damaged blob was handed on"),
                    Err(error) => assert!(error.kind() == ErrorKind::Corrupt || !uncompressed, "{error}"),
                }
            }
        }
    }
}

/// Kills a server when the first bytes come.
struct Killer<'a>(&'a mut BazelRemote);

impl Write for Killer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.kill();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_server_that_is_killed_while_it_sends_is_an_error() {
    let Some(mut server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let (action, output) = publish(&client, &bytes_of(1, 100 << 20));
    let error = client.read_into(output, &mut Killer(&mut server)).expect_err("killed");
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    let results = client.action_results(&[action; 100]);
    assert!(
        results.iter().all(|result| matches!(result, Err(error) if error.kind() == ErrorKind::Unreachable))
    );
}

/// Kills a server when the first bytes come, and starts it again.
struct Restarter<'a> {
    server: &'a mut BazelRemote,
    received: Vec<u8>,
}

impl Write for Restarter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.received.is_empty() {
            self.server.kill();
            self.server.start_again();
        }
        self.received.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_server_that_is_restarted_while_it_sends_goes_on_where_it_broke_off() {
    let Some(mut server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let bytes = bytes_of(1, 100 << 20);
    let (action, output) = publish(&client, &bytes);
    let mut to = Restarter { server: &mut server, received: Vec::new() };
    assert!(client.read_into(output, &mut to).expect("read in two pieces"));
    assert!(to.received == bytes);
    assert!(matches!(client.action_results(&[action])[..], [Ok(Some(_))]));
}

#[test]
fn a_server_that_is_killed_while_it_is_sent_something_has_no_half_that_is_believed() {
    let Some(mut server) = BazelRemote::plain() else { return };
    let first = client(&server.address());
    let bytes = bytes_of(1, 100 << 20);
    let digest = Digest::of(&bytes);
    let mut told = 0;
    let stored = first.write_all(&[Blob::Bytes { digest, bytes }], &mut |bytes| {
        if told == 0 {
            server.kill();
        }
        told += bytes;
    });
    let error = stored.expect_err("killed");
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    server.start_again();
    // The same client: it connects anew. Whatever the server says now, and bazel-remote may say that it has a blob of which it
    // has written only the beginning, half of it is not taken for all.
    first.find_missing(&[digest]).expect("an answer");
    assert!(!matches!(first.read_into(digest, &mut io::sink()), Ok(true)), "half a blob was handed on");
}

#[test]
fn a_server_that_is_restarted_between_questions_is_not_noticed() {
    let Some(mut server) = BazelRemote::plain() else { return };
    let client = client(&server.address());
    let (action, _) = publish(&client, b"output");
    for kill in [true, false] {
        if kill {
            server.kill()
        } else {
            server.stop()
        }
        server.start_again();
        assert!(client.action_results(&[action; 300]).iter().all(|result| matches!(result, Ok(Some(_)))));
    }
}
