//! What is put into a cache, by the letter of the specification and in the eyes of others; and caches that do not answer.

use super::{Checkout, words};
use std::process::Command;
use upcheck_reapi::Message;
use upcheck_reapi::messages::{Action, Command as RemoteCommand, Directory};
use upcheck_tests::bazel_remote::{BazelRemote, program};
use upcheck_tests::grpc_server::{End, GrpcServer, Reply, capabilities};
use upcheck_tests::strict_cache::StrictCache;
use upcheck_tests::tools::Ninja;

#[test]
fn a_cache_that_goes_by_the_letter_has_nothing_to_complain_of() {
    let one = Checkout::built(Ninja::V1_13);
    let two = Checkout::new(Ninja::V1_13);
    let cache = StrictCache::start();
    let address = &cache.address();
    one.upcheck(&["snapshot", "push", "--remote", address]).answer(0);
    let all =
        words([("obj/a.o", "cached"), ("obj/b.o", "cached"), ("prog", "cached"), ("words.txt", "cached")]);
    assert_eq!(two.remote(address, &[]), all);
    two.upcheck(&["snapshot", "pull", "--remote", address]).answer(1);
    let said = two.restore(address).answer(0);
    assert!(said.starts_with("4 targets restored ("), "{said}");
    assert_eq!(two.ninja_would_make(), [""; 0]);
    assert_eq!(cache.complaints(), [""; 0]);
    // Two keys each for two of four targets, and the snapshot's.
    assert_eq!(cache.results().len(), 7);
}

#[test]
fn a_snapshot_takes_one_question_for_all_results() {
    let one = Checkout::built(Ninja::V1_13);
    let two = Checkout::new(Ninja::V1_13);
    let cache = StrictCache::start();
    let address = &cache.address();
    one.upcheck(&["snapshot", "push", "--remote", address]).answer(0);
    let count = || {
        let requests = cache.requests();
        let of = |end: &str| {
            requests.iter().filter(|(method, _)| method.ends_with(end)).map(|(_, n)| *n).sum::<usize>()
        };
        [of("GetActionResult"), of("FindMissingBlobs")]
    };
    let before = count();
    two.upcheck(&["snapshot", "pull", "--remote", address]).answer(1);
    let after = count();
    let asked = [after[0] - before[0], after[1] - before[1]];
    // No question is about a target but by a key that nobody has published: what is known here of discovered inputs is none.
    assert_eq!(asked, [1, 1], "results and presence");
}

#[test]
fn everybody_else_can_read_what_is_published() {
    let Some(remotetool) = program("remotetool") else { return };
    let one = Checkout::built(Ninja::V1_13);
    let Some(server) = BazelRemote::start(upcheck_tests::bazel_remote::Setup {
        ports: true,
        ..upcheck_tests::bazel_remote::Setup::default()
    }) else {
        return;
    };
    let address = &server.address();
    one.publish(address);
    let two = Checkout::new(Ninja::V1_13);
    let actions = two.actions(address);
    assert_eq!(actions.len(), 4);
    let service = address.trim_start_matches("grpc://");
    let ask = |operation: &str, more: &[&str]| {
        let mut command = Command::new(&remotetool);
        command.args(["-service", service, "-instance", "", "-service_no_security", "-operation", operation]);
        let output = command.args(more).output().expect("it starts");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{operation}: {text:?}");
        text.concat()
    };
    let folder = tempfile::tempdir().expect("a folder");
    for (target, action) in &actions {
        let digest = action.to_string();
        let said = ask("show_action", &["-digest", &digest]);
        assert!(said.contains("/bin/sh -c"), "{target}: {said}");
        let source = if target.starts_with("obj/") { "src/all.h" } else { "" };
        assert!(said.contains(source), "{target}: {said}");
        let to = folder.path().join(target.replace('/', "-"));
        ask("download_action_result", &["-digest", &digest, "-path", &to.display().to_string()]);
        let found = find(&to, target);
        assert_eq!(found, one.space.read(&format!("build/{target}")), "{target}");
    }
}

