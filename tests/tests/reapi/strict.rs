//! What the client sends is what the specification allows: a cache that goes by its letter has nothing to complain about.

use super::{bytes_of, client, read_all};
use upcheck_reapi::messages::{
    Action, Command, Directory, EnvironmentVariable, OutputFile, Platform, Property,
};
use upcheck_reapi::{ActionResult, Blob, Client, Digest, encode};
use upcheck_tests::strict_cache::StrictCache;

fn store(client: &Client, bytes: &[u8]) -> Digest {
    let digest = Digest::of(bytes);
    client.write_all(&[Blob::Bytes { digest, bytes: bytes.to_owned() }], &mut |_| {}).expect("stored");
    digest
}

/// An action with its command and an empty tree of inputs, as messages.
fn action(output_paths: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let variable = |name: &str| EnvironmentVariable { name: name.into(), value: "1".into() };
    let command = Command {
        arguments: vec!["cc".into(), "-c".into()],
        environment_variables: vec![variable("A"), variable("B")],
        output_paths: output_paths.iter().map(|&path| path.into()).collect(),
        working_directory: "build".into(),
        ..Command::default()
    };
    let (command_digest, command) = encode(&command);
    let property = |name: &str| Property { name: name.into(), value: "x".into() };
    let action = Action {
        command_digest: Some(command_digest.to_message()),
        input_root_digest: Some(encode(&Directory::default()).0.to_message()),
        platform: Some(Platform { properties: vec![property("ISA"), property("OSFamily")] }),
        salt: b"salt".to_vec(),
        ..Action::default()
    };
    (command, encode(&action).1)
}

fn result(output: Digest) -> ActionResult {
    let file = OutputFile { path: "a.o".into(), digest: Some(output.to_message()), ..OutputFile::default() };
    ActionResult { output_files: vec![file], ..ActionResult::default() }
}

#[test]
fn whoever_does_everything_in_order_hears_no_complaint() {
    let cache = StrictCache::start();
    let client = client(&cache.address());
    let mut blobs: Vec<_> = (0..1200).map(|number| bytes_of(number, 5000)).collect();
    blobs.extend([3_670_016, 3_670_017, 5 << 20, 9 << 20].map(|size| bytes_of(size, size)));
    let digests: Vec<_> = blobs.iter().map(|bytes| Digest::of(bytes)).collect();
    assert_eq!(client.find_missing(&digests).expect("an answer"), digests);
    let sent: Vec<_> = blobs
        .iter()
        .zip(&digests)
        .map(|(bytes, &digest)| Blob::Bytes { digest, bytes: bytes.clone() })
        .collect();
    client.write_all(&sent, &mut |_| {}).expect("stored");
    let read = read_all(&client, &digests);
    assert!(blobs.iter().all(|bytes| matches!(&read[&Digest::of(bytes)], Ok(Some(read)) if read == bytes)));

    let (command, key) = action(&["a.o", "b.o"]);
    let output = store(&client, b"output");
    store(&client, &command);
    let key = store(&client, &key);
    client.put_action_result(key, &result(output)).expect("stored");
    assert!(matches!(&client.action_results(&[key])[..], [Ok(Some(found))] if *found == result(output)));
    client.capabilities().expect("an answer");
    assert!(client.may_write().expect("an answer"));
    assert_eq!(cache.complaints(), [] as [String; 0]);
    assert_eq!(cache.blobs().len(), blobs.len() + 3);

    cache.forget(output);
    assert!(matches!(client.action_results(&[key])[..], [Ok(None)]));
}

#[test]
fn whoever_does_not_is_refused() {
    let refused = |prepare: &dyn Fn(&Client) -> (Digest, ActionResult), words: &str| {
        let cache = StrictCache::start();
        let client = client(&cache.address());
        let (key, result) = prepare(&client);
        let error = client.put_action_result(key, &result).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(cache.complaints().len(), 1);
        assert!(cache.results().is_empty());
    };
    let (command, key) = action(&["a.o"]);
    let inline = |contents: &[u8]| {
        let mut result = result(Digest::EMPTY);
        result.output_files[0].contents = contents.to_vec();
        result
    };
    refused(&|_| (Digest::of(&key), result(Digest::EMPTY)), "the action is not there");
    refused(&|client| (store(client, &key), result(Digest::EMPTY)), "its command is not there");
    let both = |client: &Client| {
        store(client, &command);
        store(client, &key)
    };
    refused(&|client| (both(client), result(Digest::of(b"lost"))), "is not there");
    refused(&|client| (both(client), inline(b"x")), "contents within the result");
    let (command, key) = action(&["b.o", "a.o"]);
    let unsorted = |client: &Client| {
        store(client, &command);
        (store(client, &key), result(Digest::EMPTY))
    };
    refused(&unsorted, "not sorted");
}

#[test]
fn a_hundred_thousand_digests_are_five_requests() {
    let cache = StrictCache::start();
    let client = client(&cache.address());
    let digests: Vec<_> = (0..100_000).map(|number| Digest::of(&bytes_of(number, 9))).collect();
    assert_eq!(client.find_missing(&digests).expect("an answer").len(), digests.len());
    assert_eq!(cache.requests().get("FindMissingBlobs"), Some(&5));
    assert_eq!(cache.requests().get("GetCapabilities"), Some(&1), "one connection");
    assert_eq!(cache.complaints(), [] as [String; 0]);
}

#[test]
fn nothing_is_asked_where_there_is_no_question() {
    let cache = StrictCache::start();
    let client = client(&cache.address());
    assert_eq!(client.find_missing(&[]).expect("no question"), []);
    assert_eq!(client.find_missing(&[Digest::EMPTY]).expect("no question"), []);
    assert!(client.action_results(&[]).is_empty());
    client.write_all(&[], &mut |_| {}).expect("no blob");
    assert_eq!(read_all(&client, &[]).len(), 0);
    assert!(client.read_into(Digest::EMPTY, &mut Vec::new()).expect("no byte"));
    assert!(cache.requests().is_empty());
}
