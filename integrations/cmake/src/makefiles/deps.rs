//! What objects were made from beside what the rules name: headers.
//!
//! # Where it stands
//!
//! CMake 3.20 and later has compilers that can write depfiles do so, `X.dir/main.c.o.d` in make's format. Before make
//! builds target X, `cmake -E cmake_depends` (the "depend step") collects them:
//!
//! ```text
//! X.dir/compiler_depend.internal      # comment
//!                                     X.dir/main.c.o
//!                                      /src/main.c
//!                                      /src/header.h
//! X.dir/compiler_depend.make          the same as rules, and an empty rule for each header
//! ```
//!
//! It reads those depfiles again that are not older than `compiler_depend.internal`, or all where that file is missing, and
//! keeps what the file says of the others. So after a build the depfiles are what counts; after the next one, the file.
//! Which of them that is, is found out here as the depend step would.
//!
//! Where there are no depfiles (before 3.20, other compilers, IMPLICIT_DEPENDS) the depend step scans the sources for
//! `#include` itself. `depend.internal` looks the same. It scans again what has an input that is newer than it or missing
//! (and removes it, so that it is made again), everything where `CMakeDirectoryInformation.cmake` is newer than
//! `depend.internal`, and what has no block where `DependInfo.cmake` is. What it will find only it can tell.

use super::names::{Name, Names};
use memchr::memchr;
use std::borrow::Cow;
use std::ops::Range;

/// Outputs with what they were made from.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) names: Names,
    pub(super) blocks: Vec<Block>,
}

/// One output.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) output: Name,
    pub(super) inputs: Range<Name>,
}

impl Blocks {
    /// Reads `compiler_depend.internal` or `depend.internal`. Like CMake it skips what it does not understand; whoever has
    /// no block then is one whose inputs nobody knows.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut blocks = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            rest = &rest[(end + 1).min(rest.len())..];
            match line.split_first() {
                None | Some((b'#', _)) => {}
                Some((b' ', input)) if !input.is_empty() => blocks.push_input(input),
                Some((b' ', _)) => {}
                Some(_) => blocks.push_output(line),
            }
        }
        blocks
    }

    pub(super) fn push_output(&mut self, output: &[u8]) {
        let output = self.names.push(output);
        let end = self.names.len();
        self.blocks.push(Block { output, inputs: end..end });
    }

    pub(super) fn push_input(&mut self, input: &[u8]) {
        if let Some(block) = self.blocks.last_mut() {
            self.names.push(input);
            block.inputs.end = self.names.len();
        }
    }

    pub(super) fn inputs(&self, block: &Block) -> impl Iterator<Item = &[u8]> + use<'_> {
        block.inputs.clone().map(|name| self.names.get(name))
    }
}

/// What a depfile says, name by name.
#[derive(Debug)]
pub(super) enum Word<'a> {
    /// What a rule makes something from.
    Input(Cow<'a, [u8]>),
    /// The rule is at its end.
    End,
}

/// Reads a depfile as the depend step does: names end at blanks, whatever else is in them.
///
/// # Errors
/// When a rule has no colon.
pub(super) fn depfile<'a>(bytes: &'a [u8], sink: &mut dyn FnMut(Word<'a>)) -> Result<(), &'static str> {
    let mut has_outputs = false;
    let mut after_colon = false;
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r') => at += 1,
            Some(b'\\') if continues(&bytes[at..]) > 0 => at += continues(&bytes[at..]),
            Some(b'\n') | None => {
                if after_colon {
                    sink(Word::End);
                } else if has_outputs {
                    return Err("a rule without a colon");
                }
                (has_outputs, after_colon) = (false, false);
                if at >= bytes.len() {
                    return Ok(());
                }
                at += 1;
            }
            Some(b':') if !after_colon && has_outputs => {
                after_colon = true;
                at += 1;
            }
            Some(_) => {
                let name = name(bytes, &mut at, after_colon);
                has_outputs = true;
                if after_colon {
                    sink(Word::Input(name));
                }
            }
        }
    }
}

