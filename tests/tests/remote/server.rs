//! A server that has lost something, and a build directory that is not at rest.

use super::{Checkout, MANIFEST, SOURCES, client};
use std::process::{Command, Stdio};
use upcheck_reapi::Digest;
use upcheck_tests::bazel_remote::{BazelRemote, Setup};
use upcheck_tests::tools::Ninja;

/// The hash of what a published target's output holds.
fn hash(checkout: &Checkout, output: &str) -> String {
    Digest::of(&checkout.space.read(&format!("build/{output}"))).hex()
}

#[test]
fn what_the_server_has_lost_stays_stale_and_what_was_there_stays() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let one = Checkout::built(Ninja::V1_13);
    one.publish(address);
    let two = Checkout::built(Ninja::V1_13);
    // Stale because ninja knows nothing of them.
    std::fs::remove_file(two.build_directory().join(".ninja_log")).expect("a log");
    two.space.write("build/words.txt", "old\n");
    for file in server.files_of(&hash(&one, "words.txt")) {
        std::fs::remove_file(file).expect("a blob");
    }
    let ran = two.restore(address);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout.contains("3 targets restored")
            && ran.stdout.contains("stale     words.txt: its output words.txt is no longer in the cache"),
        "{ran:?}"
    );
    assert_eq!(two.space.read("build/words.txt"), b"old\n");
    assert!(two.ninja_would_make().len() == 1);
    // By now the server has noticed.
    assert_eq!(two.remote(address, &[])["words.txt"], "not-cached");
}

#[test]
fn a_flipped_bit_is_refused() {
    let Some(server) = BazelRemote::start(Setup { uncompressed: true, ..Setup::default() }) else { return };
    let address = &server.address();
    let one = Checkout::built(Ninja::V1_13);
    one.publish(address);
    let two = Checkout::new(Ninja::V1_13);
    for file in server.files_of(&hash(&one, "obj/b.o")) {
        let mut bytes = std::fs::read(&file).expect("a blob");
        let last = bytes.last_mut().expect("it is not empty");
        *last ^= 1;
        std::fs::write(file, bytes).expect("a blob");
    }
    let ran = two.restore(address);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("stale     obj/b.o: its output obj/b.o is broken in the cache: "), "{ran:?}");
    assert!(!two.build_directory().join("obj/b.o").exists());
    assert!(!two.build_directory().join("prog").exists());
    assert_eq!(two.ninja_would_make(), ["obj/b.o", "prog"]);
    // Nothing is left beside.
    let left = two.space.entries();
    assert!(left.keys().all(|path| !path.to_string_lossy().contains(".upcheck-")), "{left:?}");
}

#[test]
fn nothing_is_restored_while_a_ninja_runs_there() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    Checkout::built(Ninja::V1_13).publish(address);
    let manifest = format!(
        "{MANIFEST}rule wait\n  command = cat @/src/pipe > $out\nbuild waits: wait\ndefault obj/a.o obj/b.o prog words.txt\n"
    );
    let two = Checkout::with(Ninja::V1_13, &manifest, &SOURCES);
    let pipe = two.space.path().join("src/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut ninja = Command::new(Ninja::V1_13.path());
    ninja.arg("-C").arg(two.build_directory()).arg("waits").stdout(Stdio::null());
    let mut ninja = ninja.spawn().expect("ninja starts");
    // It opens only when ninja's command has it open as well.
    let writer = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a pipe");
    let ran = two.restore(address);
    drop(writer);
    assert!(ninja.wait().expect("it ends").success());
    assert!(ran.clone().trouble().contains("a ninja is running in the build directory"), "{ran:?}");
    assert!(!two.build_directory().join("prog").exists());
    two.restore(address).answer(0);
    assert_eq!(two.ninja_would_make(), [""; 0]);
}

#[test]
fn of_some_who_restore_at_once_one_does_and_the_others_say_so_or_find_it_done() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let one = Checkout::built(Ninja::V1_13);
    one.publish(address);
    for _ in 0..6 {
        let two = Checkout::new(Ninja::V1_13);
        let ran: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..4).map(|_| scope.spawn(|| two.restore(address))).collect();
            running.into_iter().map(|it| it.join().expect("no panic")).collect()
        });
        assert!(ran.iter().any(|ran| ran.status == 0), "{ran:?}");
        for ran in ran.iter().filter(|ran| ran.status != 0) {
            let is_known = ["somebody else is restoring in the build directory", "logs have changed"]
                .iter()
                .any(|why| ran.stderr.contains(why));
            assert!(ran.status == 2 && is_known, "{ran:?}");
        }
        assert_eq!(two.ninja_would_make(), [""; 0]);
        for output in ["build/obj/a.o", "build/obj/b.o", "build/prog", "build/words.txt"] {
            assert_eq!(two.space.read(output), one.space.read(output), "{output}");
        }
    }
}

#[test]
fn results_are_there_only_with_all_that_they_name() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let one = Checkout::built(Ninja::V1_13);
    one.publish(address);
    let two = Checkout::new(Ninja::V1_13);
    let client = client(&server);
    for (target, action) in two.actions(address) {
        let result = client.action_results(&[action]).remove(0).expect("an answer").expect("a result");
        let names = result.output_files.iter().map(|file| file.digest.as_ref().expect("a digest"));
        let mut digests: Vec<Digest> = names.map(|it| Digest::from_message(it).expect("a digest")).collect();
        // The action is a blob as well.
        digests.push(action);
        assert_eq!(client.find_missing(&digests).expect("an answer"), [], "{target}");
        assert!(result.output_files.iter().all(|file| file.contents.is_empty()));
    }
}
