//! A message as it travels: a header and bodies, each with its length before it.

use super::VERSION;
use serde_json::{Map, Value, json};
use std::io::{self, ErrorKind, Read, Write};

/// What each message begins with.
pub(super) const MAGIC: [u8; 4] = *b"upck";
/// The length of what stands before the header, in bytes.
const HEAD: usize = 16;
/// The most that a header may have, in bytes.
pub(super) const MOST_HEADER: u32 = 64 << 10;
/// The most that a request may have beside its header, in bytes.
pub const MOST_REQUEST: u64 = 1 << 20;
/// The most that an answer may have beside its header, in bytes.
pub const MOST_ANSWER: u64 = 256 << 20;
/// The most bodies that a message may have.
const MOST_BODIES: usize = 4;

/// A message as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// An object; its key `bodies` is added when it is written.
    pub header: Map<String, Value>,
    /// Bytes that need not be text.
    pub bodies: Vec<Vec<u8>>,
}

impl Message {
    /// Reads one, whose bodies have at most so many bytes together.
    ///
    /// # Errors
    /// When the stream ends early, and when what comes is no message.
    pub fn read(stream: &mut dyn Read, most: u64) -> io::Result<Self> {
        let mut head = [0; HEAD];
        stream.read_exact(&mut head)?;
        let (magic, lengths) = head.split_at(4);
        let (header, bodies) = lengths.split_at(4);
        let header = u32::from_le_bytes(header.try_into().unwrap_or_default());
        let n_bytes = u64::from_le_bytes(bodies.try_into().unwrap_or_default());
        if magic != MAGIC || header > MOST_HEADER || n_bytes > most {
            return Err(wrong("it is no message of the daemon's, or too long"));
        }
        let header = exactly(stream, header.into())?;
        let Ok(Value::Object(mut header)) = serde_json::from_slice(&header) else {
            return Err(wrong("the header is no object"));
        };
        let lengths = lengths_of(header.remove("bodies").as_ref()).ok_or_else(|| wrong("lengths"))?;
        if lengths.iter().try_fold(0_u64, |sum, length| sum.checked_add(*length)) != Some(n_bytes) {
            return Err(wrong("the lengths of the bodies do not add up"));
        }
        let bodies = lengths.iter().map(|&length| exactly(stream, length)).collect::<io::Result<_>>()?;
        Ok(Self { header, bodies })
    }

    /// Writes it, in one piece.
    ///
    /// # Errors
    /// When it is too long to be read, or the stream says so.
    pub fn write(&self, stream: &mut dyn Write) -> io::Result<()> {
        let mut header = self.header.clone();
        let lengths: Vec<_> = self.bodies.iter().map(Vec::len).collect();
        let n_bytes = lengths.iter().map(|&length| length as u64).sum::<u64>();
        header.insert("bodies".into(), json!(lengths));
        let header = Value::Object(header).to_string().into_bytes();
        let length = u32::try_from(header.len()).ok().filter(|&length| length <= MOST_HEADER);
        let length = length.filter(|_| n_bytes <= MOST_ANSWER).ok_or_else(|| wrong("it is too long"))?;
        let mut bytes =
            Vec::with_capacity(HEAD + header.len() + self.bodies.iter().map(Vec::len).sum::<usize>());
        bytes.extend(MAGIC);
        bytes.extend(length.to_le_bytes());
        bytes.extend(n_bytes.to_le_bytes());
        bytes.extend(header);
        self.bodies.iter().for_each(|body| bytes.extend(body));
        stream.write_all(&bytes)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.header.get(key)?.as_str()
    }

    /// Whether it is of this version of the protocol.
    pub(super) fn is_known(&self) -> bool {
        self.header.get("protocol").and_then(Value::as_u64) == Some(VERSION)
    }
}

fn lengths_of(value: Option<&Value>) -> Option<Vec<u64>> {
    let list = value?.as_array().filter(|list| list.len() <= MOST_BODIES)?;
    list.iter().map(Value::as_u64).collect()
}

/// So many bytes; memory is taken as they come.
fn exactly(stream: &mut dyn Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
