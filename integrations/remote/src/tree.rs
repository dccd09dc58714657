//! The tree of a target's inputs: directories that name files and directories by their digests, down to one digest for all.

use crate::doubt::Doubt;
use std::collections::BTreeMap;
use upcheck_reapi::messages::{Directory, DirectoryNode, FileNode};
use upcheck_reapi::{Digest, encode};

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) digest: Digest,
    pub(crate) is_executable: bool,
}

/// Inputs by their names from the root of the tree.
pub(crate) type Inputs = BTreeMap<String, Leaf>;

/// A tree's digest, and its directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) directories: Vec<(Digest, Vec<u8>)>,
}

enum Node {
    File(Leaf),
    Directory(BTreeMap<String, Node>),
}

/// The digest of a tree, and the directories that it is made of. `working_directory` is in it, if only as an empty one.
pub(crate) fn tree(inputs: &Inputs, working_directory: &str) -> Result<(Digest, Tree), Doubt> {
    let mut root = BTreeMap::new();
    for (name, leaf) in inputs {
        add(&mut root, name, Some(*leaf))?;
    }
    if !working_directory.is_empty() {
        add(&mut root, working_directory, None)?;
    }
    let mut tree = Tree::default();
    let digest = directory(&root, &mut tree);
    tree.directories.sort_unstable_by_key(|(digest, _)| *digest);
    tree.directories.dedup_by_key(|(digest, _)| *digest);
    Ok((digest, tree))
}

fn add(root: &mut BTreeMap<String, Node>, name: &str, leaf: Option<Leaf>) -> Result<(), Doubt> {
    let contradiction = || Doubt::Tree(name.into());
    let mut place = root;
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        if matches!(part, "" | "." | "..") {
            return Err(Doubt::Named(name.as_bytes().into()));
        }
        let leaf = leaf.filter(|_| parts.peek().is_none());
        let node = place.entry(part.into()).or_insert_with(|| match leaf {
            Some(leaf) => Node::File(leaf),
            None => Node::Directory(BTreeMap::new()),
        });
        match (node, leaf) {
            (Node::Directory(below), None) => place = below,
            (Node::File(there), Some(leaf)) if *there == leaf => return Ok(()),
            _ => return Err(contradiction()),
        }
    }
    Ok(())
}

fn directory(nodes: &BTreeMap<String, Node>, tree: &mut Tree) -> Digest {
    let mut message = Directory::default();
    for (name, node) in nodes {
        match node {
            Node::File(leaf) => message.files.push(FileNode {
                name: name.clone(),
                digest: Some(leaf.digest.to_message()),
                is_executable: leaf.is_executable,
                ..FileNode::default()
            }),
            Node::Directory(below) => {
                let digest = directory(below, tree);
                message
                    .directories
                    .push(DirectoryNode { name: name.clone(), digest: Some(digest.to_message()) });
            }
        }
    }
    let (digest, bytes) = encode(&message);
    tree.directories.push((digest, bytes));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use upcheck_reapi::Message;

    fn leaf(content: &str) -> Leaf {
        Leaf { digest: Digest::of(content.as_bytes()), is_executable: false }
    }

    fn inputs(names: &[(&str, &str)]) -> Inputs {
        names.iter().map(|(name, content)| ((*name).to_owned(), leaf(content))).collect()
    }

    #[test]
    fn a_tree_names_what_is_in_it_sorted() {
        let (digest, made) =
            tree(&inputs(&[("b/c", "1"), ("a", "2"), ("b-", "3"), ("b/a", "4")]), "build").expect("a tree");
        let bytes = made.directories.iter().find(|(found, _)| *found == digest).expect("its root");
        let root = Directory::decode(bytes.1.as_slice()).expect("a directory");
        let names: Vec<_> = root.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a", "b-"]);
        let names: Vec<_> = root.directories.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["b", "build"]);
        assert_eq!(made.directories.len(), 3);
    }

    #[test]
    fn every_name_content_and_permission_counts() {
        let of = |inputs: &Inputs| tree(inputs, "").expect("a tree").0;
        let plain = inputs(&[("a/b", "1")]);
        let mut executable = plain.clone();
        executable.insert("a/b".into(), Leaf { is_executable: true, ..leaf("1") });
        let all = [
            plain,
            executable,
            inputs(&[("a/b", "2")]),
            inputs(&[("a/c", "1")]),
            inputs(&[("b", "1")]),
            inputs(&[]),
            inputs(&[("a/b", "1"), ("c", "1")]),
        ];
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                assert_eq!(of(one) == of(other), at == other_at, "{at} {other_at}");
            }
        }
    }

    #[test]
    fn a_file_is_no_directory_and_names_do_not_lead_out() {
        for names in [
            &[("a", "1"), ("a/b", "2")][..],
            &[("../a", "1")],
            &[("a//b", "1")],
            &[("/a", "1")],
            &[("a/./b", "1")],
        ] {
            assert!(tree(&inputs(names), "").is_err(), "{names:?}");
        }
        assert!(tree(&inputs(&[("build", "1")]), "build").is_err());
    }
}
