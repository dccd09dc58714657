//! The messages that are stored in a cache, as the Remote Execution API v2 specifies them: the part of them that a client
//! needs that does not execute.
//!
//! Encoding writes fields in the order of their numbers and leaves out what has its default, which is the canonical form
//! that digests are taken of. What a message lists has to be sorted by whoever makes it: files, directories and links of a
//! [`Directory`] by name, variables and properties by name, paths of outputs by bytes.
//!
//! Fields that are not here are skipped when a message is read, so a message that was read and is encoded again may have
//! another digest: digests are taken of the bytes.

pub mod google;
pub mod rpc;

use google::{Any, Duration, Timestamp, UInt32Value};
use prost::Message;

/// What names a blob: the hash of its bytes and how many there are. [`crate::Digest`] is the checked form.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Digest {
    /// The hash, in lower case hexadecimal digits.
    #[prost(string, tag = "1")]
    pub hash: String,
    /// The size in bytes.
    #[prost(int64, tag = "2")]
    pub size_bytes: i64,
}

/// What would be executed: its digest is the key of a result.
#[derive(Clone, PartialEq, Message)]
pub struct Action {
    /// The digest of the [`Command`].
    #[prost(message, optional, tag = "1")]
    pub command_digest: Option<Digest>,
    /// The digest of the root [`Directory`] of all inputs.
    #[prost(message, optional, tag = "2")]
    pub input_root_digest: Option<Digest>,
    /// How long it may take.
    #[prost(message, optional, tag = "6")]
    pub timeout: Option<Duration>,
    /// Whether its result must not be kept.
    #[prost(bool, tag = "7")]
    pub do_not_cache: bool,
    /// What keeps its key apart from other users' keys.
    #[prost(bytes = "vec", tag = "9")]
    pub salt: Vec<u8>,
    /// Where it can be executed.
    #[prost(message, optional, tag = "10")]
    pub platform: Option<Platform>,
}

/// What a command line is, and what it makes.
#[derive(Clone, PartialEq, Message)]
pub struct Command {
    /// The program and its arguments.
    #[prost(string, repeated, tag = "1")]
    pub arguments: Vec<String>,
    /// Its environment, sorted by name.
    #[prost(message, repeated, tag = "2")]
    pub environment_variables: Vec<EnvironmentVariable>,
    /// Files that it makes: the older form of `output_paths`.
    #[prost(string, repeated, tag = "3")]
    pub output_files: Vec<String>,
    /// Directories that it makes: the older form of `output_paths`.
    #[prost(string, repeated, tag = "4")]
    pub output_directories: Vec<String>,
    /// Where it can be executed: the older place of it.
    #[prost(message, optional, tag = "5")]
    pub platform: Option<Platform>,
    /// Where it is executed, relative to the root of the inputs.
    #[prost(string, tag = "6")]
    pub working_directory: String,
    /// What it makes, relative to the working directory, sorted, each once.
    #[prost(string, repeated, tag = "7")]
    pub output_paths: Vec<String>,
    /// Properties of outputs that are of interest.
    #[prost(string, repeated, tag = "8")]
    pub output_node_properties: Vec<String>,
    /// How directories among the outputs are told: 0 as a [`Tree`].
    #[prost(int32, tag = "9")]
    pub output_directory_format: i32,
}

/// A variable of the environment.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct EnvironmentVariable {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// What is demanded of a machine.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Platform {
    /// The demands, sorted by name, then by value.
    #[prost(message, repeated, tag = "1")]
    pub properties: Vec<Property>,
}

/// A demand on a machine.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Property {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A directory: names and digests of what is in it.
#[derive(Clone, PartialEq, Message)]
pub struct Directory {
    /// Files, sorted by name.
    #[prost(message, repeated, tag = "1")]
    pub files: Vec<FileNode>,
    /// Directories, sorted by name.
    #[prost(message, repeated, tag = "2")]
    pub directories: Vec<DirectoryNode>,
    /// Symbolic links, sorted by name.
    #[prost(message, repeated, tag = "3")]
    pub symlinks: Vec<SymlinkNode>,
    /// Properties of the directory itself.
    #[prost(message, optional, tag = "5")]
    pub node_properties: Option<NodeProperties>,
}

/// A file in a [`Directory`].
#[derive(Clone, PartialEq, Message)]
pub struct FileNode {
    /// Its name, without a slash.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The digest of its contents.
    #[prost(message, optional, tag = "2")]
    pub digest: Option<Digest>,
    /// Whether it can be executed.
    #[prost(bool, tag = "4")]
    pub is_executable: bool,
    /// Its properties.
    #[prost(message, optional, tag = "6")]
    pub node_properties: Option<NodeProperties>,
}

/// A directory in a [`Directory`].
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct DirectoryNode {
    /// Its name, without a slash.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The digest of its [`Directory`].
    #[prost(message, optional, tag = "2")]
    pub digest: Option<Digest>,
}

/// A symbolic link in a [`Directory`].
#[derive(Clone, PartialEq, Message)]
pub struct SymlinkNode {
    /// Its name, without a slash.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What it leads to, with `/` between names.
    #[prost(string, tag = "2")]
    pub target: String,
    /// Its properties.
    #[prost(message, optional, tag = "4")]
    pub node_properties: Option<NodeProperties>,
}

/// Properties of a file, a directory or a link.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProperties {
    /// Those by name, sorted.
    #[prost(message, repeated, tag = "1")]
    pub properties: Vec<Property>,
    /// When it was last changed.
    #[prost(message, optional, tag = "2")]
    pub mtime: Option<Timestamp>,
    /// Its permissions.
    #[prost(message, optional, tag = "3")]
    pub unix_mode: Option<UInt32Value>,
}

