//! `upcheck remote show`: what a cache has under a digest: the result of an action, and a blob, read as the message that it is.

use super::args::RemoteArgs;
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::run::{self, Trouble};
use crate::text::BOLD;
use crate::words;
use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use upcheck_reapi::messages::{self, Action, Command, Directory, Tree};
use upcheck_reapi::{ActionResult, Digest, Message};

/// The name and version of the format.
pub(crate) const SCHEMA: &str = "upcheck.remote-show/1";

/// More than any message has. What is larger is not fetched to be looked at.
const MOST: u64 = 16 << 20;
/// The most entries of a tree that are shown: a small one can stand for any number of them.
const MOST_ENTRIES: usize = 10_000;

#[derive(Debug, ClapArgs)]
pub(crate) struct RemoteShowArgs {
    /// What names it: HASH/SIZE
    #[arg(value_name = "DIGEST")]
    pub(crate) digest: Digest,
    /// What kind of message it is [default: whichever fits]
    #[arg(long = "as", value_enum, value_name = "KIND")]
    pub(crate) kind: Option<Kind>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// What a blob may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// An action
    Action,
    /// The command of an action
    Command,
    /// A directory of inputs
    Directory,
    /// A directory that was made, with all that is in it
    Tree,
}

/// Shows what there is. Stale, as an exit status, is: nothing.
pub(crate) fn show(common: &Common, args: &RemoteShowArgs) -> Result<Exit, Trouble> {
    let (_, client) = args.remote.client()?.ok_or_else(|| Trouble("which cache? --remote URL".into()))?;
    let digest = args.digest;
    let result = match client.action_results(&[digest]).pop() {
        Some(result) => result?,
        None => None,
    };
    let mut found = Vec::new();
    if digest.size <= MOST {
        let mut blob = Ok(None);
        client.read_all(&[digest], &mut |_, read| blob = read);
        if let Some(bytes) = blob? {
            found.push(read(&bytes, args.kind)?);
        }
    } else if client.find_missing(&[digest])?.is_empty() {
        found.push(("blob", json!({ "size": digest.size })));
    }
    found.extend(result.as_ref().map(|result| ("result", of_result(result))));
    run::print(common, |out| match common.format {
        Format::Text | Format::Names => print(out, &found),
        Format::Json | Format::Jsonl => {
            let mut object = json!({ "schema": SCHEMA, "digest": digest.to_string() });
            if let Value::Object(object) = &mut object {
                object.extend(found.iter().map(|(kind, value)| ((*kind).to_owned(), value.clone())));
            }
            writeln!(out, "{object}")
        }
    })?;
    Ok(if found.is_empty() { Exit::Stale } else { Exit::Fresh })
}

/// Reads a blob as the message that it is, or is said to be.
fn read(bytes: &[u8], kind: Option<Kind>) -> Result<(&'static str, Value), Trouble> {
    let wrong = |what: &str| Trouble(format!("reading the blob: it is no {what}"));
    match kind {
        Some(Kind::Action) => {
            let action = Action::decode(bytes).map_err(|_| wrong("action"))?;
            Ok(("action", of_action(&action)))
        }
        Some(Kind::Command) => {
            let command = Command::decode(bytes).map_err(|_| wrong("command"))?;
            Ok(("command", of_command(&command)))
        }
        Some(Kind::Directory) => {
            let directory = Directory::decode(bytes).map_err(|_| wrong("directory"))?;
            Ok(("directory", of_directory(&directory)))
        }
        Some(Kind::Tree) => {
            let tree = Tree::decode(bytes).map_err(|_| wrong("tree"))?;
            Ok(("tree", of_tree(&tree)))
        }
        None => Ok(guess(bytes)),
    }
}

/// What a blob is: no message says so itself, but digests within one are hardly there by chance.
fn guess(bytes: &[u8]) -> (&'static str, Value) {
    let valid = |digest: &Option<messages::Digest>| {
        digest.as_ref().is_some_and(|digest| Digest::from_message(digest).is_ok())
    };
    if let Some(action) = canonical::<Action>(bytes)
        && valid(&action.command_digest)
        && valid(&action.input_root_digest)
    {
        return ("action", of_action(&action));
    }
    let is_sound = |directory: &Directory| {
        directory.files.iter().all(|file| !file.name.is_empty() && valid(&file.digest))
            && directory.directories.iter().all(|inner| !inner.name.is_empty() && valid(&inner.digest))
            && directory.symlinks.iter().all(|link| !link.name.is_empty())
    };
    if let Some(directory) = canonical::<Directory>(bytes).filter(is_sound) {
        return ("directory", of_directory(&directory));
    }
    if let Some(tree) = canonical::<Tree>(bytes)
        && tree.root.iter().chain(&tree.children).all(is_sound)
        && tree.root.is_some()
    {
        return ("tree", of_tree(&tree));
    }
    if let Some(command) = canonical::<Command>(bytes)
        && !command.arguments.is_empty()
    {
        return ("command", of_command(&command));
    }
    ("blob", json!({ "size": bytes.len() }))
}

