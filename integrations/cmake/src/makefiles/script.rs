//! The variables that a script of CMake's sets, where it does nothing else: `Makefile.cmake`, `DependInfo.cmake`.

use crate::Error;
use std::borrow::Cow;

/// Variables and their values, in order. A value is a list of elements.
#[derive(Debug, Default)]
pub(super) struct Script<'a> {
    variables: Vec<(Text<'a>, Vec<Text<'a>>)>,
}

/// A name or an element; its own where it was written with escapes.
pub(super) type Text<'a> = Cow<'a, [u8]>;

impl<'a> Script<'a> {
    /// Reads a script of `set(NAME value ...)` commands and comments.
    pub(super) fn parse(bytes: &'a [u8], path: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader { bytes, at: 0 };
        let mut script = Self::default();
        let wrong = |reader: &Reader<'_>, what: &str| Error::Content {
            path: path.to_vec(),
            line: 1 + memchr::memchr_iter(b'\n', &bytes[..reader.at.min(bytes.len())]).count(),
            message: what.to_owned(),
        };
        loop {
            reader.skip_blanks();
            if reader.at >= bytes.len() {
                return Ok(script);
            }
            if !reader.take(b"set(") {
                return Err(wrong(&reader, "not a command that CMake writes here"));
            }
            let mut arguments = Vec::new();
            loop {
                reader.skip_blanks();
                if reader.take(b")") {
                    break;
                }
                match reader.argument() {
                    Some(argument) => arguments.push(argument),
                    None => return Err(wrong(&reader, "the command does not end")),
                }
            }
            if arguments.is_empty() {
                return Err(wrong(&reader, "a variable without a name"));
            }
            let name = arguments.remove(0);
            // A value is one text with semicolons between the elements, wherever they came from.
            let mut value: Vec<Text<'_>> = Vec::with_capacity(arguments.len());
            for argument in arguments {
                match argument.contains(&b';') {
                    true => {
                        value.extend(argument.split(|&byte| byte == b';').map(|part| part.to_vec().into()))
                    }
                    false => value.push(argument),
                }
            }
            script.variables.push((name, value));
        }
    }

    /// The elements of a variable, empty ones included; `None` where it is not set.
    pub(super) fn get(&self, name: &str) -> Option<&[Text<'a>]> {
        let last = self.variables.iter().rev().find(|(other, _)| **other == *name.as_bytes());
        last.map(|(_, value)| value.as_slice())
    }

    /// The elements of a variable.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let elements = self.get(name).unwrap_or(&[]).iter();
        elements.map(|element| &**element).filter(|element| !element.is_empty())
    }
}

/// What a script removes by the first of its `file(REMOVE_RECURSE ...)` commands: everything that a target makes, from the
/// target's binary directory. Nothing where there is no such command.
pub(super) fn removed(bytes: &[u8]) -> Vec<Vec<u8>> {
    const COMMAND: &[u8] = b"file(REMOVE_RECURSE";
    let Some(at) = memchr::memmem::find(bytes, COMMAND) else { return Vec::new() };
    let mut reader = Reader { bytes, at: at + COMMAND.len() };
    let mut files = Vec::new();
    loop {
        reader.skip_blanks();
        match reader.argument() {
            Some(file) => files.push(file.into_owned()),
            None => return files,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, expected: &[u8]) -> bool {
        let there = self.bytes[self.at.min(self.bytes.len())..].starts_with(expected);
        self.at += if there { expected.len() } else { 0 };
        there
    }

    /// Skips blanks, line ends and comments.
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => {
                    let rest = &self.bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// An argument, quoted or not; `None` where it does not end.
    fn argument(&mut self) -> Option<Text<'a>> {
        let quoted = self.take(b"\"");
        let rest = self.bytes.get(self.at..)?;
        let ends = |byte: u8| match quoted {
            true => byte == b'"',
            false => b" \t\r\n()#\"".contains(&byte),
        };
        // Mostly nothing is escaped.
        let plain = match quoted {
            true => memchr::memchr2(b'"', b'\\', rest)?,
            false => rest.iter().position(|&byte| ends(byte) || byte == b'\\')?,
        };
        self.at += plain;
        if ends(rest[plain]) {
            self.at += usize::from(quoted);
            return (quoted || plain > 0).then_some(Cow::Borrowed(&rest[..plain]));
        }
        let mut argument = rest[..plain].to_vec();
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            match byte {
                b'\\' => {
                    argument.push(match *self.bytes.get(self.at)? {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        other => other,
                    });
                    self.at += 1;
                }
                byte if ends(byte) => {
                    self.at -= usize::from(!quoted);
                    return Some(argument.into());
                }
                byte => argument.push(byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists() {
        let text = b"# c\nset(A\n  \"x y\" \"\" \"c\" # d\n  )\nset(B \"p\\\"q\\$r\\\\s;t\")\nset(C ON)\nset(D\n  )\n";
        let script = Script::parse(text, b"s").expect("a script");
        let list = |name| {
            let elements = script.get(name).expect("set").iter();
            elements.map(|element| String::from_utf8_lossy(element).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(list("A"), ["x y", "", "c"]);
        assert_eq!(list("B"), ["p\"q$r\\s", "t"]);
        assert_eq!(list("C"), ["ON"]);
        assert!(list("D").is_empty() && script.get("E").is_none());
        assert_eq!(script.list("A").count(), 2);
    }

    #[test]
    fn what_is_removed_is_known() {
        let text = b"file(REMOVE_RECURSE\n  \"a b\"\n  \"c\\$d\"\n)\n\nforeach(lang )\nendforeach()\n";
        assert_eq!(removed(text), [b"a b".to_vec(), b"c$d".to_vec()]);
        assert!(removed(b"foreach(lang )\n").is_empty());
        assert_eq!(removed(b"file(REMOVE_RECURSE a").len(), 0);
    }

    #[test]
    fn another_command_is_an_error_with_its_line() {
        let refused = |bytes: &[u8]| Script::parse(bytes, b"s").expect_err("an error").to_string();
        assert_eq!(refused(b"\nmessage(x)"), "s:2: not a command that CMake writes here");
        assert_eq!(refused(b"set(A \"b"), "s:1: the command does not end");
        assert_eq!(refused(b"set(A b"), "s:1: the command does not end");
        assert_eq!(refused(b"set()"), "s:1: a variable without a name");
        assert_eq!(refused(b"set(A ("), "s:1: the command does not end");
    }
}