/// A directory with all that is below it.
#[derive(Clone, PartialEq, Message)]
pub struct Tree {
    /// The directory.
    #[prost(message, optional, tag = "1")]
    pub root: Option<Directory>,
    /// All directories below it.
    #[prost(message, repeated, tag = "2")]
    pub children: Vec<Directory>,
}

/// What an action made.
#[derive(Clone, PartialEq, Message)]
pub struct ActionResult {
    /// Files, relative to the working directory. Paths are as a cache tells them: anything may stand in them.
    #[prost(message, repeated, tag = "2")]
    pub output_files: Vec<OutputFile>,
    /// Directories.
    #[prost(message, repeated, tag = "3")]
    pub output_directories: Vec<OutputDirectory>,
    /// What it ended with.
    #[prost(int32, tag = "4")]
    pub exit_code: i32,
    /// What it printed, where a server puts it into its answer. Not to be stored.
    #[prost(bytes = "vec", tag = "5")]
    pub stdout_raw: Vec<u8>,
    /// The digest of what it printed.
    #[prost(message, optional, tag = "6")]
    pub stdout_digest: Option<Digest>,
    /// What it printed as errors, where a server puts it into its answer. Not to be stored.
    #[prost(bytes = "vec", tag = "7")]
    pub stderr_raw: Vec<u8>,
    /// The digest of what it printed as errors.
    #[prost(message, optional, tag = "8")]
    pub stderr_digest: Option<Digest>,
    /// Who made it, and when.
    #[prost(message, optional, tag = "9")]
    pub execution_metadata: Option<ExecutedActionMetadata>,
    /// Links to files: the older form of `output_symlinks`.
    #[prost(message, repeated, tag = "10")]
    pub output_file_symlinks: Vec<OutputSymlink>,
    /// Links to directories: the older form of `output_symlinks`.
    #[prost(message, repeated, tag = "11")]
    pub output_directory_symlinks: Vec<OutputSymlink>,
    /// Symbolic links.
    #[prost(message, repeated, tag = "12")]
    pub output_symlinks: Vec<OutputSymlink>,
}

/// A file that an action made.
#[derive(Clone, PartialEq, Message)]
pub struct OutputFile {
    /// Its path, relative to the working directory.
    #[prost(string, tag = "1")]
    pub path: String,
    /// The digest of its contents.
    #[prost(message, optional, tag = "2")]
    pub digest: Option<Digest>,
    /// Whether it can be executed.
    #[prost(bool, tag = "4")]
    pub is_executable: bool,
    /// Its contents, where a server puts them into its answer: nobody has compared them with the digest. Not to be stored.
    #[prost(bytes = "vec", tag = "5")]
    pub contents: Vec<u8>,
    /// Its properties.
    #[prost(message, optional, tag = "7")]
    pub node_properties: Option<NodeProperties>,
}

/// A directory that an action made.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OutputDirectory {
    /// Its path, relative to the working directory.
    #[prost(string, tag = "1")]
    pub path: String,
    /// The digest of its [`Tree`].
    #[prost(message, optional, tag = "3")]
    pub tree_digest: Option<Digest>,
    /// Whether directories of the tree stand before those that are in them.
    #[prost(bool, tag = "4")]
    pub is_topologically_sorted: bool,
    /// The digest of its [`Directory`].
    #[prost(message, optional, tag = "5")]
    pub root_directory_digest: Option<Digest>,
}

/// A symbolic link that an action made.
#[derive(Clone, PartialEq, Message)]
pub struct OutputSymlink {
    /// Its path, relative to the working directory.
    #[prost(string, tag = "1")]
    pub path: String,
    /// What it leads to.
    #[prost(string, tag = "2")]
    pub target: String,
    /// Its properties.
    #[prost(message, optional, tag = "4")]
    pub node_properties: Option<NodeProperties>,
}

/// Who executed an action, and when.
#[derive(Clone, PartialEq, Message)]
pub struct ExecutedActionMetadata {
    /// The machine.
    #[prost(string, tag = "1")]
    pub worker: String,
    /// When it was asked for.
    #[prost(message, optional, tag = "2")]
    pub queued_timestamp: Option<Timestamp>,
    /// When the machine began.
    #[prost(message, optional, tag = "3")]
    pub worker_start_timestamp: Option<Timestamp>,
    /// When the machine had ended.
    #[prost(message, optional, tag = "4")]
    pub worker_completed_timestamp: Option<Timestamp>,
    /// When inputs began to be fetched.
    #[prost(message, optional, tag = "5")]
    pub input_fetch_start_timestamp: Option<Timestamp>,
    /// When inputs were there.
    #[prost(message, optional, tag = "6")]
    pub input_fetch_completed_timestamp: Option<Timestamp>,
    /// When the command began.
    #[prost(message, optional, tag = "7")]
    pub execution_start_timestamp: Option<Timestamp>,
    /// When the command had ended.
    #[prost(message, optional, tag = "8")]
    pub execution_completed_timestamp: Option<Timestamp>,
    /// When outputs began to be stored.
    #[prost(message, optional, tag = "9")]
    pub output_upload_start_timestamp: Option<Timestamp>,
    /// When outputs were stored.
    #[prost(message, optional, tag = "10")]
    pub output_upload_completed_timestamp: Option<Timestamp>,
    /// What only some know how to read.
    #[prost(message, repeated, tag = "11")]
    pub auxiliary_metadata: Vec<Any>,
    /// How long the command took.
    #[prost(message, optional, tag = "12")]
    pub virtual_execution_duration: Option<Duration>,
}

#[cfg(test)]
mod tests;
