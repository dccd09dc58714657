//! The words of build.ninja and of dyndep files.
//!
//! A lexer is a cursor over bytes. It makes tokens at the start of a line and between paths, and evaluation
//! strings (paths and values with `$` in them) on request, because only the grammar knows which is next.
//! The end of the text reads as a NUL, and a NUL in the text reads as its end, as in ninja.

use crate::error::SyntaxError;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Error,
    Build,
    Colon,
    Default,
    Equals,
    Ident,
    Include,
    Indent,
    Newline,
    Pipe,
    Pipe2,
    PipeAt,
    Pool,
    Rule,
    Subninja,
    End,
}

impl Token {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Error => "lexing error",
            Self::Build => "'build'",
            Self::Colon => "':'",
            Self::Default => "'default'",
            Self::Equals => "'='",
            Self::Ident => "identifier",
            Self::Include => "'include'",
            Self::Indent => "indent",
            Self::Newline => "newline",
            Self::Pipe => "'|'",
            Self::Pipe2 => "'||'",
            Self::PipeAt => "'|@'",
            Self::Pool => "'pool'",
            Self::Rule => "'rule'",
            Self::Subninja => "'subninja'",
            Self::End => "eof",
        }
    }
}

/// A stretch of an evaluation string: literal bytes, or the name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) is_variable: bool,
    /// Where it stands in the text.
    pub(crate) range: Range<usize>,
}

pub(crate) struct Lexer<'a> {
    path: &'a [u8],
    text: &'a [u8],
    at: usize,
    /// Where the last token began: what an error points at.
    last: usize,
}

type Outcome<T> = Result<T, Box<SyntaxError>>;

impl<'a> Lexer<'a> {
    pub(crate) fn new(path: &'a [u8], text: &'a [u8]) -> Self {
        Self { path, text, at: 0, last: 0 }
    }

    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Outcome<T> {
        self.error_at(self.last, message)
    }

    /// An error that points at an offset.
    pub(crate) fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Outcome<T> {
        Err(Box::new(SyntaxError::new(self.path, self.text, at, message)))
    }

    /// The error for a token that nothing can begin with.
    pub(crate) fn bad_token<T>(&self) -> Outcome<T> {
        self.error(match self.byte(self.last) {
            b'\t' => "tabs are not allowed, use spaces",
            _ => "lexing error",
        })
    }

    pub(crate) fn token(&mut self) -> Token {
        let token = loop {
            let start = self.at;
            self.last = start;
            self.skip(|byte| byte == b' ');
            match self.byte(self.at) {
                b'#' => {
                    // Only a comment that ends with its line is one.
                    match memchr::memchr2(b'\n', 0, &self.text[self.at..]) {
                        Some(end) if self.text[self.at + end] == b'\n' => {
                            self.at += end + 1;
                            continue;
                        }
                        _ => {}
                    }
                }
                b'\n' => {
                    self.at += 1;
                    break Token::Newline;
                }
                b'\r' if self.byte(self.at + 1) == b'\n' => {
                    self.at += 2;
                    break Token::Newline;
                }
                _ => {}
            }
            if self.at > start {
                break Token::Indent;
            }
            break self.word();
        };
        if token != Token::Newline && token != Token::End {
            self.skip_blanks();
        }
        token
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        self.skip(is_name_byte);
        if self.at > start {
            return match &self.text[start..self.at] {
                b"build" => Token::Build,
                b"pool" => Token::Pool,
                b"rule" => Token::Rule,
                b"default" => Token::Default,
                b"include" => Token::Include,
                b"subninja" => Token::Subninja,
                _ => Token::Ident,
            };
        }
        let (token, length) = match (self.byte(start), self.byte(start + 1)) {
            (b'=', _) => (Token::Equals, 1),
            (b':', _) => (Token::Colon, 1),
            (b'|', b'@') => (Token::PipeAt, 2),
            (b'|', b'|') => (Token::Pipe2, 2),
            (b'|', _) => (Token::Pipe, 1),
            (0, _) => (Token::End, 0),
            _ => (Token::Error, 1),
        };
        self.at += length;
        token
    }

    /// Takes the next token if it is the given one.
    pub(crate) fn peek(&mut self, wanted: Token) -> bool {
        let found = self.token() == wanted;
        if !found {
            self.unread();
        }
        found
    }

    /// Goes back to before the last token.
    pub(crate) fn unread(&mut self) {
        self.at = self.last;
    }

