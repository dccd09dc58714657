//! A cache that somebody has poisoned: nothing outside of the build directory ever changes, and nothing in it that is not a
//! declared output.

use super::{Checkout, client};
use std::os::unix::fs::symlink;
use upcheck_reapi::messages::{OutputDirectory, OutputFile, OutputSymlink};
use upcheck_reapi::{ActionResult, Blob, Digest};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// The server of a published build, and a checkout that was not built.
fn published() -> Option<(BazelRemote, Checkout)> {
    let server = BazelRemote::plain()?;
    Checkout::built(Ninja::V1_13).publish(&server.address());
    Some((server, Checkout::new(Ninja::V1_13)))
}

fn output(path: &str, digest: Digest) -> OutputFile {
    OutputFile { path: path.into(), digest: Some(digest.to_message()), ..OutputFile::default() }
}

/// A result without who made it.
fn what_counts(result: &ActionResult) -> ActionResult {
    ActionResult { execution_metadata: None, ..result.clone() }
}

#[test]
fn a_result_that_names_anything_but_the_declared_outputs_is_none() {
    let Some((server, two)) = published() else { return };
    let client = client(&server);
    let address = &server.address();
    let action = two.actions(address)["words.txt"];
    let right = client.action_results(&[action]).remove(0).expect("an answer").expect("a result");
    let evil = b"evil".to_vec();
    let digest = Digest::of(&evil);
    client.write_all(&[Blob::Bytes { digest, bytes: evil }], &mut |_| {}).expect("it is stored");
    let link = |path: &str, target: &str| OutputSymlink {
        path: path.into(),
        target: target.into(),
        ..OutputSymlink::default()
    };
    let files = |paths: &[&str]| ActionResult {
        output_files: paths.iter().map(|path| output(path, digest)).collect(),
        ..ActionResult::default()
    };
    let own = "words.txt";
    let mut results: Vec<ActionResult> = [
        &["../../evil"][..],
        &["../src/words"],
        &["build.ninja"],
        &["./words.txt"],
        &["obj/../words.txt"],
        &["words.txt/"],
        &["words.txt\\"],
        &["WORDS.TXT"],
        &[own, own],
        &[own, "../../evil"],
        &[own, ".ninja_log"],
        &[],
    ]
    .into_iter()
    .map(files)
    .collect();
    results.push(ActionResult { output_symlinks: vec![link(own, "/etc/passwd")], ..ActionResult::default() });
    results.push(ActionResult { output_symlinks: vec![link("obj", "/tmp")], ..right.clone() });
    results.push(ActionResult { output_file_symlinks: vec![link(own, "../src/words")], ..right.clone() });
    results.push(ActionResult { output_directory_symlinks: vec![link("obj", "..")], ..right.clone() });
    let directory = OutputDirectory {
        path: own.into(),
        tree_digest: Some(digest.to_message()),
        ..OutputDirectory::default()
    };
    results.push(ActionResult { output_directories: vec![directory], ..ActionResult::default() });
    results.push(ActionResult { exit_code: 1, ..right.clone() });
    let before = two.space.entries();
    let mut n_kept = 0;
    for result in results {
        // What the server refuses by itself is no danger; the one before is there then.
        let _ = client.put_action_result(action, &result);
        let kept = client.action_results(&[action]).remove(0);
        if kept.is_ok_and(|kept| kept.is_some_and(|kept| what_counts(&kept) == what_counts(&right))) {
            continue;
        }
        n_kept += 1;
        let check = ["check", "--format", "json", "--remote", address, "words.txt"];
        let answer: serde_json::Value = serde_json::from_str(&two.upcheck(&check).stdout).expect("JSON");
        let word = answer["stale"][0]["remote"].as_str().expect("a word");
        // The server itself stumbles over some.
        assert!(["not-cached", "?"].contains(&word), "{word}: {result:?}");
        let ran = two.upcheck(&["restore", "--remote", address, "words.txt"]);
        assert_eq!(ran.status, 1, "{result:?}");
        assert_eq!(two.space.entries(), before, "{result:?}");
    }
    assert!(n_kept > 12, "the server has kept {n_kept} of them");
    client.put_action_result(action, &right).expect("it is stored");
    assert_eq!(two.remote(address, &["words.txt"])["words.txt"], "cached");
}

#[test]
fn no_link_in_the_build_directory_leads_a_restored_file_out_of_it() {
    let Some((server, two)) = published() else { return };
    let outside = Space::new();
    outside.write("a.o", "theirs");
    outside.write("words", "theirs");
    symlink(outside.path(), two.build_directory().join("obj")).expect("a link");
    symlink(outside.path().join("words"), two.build_directory().join("words.txt")).expect("a link");
    let before = outside.entries();
    let ran = two.restore(&server.address());
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("stale     obj/a.o: putting obj/a.o into its place: "), "{ran:?}");
    assert!(ran.stdout.contains("stale     prog: what makes an input of it is stale"), "{ran:?}");
    assert_eq!(outside.entries(), before);
    // In its own place a link is replaced.
    assert!(!two.build_directory().join("words.txt").is_symlink());
    assert_eq!(two.space.read("build/words.txt"), b"a\nb\n");
}

#[test]
fn a_list_of_discovered_inputs_that_makes_no_sense_leads_nowhere() {
    let Some((server, two)) = published() else { return };
    let client = client(&server);
    let address = &server.address();
    let one = two.actions(address);
    assert!(one.contains_key("obj/a.o"));
    // Every blob that may be a list becomes one that cannot be read, under every key: the objects are not found, and no more.
    for (target, &action) in &one {
        let result = client.action_results(&[action]).remove(0).expect("an answer").expect("a result");
        let broken = ActionResult { output_files: Vec::new(), ..result };
        client.put_action_result(action, &broken).expect("it is stored");
        assert_ne!(two.remote(address, &[])[target], "cached", "{target}");
    }
    let ran = two.restore(address);
    assert_eq!(ran.status, 1);
    assert_eq!(two.ninja_would_make().len(), 4);
}