/// How many bytes a backslash and the line's end behind it take; 0 where they are none.
fn continues(bytes: &[u8]) -> usize {
    match bytes {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

/// A name, without what makes other signs of its signs.
fn name<'a>(bytes: &'a [u8], at: &mut usize, after_colon: bool) -> Cow<'a, [u8]> {
    let rest = &bytes[*at..];
    let is_plain =
        |byte: &u8| *byte > b' ' && *byte != b'\\' && *byte != b'$' && (after_colon || *byte != b':');
    let plain = rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
    if plain > 0 && rest.get(plain).is_none_or(|byte| b" \n".contains(byte)) {
        *at += plain;
        return Cow::Borrowed(&rest[..plain]);
    }
    let mut name = Vec::new();
    while let Some(&byte) = bytes.get(*at) {
        let next = bytes.get(*at + 1).copied();
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => break,
            // A colon ends the targets if a blank follows, or the line's end.
            b':' if !after_colon && next.is_none_or(|next| b" \t\r\n\\".contains(&next)) => break,
            b'$' if next == Some(b'$') => {
                name.push(b'$');
                *at += 2;
            }
            b'\\' if continues(&bytes[*at..]) > 0 => break,
            b'\\' => {
                let n = bytes[*at..].iter().take_while(|&&byte| byte == b'\\').count();
                let quoted = bytes.get(*at + n).copied().filter(|byte| b" #:".contains(byte));
                *at += n;
                match quoted {
                    // Two of them before a blank or a sign are one.
                    Some(quoted) if n % 2 == 1 => {
                        name.extend(std::iter::repeat_n(b'\\', n / 2));
                        name.push(quoted);
                        *at += 1;
                    }
                    Some(_) => name.extend(std::iter::repeat_n(b'\\', n / 2)),
                    None => name.extend(std::iter::repeat_n(b'\\', n)),
                }
            }
            _ => {
                name.push(byte);
                *at += 1;
            }
        }
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &[u8]) -> String {
        String::from_utf8_lossy(name).into_owned()
    }

    #[test]
    fn a_block_has_an_output_and_inputs() {
        let blocks = Blocks::parse(b"# c\n\na.o\n /s/a b.c\n x.h\r\n\nb.o\nc.o\n z\n");
        let shown: Vec<_> = blocks
            .blocks
            .iter()
            .map(|block| {
                let inputs: Vec<_> = blocks.inputs(block).map(text).collect();
                format!("{}={}", text(blocks.names.get(block.output)), inputs.join(","))
            })
            .collect();
        assert_eq!(shown, ["a.o=/s/a b.c,x.h", "b.o=", "c.o=z"]);
        assert!(Blocks::parse(b" orphan\n").blocks.is_empty());
    }

    #[test]
    fn depfiles_have_names_with_odd_signs() {
        let shown = |bytes: &[u8]| {
            let mut shown = String::new();
            depfile(bytes, &mut |word| match word {
                Word::Input(name) => shown += &format!("{},", text(&name)),
                Word::End => shown.push('.'),
            })
            .map(|()| shown)
        };
        let odd = b"a.o: b.c \\\n /x/c\\ d.h \\\r\n e\\#f$$g;h*\n\ne.h:\n";
        assert_eq!(shown(odd).as_deref(), Ok("b.c,/x/c d.h,e#f$g;h*,.."));
        assert_eq!(shown(b"a b: c:d").as_deref(), Ok("c:d,."));
        assert_eq!(shown(b"a\\:b: \\\n c\\\\\\ d\n").as_deref(), Ok("c\\ d,."));
        assert_eq!(shown(b"a:b\n"), Err("a rule without a colon"));
        assert_eq!(shown(b"a b\n"), Err("a rule without a colon"));
        assert_eq!(shown(b"").as_deref(), Ok(""));
    }
}
