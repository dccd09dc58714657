//! Depfiles: what a compiler writes for make, `target: input input \` and so on.
//!
//! # Grammar, as ninja reads it
//!
//! - Blanks separate names; a backslash before a line's end is a blank. A line's end ends a rule, and the next
//!   name is a target again. A target is a name with a colon at its end.
//! - `\ ` (with any even number of backslashes before it, which are halved) is a space in a name; an even number
//!   of backslashes before a space stand for themselves, and the name ends.
//! - `\#` is `#`, `\:` is `:` unless a blank follows (then the colon ends a target); `$$` is `$`.
//! - Other backslashes stand for themselves, together with the byte after them.
//! - Letters, digits, bytes from 0x80 on and `+,/_:.~()}{%=@[]!-`, since 1.13 also `?"'&`, are part of names;
//!   anything else ends one.
//!
//! Several rules may follow each other; the dummy rules of `-MP` name an input as their target. A rule whose
//! target was an input before must not bring new inputs.

use crate::version::NinjaVersion;
use std::collections::HashSet;

/// A parsed depfile. Names are unescaped but not canonical, each once, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Depfile {
    /// What the rules make.
    pub outputs: Vec<Vec<u8>>,
    /// What they make it from.
    pub inputs: Vec<Vec<u8>>,
}

/// Parses a depfile by the rules of a ninja version. Cost: linear.
///
/// # Errors
/// In ninja's words.
pub fn parse(bytes: &[u8], version: NinjaVersion) -> Result<Depfile, &'static str> {
    let mut depfile = Depfile::default();
    let mut cursor = Cursor { bytes, at: 0, version };
    let mut known_inputs: HashSet<Vec<u8>> = HashSet::new();
    let mut known_outputs: HashSet<Vec<u8>> = HashSet::new();
    let (mut in_targets, mut has_target, mut has_names) = (true, false, false);
    let mut poisoned = false;
    while cursor.at < bytes.len() {
        let (mut name, ends_rule) = cursor.name();
        let is_input = !in_targets;
        if name.last() == Some(&b':') {
            name.pop();
            in_targets = false;
            has_target = true;
        }
        if !name.is_empty() {
            has_names = true;
            if known_inputs.contains(&name) {
                // Seen on the left side: its rule may not bring inputs.
                poisoned |= !is_input;
            } else if is_input {
                if poisoned {
                    return Err("inputs may not also have inputs");
                }
                known_inputs.insert(name.clone());
                depfile.inputs.push(name);
            } else if known_outputs.insert(name.clone()) {
                depfile.outputs.push(name);
            }
        }
        if ends_rule {
            in_targets = true;
            poisoned = false;
        }
    }
    // Up to 1.11 blanks alone were an error too.
    if !has_target && (has_names || version == NinjaVersion::V1_11) {
        return Err("expected ':' in depfile");
    }
    Ok(depfile)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    version: NinjaVersion,
}

impl Cursor<'_> {
    /// The next name, possibly empty, and whether the rule ends with it.
    fn name(&mut self) -> (Vec<u8>, bool) {
        let mut name = Vec::new();
        loop {
            let start = self.at;
            match self.byte(start) {
                b'\\' => {
                    if let Some(ends_rule) = self.backslashes(&mut name) {
                        return (name, ends_rule);
                    }
                }
                b'$' if self.byte(start + 1) == b'$' => {
                    name.push(b'$');
                    self.at += 2;
                }
                byte if is_plain(byte, self.version) => {
                    let rest = &self.bytes[start..];
                    let end = rest.iter().position(|&byte| !is_plain(byte, self.version));
                    self.at += end.unwrap_or(rest.len());
                    name.extend_from_slice(&self.bytes[start..self.at]);
                }
                b'\n' => {
                    self.at += 1;
                    return (name, true);
                }
                b'\r' if self.byte(start + 1) == b'\n' => {
                    self.at += 2;
                    return (name, true);
                }
                _ => {
                    self.at += 1;
                    return (name, false);
                }
            }
        }
    }

    /// Backslashes and what follows them. `Some`: the name ends here, and whether the rule does.
    fn backslashes(&mut self, name: &mut Vec<u8>) -> Option<bool> {
        let start = self.at;
        let count = self.bytes[start..].iter().take_while(|&&byte| byte == b'\\').count();
        let next = start + count;
        self.at = next + 1;
        let push = |name: &mut Vec<u8>, count| name.extend(std::iter::repeat_n(b'\\', count));
        match self.byte(next) {
            b' ' if count % 2 == 1 => {
                push(name, count / 2);
                name.push(b' ');
            }
            b' ' => {
                push(name, count);
                return Some(false);
            }
            b'#' => {
                push(name, count - 1);
                name.push(b'#');
            }
            b':' if matches!(self.byte(next + 1), 0 | b' ' | b'\r' | b'\n' | b'\t') => {
                push(name, count);
                name.push(b':');
                self.at = next + 2;
                return Some(self.byte(next + 1) == b'\n');
            }
            b':' => {
                push(name, count - 1);
                name.push(b':');
            }
            // A continued line. With more backslashes they are all text, and the line does end.
            b'\n' if count == 1 => return Some(false),
            b'\r' if count == 1 && self.byte(next + 1) == b'\n' => {
                self.at = next + 2;
                return Some(false);
            }
            0 | b'\r' | b'\n' if count == 1 => {
                self.at = next;
                return Some(false);
            }
            0 | b'\r' | b'\n' => {
                push(name, count);
                self.at = next;
            }
            byte => {
                push(name, count);
                name.push(byte);
            }
        }
        None
    }

    /// The end reads as a NUL, like a NUL in the text, which ends names but not the file.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }
}