    pub(crate) fn expect(&mut self, wanted: Token) -> Outcome<()> {
        let found = self.token();
        if found == wanted {
            return Ok(());
        }
        let hint = if wanted == Token::Colon { " ($ also escapes ':')" } else { "" };
        self.error(format!("expected {}, got {}{hint}", wanted.name(), found.name()))
    }

    /// A name of letters, digits, `_`, `.` and `-`. `None`, and the place marked, if there is none.
    pub(crate) fn ident(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.last = start;
        self.skip(is_name_byte);
        let name = &self.text[start..self.at];
        if name.is_empty() {
            return None;
        }
        self.skip_blanks();
        Some(name)
    }

    /// Appends the pieces of a path. No piece: there is no path here.
    pub(crate) fn path(&mut self, pieces: &mut Vec<Piece>) -> Outcome<()> {
        self.evaluation_string(true, pieces)?;
        self.skip_blanks();
        Ok(())
    }

    /// Appends the pieces of a value, and takes the end of its line.
    pub(crate) fn value(&mut self, pieces: &mut Vec<Piece>) -> Outcome<()> {
        self.evaluation_string(false, pieces)
    }

    fn evaluation_string(&mut self, is_path: bool, pieces: &mut Vec<Piece>) -> Outcome<()> {
        loop {
            let start = self.at;
            self.last = start;
            let literal = |range| Piece { is_variable: false, range };
            match self.byte(start) {
                b'$' => self.escape(pieces)?,
                0 => return self.error("unexpected EOF"),
                b'\n' => {
                    self.at += usize::from(!is_path);
                    return Ok(());
                }
                b'\r' if self.byte(start + 1) == b'\n' => {
                    self.at += if is_path { 0 } else { 2 };
                    return Ok(());
                }
                b'\r' => return self.bad_token(),
                b' ' | b':' | b'|' if is_path => return Ok(()),
                _ => {
                    self.at += match is_path {
                        true => length_of_literal_path(&self.text[start..]),
                        false => length_of_literal_value(&self.text[start..]),
                    };
                    pieces.push(literal(start..self.at));
                }
            }
        }
    }

    fn escape(&mut self, pieces: &mut Vec<Piece>) -> Outcome<()> {
        let start = self.at;
        match self.byte(start + 1) {
            b'$' | b' ' | b':' => {
                self.at += 2;
                pieces.push(Piece { is_variable: false, range: start + 1..start + 2 });
            }
            b'\n' => {
                self.at += 2;
                self.skip(|byte| byte == b' ');
            }
            b'\r' if self.byte(start + 2) == b'\n' => {
                self.at += 3;
                self.skip(|byte| byte == b' ');
            }
            b'{' => {
                self.at += 2;
                self.skip(is_name_byte);
                if self.at == start + 2 || self.byte(self.at) != b'}' {
                    return self.bad_escape();
                }
                pieces.push(Piece { is_variable: true, range: start + 2..self.at });
                self.at += 1;
            }
            byte if is_name_byte(byte) && byte != b'.' => {
                self.at += 1;
                self.skip(|byte| is_name_byte(byte) && byte != b'.');
                pieces.push(Piece { is_variable: true, range: start + 1..self.at });
            }
            _ => return self.bad_escape(),
        }
        Ok(())
    }

    fn bad_escape(&self) -> Outcome<()> {
        self.error("bad $-escape (literal $ must be written as $$)")
    }

    /// Skips spaces and escaped line ends.
    fn skip_blanks(&mut self) {
        loop {
            match (self.byte(self.at), self.byte(self.at + 1), self.byte(self.at + 2)) {
                (b' ', ..) => self.at += 1,
                (b'$', b'\n', _) => self.at += 2,
                (b'$', b'\r', b'\n') => self.at += 3,
                _ => return,
            }
        }
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }
}

/// Paths are short.
fn length_of_literal_path(text: &[u8]) -> usize {
    text.iter().position(|&byte| KINDS[byte as usize] & ENDS_PATH != 0).unwrap_or(text.len())
}

/// Values are long. A NUL is not among the three bytes that can be searched for at once, and the text is in the cache
/// when it is looked for.
fn length_of_literal_value(text: &[u8]) -> usize {
    let end = memchr::memchr3(b'$', b'\r', b'\n', text).unwrap_or(text.len());
    memchr::memchr(0, &text[..end]).unwrap_or(end)
}

fn is_name_byte(byte: u8) -> bool {
    KINDS[byte as usize] & IS_NAME != 0
}

const IS_NAME: u8 = 1;
const ENDS_PATH: u8 = 2;
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.' | b'-' => IS_NAME,
            b'$' | b' ' | b':' | b'\r' | b'\n' | b'|' | 0 => ENDS_PATH,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};
