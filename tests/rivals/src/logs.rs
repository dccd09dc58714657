//! Ninja's two logs, as if everything had just been built.

use std::collections::HashMap;
use std::fmt::Write;
use upcheck_ninja::NinjaVersion;

/// A build log as one version of ninja writes it.
pub(crate) struct BuildLog {
    version: NinjaVersion,
    text: String,
}

impl BuildLog {
    /// The log of 1.13, which hashes commands with rapidhash.
    pub(crate) fn of_1_13() -> Self {
        Self { version: NinjaVersion::V1_13, text: "# ninja log v7\n".into() }
    }

    /// The log of 1.11, which hashes commands with MurmurHash.
    pub(crate) fn of_1_11() -> Self {
        Self { version: NinjaVersion::V1_11, text: "# ninja log v5\n".into() }
    }

    /// `hashed`: the command, and where there is a response file `;rspfile=` and its content.
    pub(crate) fn add(&mut self, output: &str, mtime_ns: i64, hashed: &str) {
        let hash = self.version.hash_command(hashed.as_bytes());
        writeln!(self.text, "0\t1\t{mtime_ns}\t{output}\t{hash:x}").expect("memory");
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// A deps log of version 4, which all versions since 1.9 write.
pub(crate) struct DepsLog {
    bytes: Vec<u8>,
    numbers: HashMap<String, u32>,
}

impl DepsLog {
    pub(crate) fn new() -> Self {
        Self { bytes: b"# ninjadeps\n\x04\0\0\0".to_vec(), numbers: HashMap::new() }
    }

    /// The number of a path, which is written where it is new.
    fn number(&mut self, path: &str) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = u32::try_from(self.numbers.len()).expect("fewer than 2^32 paths");
        self.numbers.insert(path.to_owned(), number);
        let padded = path.len().next_multiple_of(4);
        self.word(u32::try_from(padded + 4).expect("a path"));
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.resize(self.bytes.len() + padded - path.len(), 0);
        self.word(!number);
        number
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn add(&mut self, output: &str, mtime_ns: i64, inputs: &[String]) {
        let output = self.number(output);
        let inputs: Vec<_> = inputs.iter().map(|input| self.number(input)).collect();
        let size = u32::try_from(12 + 4 * inputs.len()).expect("few inputs");
        self.word(size | 1 << 31);
        self.word(output);
        self.bytes.extend_from_slice(&mtime_ns.to_le_bytes());
        inputs.into_iter().for_each(|input| self.word(input));
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