fn canonical<M: Message + Default>(bytes: &[u8]) -> Option<M> {
    M::decode(bytes).ok().filter(|message| message.encode_to_vec() == bytes)
}

fn of_digest(digest: Option<&messages::Digest>) -> Value {
    match digest {
        // As it stands there, be it a digest or not.
        Some(digest) => format!("{}/{}", digest.hash, digest.size_bytes).into(),
        None => Value::Null,
    }
}

fn of_action(action: &Action) -> Value {
    json!({
        "command": of_digest(action.command_digest.as_ref()),
        "input_root": of_digest(action.input_root_digest.as_ref()),
        "do_not_cache": action.do_not_cache,
        "salt": String::from_utf8_lossy(&action.salt),
        "platform": of_platform(action.platform.as_ref()),
    })
}

fn of_platform(platform: Option<&messages::Platform>) -> Value {
    let properties = platform.map(|platform| platform.properties.as_slice()).unwrap_or_default();
    properties.iter().map(|property| json!(format!("{}={}", property.name, property.value))).collect()
}

fn of_command(command: &Command) -> Value {
    let variables = command.environment_variables.iter();
    let variables: Vec<_> =
        variables.map(|variable| format!("{}={}", variable.name, variable.value)).collect();
    json!({
        "arguments": command.arguments,
        "environment": variables,
        "working_directory": command.working_directory,
        "outputs": command.output_paths,
        "output_files": command.output_files,
        "output_directories": command.output_directories,
        "platform": of_platform(command.platform.as_ref()),
    })
}

fn of_directory(directory: &Directory) -> Value {
    let files = directory.files.iter().map(|file| {
        json!({ "name": file.name, "digest": of_digest(file.digest.as_ref()), "executable": file.is_executable })
    });
    let inner = directory.directories.iter();
    let inner = inner.map(|inner| json!({ "name": inner.name, "digest": of_digest(inner.digest.as_ref()) }));
    let links = directory.symlinks.iter().map(|link| json!({ "name": link.name, "target": link.target }));
    json!({
        "files": files.collect::<Value>(),
        "directories": inner.collect::<Value>(),
        "symlinks": links.collect::<Value>(),
    })
}

/// All that is in a tree, by its path.
fn of_tree(tree: &Tree) -> Value {
    let children: HashMap<Digest, &Directory> =
        tree.children.iter().map(|child| (Digest::of(&child.encode_to_vec()), child)).collect();
    let (mut files, mut directories, mut links) = (Vec::new(), Vec::new(), Vec::new());
    let mut left: Vec<(String, &Directory)> = tree.root.iter().map(|root| (String::new(), root)).collect();
    while let Some((above, directory)) = left.pop() {
        if files.len() + directories.len() + links.len() >= MOST_ENTRIES {
            return json!({ "entries": format!("more than {MOST_ENTRIES}") });
        }
        let path = |name: &str| format!("{above}{name}");
        files.extend(directory.files.iter().map(|file| {
            json!({
                "path": path(&file.name),
                "digest": of_digest(file.digest.as_ref()),
                "executable": file.is_executable,
            })
        }));
        links.extend(
            directory.symlinks.iter().map(|link| json!({ "path": path(&link.name), "target": link.target })),
        );
        for inner in directory.directories.iter().rev() {
            let digest = inner.digest.as_ref().and_then(|digest| Digest::from_message(digest).ok());
            let child = digest.and_then(|digest| children.get(&digest));
            directories.push(json!({
                "path": path(&inner.name),
                "digest": of_digest(inner.digest.as_ref()),
                "missing": child.is_none() && digest != Some(Digest::EMPTY),
            }));
            left.extend(child.map(|child| (path(&inner.name) + "/", *child)));
        }
    }
    json!({ "files": files, "directories": directories, "symlinks": links })
}

fn of_result(result: &ActionResult) -> Value {
    let files = result.output_files.iter().map(|file| {
        json!({ "path": file.path, "digest": of_digest(file.digest.as_ref()), "executable": file.is_executable })
    });
    let directories = result.output_directories.iter();
    let directories =
        directories.map(|inner| json!({ "path": inner.path, "tree": of_digest(inner.tree_digest.as_ref()) }));
    let links = [&result.output_symlinks, &result.output_file_symlinks, &result.output_directory_symlinks];
    let links = links.into_iter().flatten().map(|link| json!({ "path": link.path, "target": link.target }));
    let metadata = result.execution_metadata.as_ref();
    let more = metadata.map(|metadata| metadata.auxiliary_metadata.as_slice()).unwrap_or_default();
    let seconds = metadata.and_then(|metadata| metadata.virtual_execution_duration);
    json!({
        "exit_code": result.exit_code,
        "files": files.collect::<Value>(),
        "directories": directories.collect::<Value>(),
        "symlinks": links.collect::<Value>(),
        "stdout": of_digest(result.stdout_digest.as_ref()),
        "stderr": of_digest(result.stderr_digest.as_ref()),
        "worker": metadata.map(|metadata| metadata.worker.as_str()),
        "seconds": seconds.map(|time| format!("{}.{:03}", time.seconds, time.nanos.unsigned_abs() / 1_000_000)),
        "auxiliary": more.iter().map(|any| json!({ "type": any.type_url, "size": any.value.len() })).collect::<Value>(),
    })
}

