//! Where in a text something is wrong: the parser says where it stands, which is behind what it did not like.

use crate::Error;
use std::io::{self, Read};

/// What a message is about, seen from where the parser stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum About {
    /// The string, number or name that was read last.
    #[default]
    Token,
    /// The object that has just ended.
    Object,
}

/// What is known of a text: all of it, or some around the place where the parser stands.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    text: &'a [u8],
    /// Its first line, from 1, and how much of that line stood before it.
    line: usize,
    passed: usize,
    /// The parser of a stream has taken a byte before it looks at it.
    is_stream: bool,
}

impl<'a> Known<'a> {
    /// The whole text.
    pub(crate) fn whole(text: &'a [u8]) -> Self {
        Self { text, line: 1, passed: 0, is_stream: false }
    }

    /// The text up to a place that the parser told. The parser itself may have gone on.
    fn up_to(self, line: usize, column: usize) -> Option<Before<'a>> {
        let line_start = match line.max(1).checked_sub(self.line)? {
            0 => 0,
            n_lines => memchr::memchr_iter(b'\n', self.text).nth(n_lines - 1)? + 1,
        };
        let passed = if line_start == 0 { self.passed } else { 0 };
        let text = self.text.get(..line_start + column.checked_sub(passed)?)?;
        Some(Before { text, is_stream: self.is_stream })
    }

    /// Line and column of a part's end, both from 1.
    fn place(self, start: usize) -> (usize, usize) {
        let text = &self.text[..start];
        let line = self.line + memchr::memchr_iter(b'\n', text).count();
        let column = match memchr::memrchr(b'\n', text) {
            Some(newline) => start - newline,
            None => self.passed + start + 1,
        };
        (line, column)
    }
}

/// The text up to where the parser found something wrong.
struct Before<'a> {
    text: &'a [u8],
    is_stream: bool,
}

impl Before<'_> {
    /// Where begins what a message is about. How far the parser went depends on what that is.
    fn start(&self, message: &str) -> usize {
        let is_one_of = |starts: &[&str]| starts.iter().any(|start| message.starts_with(start));
        let text = self.text;
        if message == NOT_UTF8 {
            let end = text.len() - usize::from(text.last() == Some(&b'"'));
            string_start(text, end)
        } else if is_one_of(&["invalid type: map", "invalid type: sequence", "an object without "]) {
            self.looked_ahead().saturating_sub(1)
        } else if is_one_of(&["unknown key ", "the key "]) {
            string_start(text, self.looked_ahead().saturating_sub(1))
        } else if is_one_of(&["invalid type: integer", "invalid type: floating", "version "]) {
            let ends_inside = text.last().copied().is_some_and(is_in_word);
            trimmed(&text[..text.len() - usize::from(!ends_inside && !text.is_empty())], is_in_word)
        } else if text.last() == Some(&b'"') {
            string_start(text, text.len() - 1)
        } else {
            trimmed(text, is_in_word)
        }
    }

    /// The end of a key, or of an opening bracket, behind which the parser has looked at one byte: it has taken that from
    /// a stream, and otherwise if it closes an object or a list.
    fn looked_ahead(&self) -> usize {
        let end = trimmed(self.text, is_space);
        match self.is_stream || matches!(self.text[..end].last(), Some(b']' | b'}')) {
            true => trimmed(&self.text[..end.saturating_sub(1)], is_space),
            false => end,
        }
    }
}

/// Makes an error of the parser's.
pub(crate) fn locate(name: &str, error: &serde_json::Error, known: Known<'_>, about: About) -> Error {
    let (line, column) = (error.line(), error.column());
    let mut message = message(error);
    if error.is_eof() && known.text.is_empty() {
        message = "the file is empty".into();
    }
    let is_about_token = error.is_data() && about == About::Token || message == NOT_UTF8;
    let before = known.up_to(line, column).filter(|_| is_about_token);
    let start = before.map(|before| before.start(&message));
    let (line, column) = start.map_or((line.max(1), column.max(1)), |start| known.place(start));
    Error::Content { name: name.into(), line, column, message }
}