/// The content of an output below a folder, whatever directory it was put into.
fn find(folder: &std::path::Path, output: &str) -> Vec<u8> {
    let mut left = vec![folder.to_owned()];
    while let Some(directory) = left.pop() {
        let place = directory.join(output);
        if place.is_file() {
            return std::fs::read(place).expect("a file");
        }
        let entries =
            std::fs::read_dir(&directory).expect("a folder").map(|entry| entry.expect("an entry").path());
        left.extend(entries.filter(|path| path.is_dir()));
    }
    panic!("{output} is not in {}", folder.display())
}

#[test]
fn messages_are_canonical() {
    let one = Checkout::built(Ninja::V1_13);
    let cache = StrictCache::start();
    one.publish(&cache.address());
    let blobs = cache.blobs();
    for action in cache.results().keys() {
        let bytes = &blobs[action];
        let message = Action::decode(&bytes[..]).expect("an action");
        assert_eq!(&message.encode_to_vec(), bytes);
        let of = |digest: &Option<upcheck_reapi::messages::Digest>| {
            let digest =
                upcheck_reapi::Digest::from_message(digest.as_ref().expect("a digest")).expect("a digest");
            // Everybody has the blob without a byte: a directory with nothing in it.
            if digest == upcheck_reapi::Digest::EMPTY { Vec::new() } else { blobs[&digest].clone() }
        };
        let command = of(&message.command_digest);
        let command = RemoteCommand::decode(&command[..]).expect("a command");
        assert!(command.output_paths.is_sorted() && command.environment_variables.is_empty(), "{command:?}");
        let path = one.space.path().to_string_lossy().into_owned();
        assert!(!command.arguments.iter().any(|argument| argument.contains(&path)), "{command:?}");
        let mut left = vec![of(&message.input_root_digest)];
        while let Some(bytes) = left.pop() {
            let directory = Directory::decode(&bytes[..]).expect("a directory");
            assert_eq!(directory.encode_to_vec(), bytes);
            assert!(directory.files.is_sorted_by_key(|file| &file.name), "{directory:?}");
            assert!(directory.directories.is_sorted_by_key(|file| &file.name), "{directory:?}");
            left.extend(directory.directories.iter().map(|directory| of(&directory.digest)));
        }
    }
}

#[test]
fn two_who_publish_the_same_at_once_do_not_disturb_each_other() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let checkouts: Vec<Checkout> = (0..3).map(|_| Checkout::built(Ninja::V1_13)).collect();
    std::thread::scope(|scope| {
        for checkout in &checkouts {
            scope.spawn(|| {
                let said = checkout.upcheck(&["snapshot", "push", "--remote", address]).answer(0);
                assert!(said.contains(", 0 skipped\n"), "{said}");
            });
        }
    });
    let other = Checkout::new(Ninja::V1_13);
    let said = other.restore(address).answer(0);
    assert!(said.starts_with("4 targets restored ("), "{said}");
    assert_eq!(other.ninja_would_make(), [""; 0]);
}

#[test]
fn a_cache_that_shakes_hands_and_then_says_nothing_is_not_waited_for() {
    let checkout = Checkout::new(Ninja::V1_13);
    let server = GrpcServer::start(|method, _| match method.ends_with("GetCapabilities") {
        true => Reply::of(&capabilities()),
        false => Reply { messages: Vec::new(), end: End::Silence },
    });
    let without = checkout.upcheck(&["check"]);
    let ran = checkout.upcheck(&["check", "--remote-timeout", "1", "--remote", &server.address()]);
    assert_eq!(ran.status, without.status);
    assert_eq!(ran.stderr.matches("warning").count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the server said nothing for 1 s"),
        "no longer than connecting may take: {}",
        ran.stderr
    );
    assert!(ran.stdout.contains("In the cache: 4 without an answer"), "{}", ran.stdout);
    let ran = checkout.upcheck(&["check", "--remote-budget", "0.2", "--remote", &server.address()]);
    assert_eq!(ran.status, without.status);
    assert!(ran.stderr.contains("has taken more than 0.2 s"), "{}", ran.stderr);
    let ran = checkout.upcheck(&["restore", "--remote-budget", "0.2", "--remote", &server.address()]);
    assert!(ran.status == 1 && ran.stderr.contains("has taken more than 0.2 s"), "{ran:?}");
}