fn print(out: &mut dyn Write, found: &[(&str, Value)]) -> io::Result<()> {
    if found.is_empty() {
        return writeln!(out, "nothing is there");
    }
    found.iter().try_for_each(|(kind, value)| {
        writeln!(out, "{BOLD}{kind}{BOLD:#}")?;
        print_value(out, value, 1)
    })
}

/// One line for each value that says something.
fn print_value(out: &mut dyn Write, value: &Value, depth: usize) -> io::Result<()> {
    let Value::Object(object) = value else { return Ok(()) };
    for (key, value) in object {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(items) => {
                for item in items {
                    writeln!(out, "{:1$}{key}  {2}", "", 2 * depth, line(item))?;
                }
            }
            value => writeln!(out, "{:1$}{key}  {2}", "", 2 * depth, line(value))?,
        }
    }
    Ok(())
}

/// A value in one line, without what would move a terminal's cursor.
fn line(value: &Value) -> String {
    match value {
        Value::String(text) => words::visible(text, "").to_string(),
        Value::Object(object) => {
            let says = |value: &&Value| !matches!(value, Value::Null | Value::Bool(false));
            let values = object.iter().filter(|(_, value)| says(value)).map(|(key, value)| match value {
                Value::Bool(true) => key.clone(),
                value => line(value),
            });
            values.collect::<Vec<_>>().join("  ")
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;
    use upcheck_reapi::messages::{DirectoryNode, FileNode, SymlinkNode};

    #[test]
    fn each_message_is_known_for_what_it_is() {
        let digest = Some(Digest::of(b"x").to_message());
        let action =
            Action { command_digest: digest.clone(), input_root_digest: digest.clone(), ..Action::default() };
        let file = FileNode { name: "a".into(), digest: digest.clone(), ..FileNode::default() };
        let inner = DirectoryNode { name: "b".into(), digest };
        let link = SymlinkNode { name: "c".into(), target: "a".into(), ..SymlinkNode::default() };
        let directory =
            |files: &[FileNode], directories: &[DirectoryNode], symlinks: &[SymlinkNode]| Directory {
                files: files.to_vec(),
                directories: directories.to_vec(),
                symlinks: symlinks.to_vec(),
                ..Directory::default()
            };
        let command = Command { arguments: vec!["cc".into(), "-c".into()], ..Command::default() };
        for (bytes, expected) in [
            (action.encode_to_vec(), "action"),
            (command.encode_to_vec(), "command"),
            (directory(from_ref(&file), from_ref(&inner), from_ref(&link)).encode_to_vec(), "directory"),
            (directory(&[file], &[], &[]).encode_to_vec(), "directory"),
            (directory(&[], &[inner], &[]).encode_to_vec(), "directory"),
            (directory(&[], &[], &[link]).encode_to_vec(), "directory"),
            (b"int main() {}".to_vec(), "blob"),
        ] {
            assert_eq!(guess(&bytes).0, expected);
        }
    }

    #[test]
    fn a_tree_is_shown_by_paths_whatever_it_stands_for() {
        let digest = Some(Digest::of(b"x").to_message());
        let file = FileNode { name: "a".into(), digest, is_executable: true, ..FileNode::default() };
        let leaf = Directory { files: vec![file], ..Directory::default() };
        let digest = |directory: &Directory| Some(Digest::of(&directory.encode_to_vec()).to_message());
        let node = |name: &str, digest| DirectoryNode { name: name.into(), digest };
        let root = |inner: &Directory| Directory {
            directories: vec![node("one", digest(inner)), node("two", digest(inner))],
            ..Directory::default()
        };
        let tree = Tree { root: Some(root(&leaf)), children: vec![leaf.clone()] };
        let (kind, value) = guess(&tree.encode_to_vec());
        assert_eq!(kind, "tree");
        let paths: Vec<_> = value["files"].as_array().expect("a list").iter().map(|it| &it["path"]).collect();
        assert_eq!(paths, ["one/a", "two/a"]);
        let lost = Tree { root: Some(root(&leaf)), children: Vec::new() };
        assert_eq!(of_tree(&lost)["directories"][0]["missing"], true);
        // Forty levels, each twice in the one above.
        let mut children = vec![leaf];
        for _ in 0..40 {
            children.push(root(&children[children.len() - 1]));
        }
        let tree = Tree { root: children.pop(), children };
        assert_eq!(of_tree(&tree), json!({ "entries": "more than 10000" }));
    }
}
