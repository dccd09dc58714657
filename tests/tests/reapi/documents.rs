//! The JSON of `upcheck remote` is what docs/schema says it is, and nothing else is.

use super::client;
use super::command::{json, remote};
use serde_json::{Value, json};
use upcheck_reapi::messages::{
    self, Action, Directory, DirectoryNode, FileNode, OutputDirectory, OutputFile, OutputSymlink, Platform,
    Property, SymlinkNode, Tree,
};
use upcheck_reapi::{ActionResult, Blob, Digest, Message};
use upcheck_tests::schemas::verdicts;
use upcheck_tests::strict_cache::StrictCache;

const DOCTOR: &str = "remote-doctor.json";
const SHOW: &str = "remote-show.json";

/// Stores one blob of each kind, and a result. What names them.
fn filled(cache: &StrictCache) -> Vec<Digest> {
    let client = client(&cache.address());
    let digest = Some(Digest::of(b"x").to_message());
    let file = FileNode { name: "a".into(), digest: digest.clone(), ..FileNode::default() };
    let link = SymlinkNode { name: "l".into(), target: "a".into(), ..SymlinkNode::default() };
    let leaf = Directory { files: vec![file], symlinks: vec![link], ..Directory::default() };
    let of = |message: &[u8]| Some(Digest::of(message).to_message());
    let inner = DirectoryNode { name: "d".into(), digest: of(&leaf.encode_to_vec()) };
    let root = Directory { directories: vec![inner], ..Directory::default() };
    let tree = Tree { root: Some(root.clone()), children: vec![leaf.clone()] };
    let platform = Platform { properties: vec![Property { name: "OSFamily".into(), value: "linux".into() }] };
    let command = messages::Command {
        arguments: vec!["cc".into()],
        output_paths: vec!["a.o".into(), "d".into(), "l".into()],
        ..messages::Command::default()
    };
    let action = Action {
        command_digest: of(&command.encode_to_vec()),
        input_root_digest: of(&root.encode_to_vec()),
        salt: b"salt".to_vec(),
        platform: Some(platform),
        ..Action::default()
    };
    let messages = [
        command.encode_to_vec(),
        leaf.encode_to_vec(),
        root.encode_to_vec(),
        tree.encode_to_vec(),
        action.encode_to_vec(),
        b"x".to_vec(),
    ];
    let blobs: Vec<Blob> =
        messages.into_iter().map(|bytes| Blob::Bytes { digest: Digest::of(&bytes), bytes }).collect();
    client.write_all(&blobs, &mut |_| {}).expect("stored");
    let file = OutputFile { path: "a.o".into(), digest, ..OutputFile::default() };
    let directory = OutputDirectory {
        path: "d".into(),
        tree_digest: of(&tree.encode_to_vec()),
        ..OutputDirectory::default()
    };
    let link = OutputSymlink { path: "l".into(), target: "a.o".into(), ..OutputSymlink::default() };
    let result = ActionResult {
        output_files: vec![file],
        output_directories: vec![directory],
        output_symlinks: vec![link],
        ..ActionResult::default()
    };
    client.put_action_result(Digest::of(&action.encode_to_vec()), &result).expect("stored");
    blobs.iter().map(Blob::digest).collect()
}