const NOT_UTF8: &str = "a string is not UTF-8; a path that is not can be given as {\"base64\": \"...\"}";

/// The parser's words without the place, which is told in front, and the worst of them in better ones.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    match text.strip_prefix("EOF while parsing ") {
        Some(what) => format!("the text ends within {what}"),
        None if text == "invalid unicode code point" => NOT_UTF8.into(),
        None if text == "expected ident" => "expected `true`, `false` or `null`".into(),
        None => text.into(),
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether it belongs to a number, `true`, `false` or `null`.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// How long a text is without such bytes at its end.
fn trimmed(text: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    text.iter().rposition(|&byte| !is_one(byte)).map_or(0, |last| last + 1)
}

/// The quotation mark that opens the string which the one at `end` closes: inside there are only escaped ones.
fn string_start(text: &[u8], end: usize) -> usize {
    let mut at = end;
    while let Some(quote) = memchr::memrchr(b'"', &text[..at]) {
        let n_backslashes = text[..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if n_backslashes % 2 == 0 {
            return quote;
        }
        at = quote;
    }
    end
}

/// Hands out a stream byte by byte, and keeps the last of them in case something is wrong with them.
pub(crate) struct Window<R> {
    source: R,
    /// What was handed out last, and then what comes next.
    bytes: Vec<u8>,
    at: usize,
    /// The line in which `bytes` begin, from 1, and how much of it stood before them.
    line: usize,
    passed: usize,
    pub(crate) failure: Option<io::Error>,
}

/// How much is kept of what was handed out: tokens longer than that are located by their end.
const KEPT: usize = 8 * 1024;
const PIECE: usize = 64 * 1024;

impl<R: Read> Window<R> {
    pub(crate) fn new(source: R) -> Self {
        let bytes = Vec::with_capacity(KEPT + PIECE);
        Self { source, bytes, at: 0, line: 1, passed: 0, failure: None }
    }

    /// The end of what was handed out.
    pub(crate) fn known(&self) -> Known<'_> {
        let text = &self.bytes[..self.at];
        Known { text, line: self.line, passed: self.passed, is_stream: true }
    }

    /// Passes over some bytes if they come first.
    pub(crate) fn skip(&mut self, prefix: &[u8]) {
        while self.bytes.len() < prefix.len() && self.refill() {}
        if self.bytes.starts_with(prefix) {
            self.bytes.drain(..prefix.len());
        }
    }

    /// Reads the next piece; says whether there is one. A failure is kept for whoever asks why not.
    fn refill(&mut self) -> bool {
        self.forget(self.at.saturating_sub(KEPT));
        let length = self.bytes.len();
        self.bytes.resize(length + PIECE, 0);
        let result = loop {
            match self.source.read(&mut self.bytes[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let n_read = *result.as_ref().unwrap_or(&0);
        self.bytes.truncate(length + n_read);
        self.failure = result.err();
        n_read > 0
    }

    fn forget(&mut self, length: usize) {
        let forgotten = &self.bytes[..length];
        self.line += memchr::memchr_iter(b'\n', forgotten).count();
        self.passed = match memchr::memrchr(b'\n', forgotten) {
            Some(newline) => length - newline - 1,
            None => self.passed + length,
        };
        self.bytes.drain(..length);
        self.at -= length;
    }
}

impl<R: Read> Read for Window<R> {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The parser takes single bytes.
        if let ([into], Some(&byte)) = (&mut *into, self.bytes.get(self.at)) {
            *into = byte;
            self.at += 1;
            return Ok(1);
        }
        if self.at == self.bytes.len() && !self.refill() {
            return match &self.failure {
                Some(error) => Err(error.kind().into()),
                None => Ok(0),
            };
        }
        let length = into.len().min(self.bytes.len() - self.at);
        into[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}