fn is_plain(byte: u8, version: NinjaVersion) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || b"+,/_:.~()}{%=@[]!-".contains(&byte)
        || (version >= NinjaVersion::V1_13 && b"?\"'&".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[Vec<u8>]) -> Vec<String> {
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[track_caller]
    fn check(text: &str, outputs: &[&str], inputs: &[&str]) {
        let depfile = parse(text.as_bytes(), NinjaVersion::V1_13).expect("parses");
        assert_eq!(texts(&depfile.outputs), outputs, "outputs of {text:?}");
        assert_eq!(texts(&depfile.inputs), inputs, "inputs of {text:?}");
    }

    #[test]
    fn escapes_are_those_of_ninja() {
        check("a.o: b.c c.h\n", &["a.o"], &["b.c", "c.h"]);
        check("a.o: b.c \\\n  c.h \\\r\n d.h\n", &["a.o"], &["b.c", "c.h", "d.h"]);
        check("a\\ b: c\\ d", &["a b"], &["c d"]);
        check("a\\\\\\ b: c", &["a\\ b"], &["c"]);
        check("x: a\\\\ b", &["x"], &["a\\\\", "b"]);
        check("x: a\\#b \\\\#c", &["x"], &["a#b", "\\#c"]);
        check("x: a$$b $c", &["x"], &["a$b", "c"]);
        check("c\\:\\gcc: a\\b", &["c:\\gcc"], &["a\\b"]);
        check("x\\: y\n", &["x\\"], &["y"]);
    }

    #[test]
    fn a_backslash_before_the_end_of_the_file_is_dropped_with_the_name_it_ends() {
        assert_eq!(parse(b"x: a\\", NinjaVersion::V1_13).map(|d| d.inputs), Ok(vec![b"a".to_vec()]));
    }

    #[test]
    fn quotes_are_part_of_names_since_1_13() {
        check("x: a'b", &["x"], &["a'b"]);
        let older = parse(b"x: a'b", NinjaVersion::V1_12).expect("parses");
        assert_eq!(texts(&older.inputs), ["a", "b"]);
    }

    #[test]
    fn dummy_rules_are_accepted_and_poison() {
        check("x: a b\na:\nb:\n", &["x"], &["a", "b"]);
        check("x: a b\na: b\n", &["x"], &["a", "b"]);
        assert_eq!(parse(b"x: a b\na: c\n", NinjaVersion::V1_13), Err("inputs may not also have inputs"));
    }

    #[test]
    fn a_file_without_a_colon_is_an_error_unless_it_is_blank() {
        let missing = Err("expected ':' in depfile");
        assert_eq!(parse(b"a b\n", NinjaVersion::V1_13), missing);
        assert_eq!(parse(b" \n", NinjaVersion::V1_11), missing);
        assert_eq!(parse(b" \n", NinjaVersion::V1_12), Ok(Depfile::default()));
    }

    #[test]
    fn a_nul_separates_names() {
        check("x: a\0b\0\0c", &["x"], &["a", "b", "c"]);
    }
}