#[test]
fn what_is_printed_about_a_cache_is_what_the_schemas_say_and_nothing_else_is() {
    let cache = StrictCache::start();
    let (address, digests) = (&cache.address(), filled(&cache));
    let show = |digest: &str, more: &[&str], status: i32| {
        let args = [&["show", "--format", "json", "--remote", address, digest], more].concat();
        json(&remote(&args), status)
    };
    let shown: Vec<Value> = digests.iter().map(|digest| show(&digest.to_string(), &[], 0)).collect();
    for (document, kind) in shown.iter().zip(["command", "directory", "directory", "tree", "action", "blob"])
    {
        assert!(document.get(kind).is_some(), "{kind}: {document:#}");
    }
    let (tree, action) = (&shown[3], &shown[4]);
    assert_eq!(tree["tree"]["files"][0]["path"], "d/a");
    assert_eq!(action["result"]["directories"][0]["path"], "d");
    let trouble = show(&digests[5].to_string(), &["--as", "tree"], 2);
    let nothing = show(&Digest::of(b"nothing").to_string(), &[], 1);
    let well = json(&remote(&["doctor", "--format", "json", address]), 0);
    let ill = json(&remote(&["doctor", "--format", "json", "unix:///no/such.sock"]), 2);
    let unread = json(&remote(&["doctor", "--format", "json", "nonsense"]), 2);

    let mut good: Vec<(String, Value)> =
        shown.iter().chain([&trouble, &nothing]).map(|it| (SHOW.to_owned(), it.clone())).collect();
    good.extend([&well, &ill, &unread].map(|it| (DOCTOR.to_owned(), it.clone())));
    let mut bad: Vec<(String, Value)> = Vec::new();
    let mut add = |schema: &str, document: &Value, damage: &dyn Fn(&mut Value)| {
        let mut damaged = document.clone();
        damage(&mut damaged);
        assert_ne!(&damaged, document, "the damage does nothing");
        bad.push((schema.to_owned(), damaged));
    };
    let drop_key = |value: &mut Value, key: &str| {
        value.as_object_mut().and_then(|object| object.remove(key)).expect("the key is there");
    };
    for document in shown.iter().chain([&nothing, &trouble]) {
        for key in ["schema", if document == &trouble { "errors" } else { "digest" }] {
            add(SHOW, document, &|it| drop_key(it, key));
        }
        add(SHOW, document, &|it| it["new"] = json!(1));
        add(SHOW, document, &|it| it["schema"] = json!("upcheck.remote-show/2"));
    }
    for (document, kind) in [
        (&shown[0], "command"),
        (&shown[1], "directory"),
        (tree, "tree"),
        (action, "action"),
        (action, "result"),
    ] {
        for key in document[kind].as_object().expect("an object").keys() {
            add(SHOW, document, &|it| drop_key(&mut it[kind], key));
            add(SHOW, document, &|it| it[kind][key] = json!({}));
        }
        add(SHOW, document, &|it| it[kind]["new"] = json!(1));
    }
    for list in ["files", "directories", "symlinks"] {
        add(SHOW, action, &|it| it["result"][list][0]["new"] = json!(1));
        add(SHOW, action, &|it| drop_key(&mut it["result"][list][0], "path"));
        add(SHOW, tree, &|it| drop_key(&mut it["tree"][list][0], "path"));
    }
    add(SHOW, &shown[5], &|it| it["blob"]["size"] = json!(-1));
    add(SHOW, &shown[5], &|it| it["tree"] = tree["tree"].clone());
    add(SHOW, &trouble, &|it| it["errors"] = json!([]));
    for document in [&well, &ill] {
        for key in ["schema", "address", "steps"] {
            add(DOCTOR, document, &|it| drop_key(it, key));
        }
        for key in ["name", "found", "text"] {
            add(DOCTOR, document, &|it| drop_key(&mut it["steps"][0], key));
            add(DOCTOR, document, &|it| it["steps"][0][key] = json!(""));
        }
        add(DOCTOR, document, &|it| it["steps"][0]["new"] = json!(1));
        add(DOCTOR, document, &|it| it["steps"] = json!([]));
    }
    add(DOCTOR, &ill, &|it| it["steps"][0]["hint"] = json!(""));
    add(DOCTOR, &unread, &|it| it["errors"][0]["message"] = json!(""));

    let n_good = good.len();
    let cases: Vec<_> = good.into_iter().chain(bad).collect();
    let verdicts = verdicts(&cases);
    for (number, ((_, document), verdict)) in cases.iter().zip(verdicts).enumerate() {
        assert_eq!(verdict.is_none(), number < n_good, "{verdict:?}: {document:#}");
    }
}
