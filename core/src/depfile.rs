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

use crate::files::FileTable;
use crate::ids::{FileId, narrow};
use crate::path;

/// In what the readers of depfiles differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dialect {
    /// `?`, `"`, `'` and `&` end a name, as up to ninja 1.12.
    pub quotes_end_names: bool,
    /// A depfile of blanks alone is an error, as up to ninja 1.11.
    pub blank_is_an_error: bool,
}

/// A parsed depfile. Names are unescaped but not canonical, each once, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Depfile {
    /// What the rules make.
    pub outputs: Vec<Vec<u8>>,
    /// What they make it from.
    pub inputs: Vec<Vec<u8>>,
}

/// Parses a depfile. Cost: linear.
///
/// # Errors
/// In ninja's words.
pub fn parse(bytes: &[u8], dialect: Dialect) -> Result<Depfile, &'static str> {
    let known = FileTable::default();
    let mut reader = Reader::new(&known, dialect);
    reader.read(bytes)?;
    let names = |numbers: &[u32]| numbers.iter().map(|&number| reader.name(number).to_vec()).collect();
    Ok(Depfile { outputs: names(&reader.outputs), inputs: names(&reader.inputs) })
}

/// Reads depfile after depfile. Names become numbers as they are met, so that none is copied twice: those of a
/// table's files are the files' own, and what is not in the table, or not canonical, is numbered behind them.
///
/// Sources include each other in the same order, so after most names comes what came after them in the depfile before.
/// That is a look at the bytes where it would be, and spares taking the name apart and finding its number.
pub struct Reader<'a> {
    dialect: Dialect,
    known: &'a FileTable,
    /// As they are spelt.
    others: FileTable,
    /// What the depfile that was read last makes, and from what.
    pub outputs: Vec<u32>,
    /// From what it makes it.
    pub inputs: Vec<u32>,
    n_read: u32,
    /// Which depfile, the first being 1, was the last one to name it as an output, and as an input.
    as_output: Marks,
    as_input: Marks,
    /// The number that came after it last, plus 1. Only names that need no escapes, nor end with a colon.
    followers: Marks,
    name: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// A reader to which the files of a table are known.
    #[must_use]
    pub fn new(known: &'a FileTable, dialect: Dialect) -> Self {
        Self {
            dialect,
            known,
            others: FileTable::default(),
            outputs: Vec::new(),
            inputs: Vec::new(),
            n_read: 0,
            as_output: Marks::default(),
            as_input: Marks::default(),
            followers: Marks::default(),
            name: Vec::new(),
        }
    }

    /// Reads the next depfile.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.outputs.clear();
        self.inputs.clear();
        self.n_read += 1;
        let mut cursor = Cursor { bytes, at: 0, dialect: self.dialect };
        let (mut in_targets, mut has_target, mut has_names) = (true, false, false);
        let (mut poisoned, mut last) = (false, None);
        while cursor.at < bytes.len() {
            let word = self.word(&mut cursor, last);
            let is_input = !in_targets;
            if word.is_target {
                in_targets = false;
                has_target = true;
            }
            if let Some(number) = word.number {
                has_names = true;
                last = word.number;
                if self.as_input.get(number) == self.n_read {
                    // Seen on the left side: its rule may not bring inputs.
                    poisoned |= !is_input;
                } else if is_input {
                    if poisoned {
                        return Err("inputs may not also have inputs");
                    }
                    self.as_input.set(number, self.n_read);
                    self.inputs.push(number);
                } else if self.as_output.get(number) != self.n_read {
                    self.as_output.set(number, self.n_read);
                    self.outputs.push(number);
                }
            }
            if word.ends_rule {
                in_targets = true;
                poisoned = false;
            }
        }
        if !has_target && (has_names || self.dialect.blank_is_an_error) {
            return Err("expected ':' in depfile");
        }
        Ok(())
    }

    /// Reads the name after `last`.
    fn word(&mut self, cursor: &mut Cursor<'_>, last: Option<u32>) -> Word {
        cursor.skip_blanks();
        let expected = last.and_then(|last| self.followers.get(last).checked_sub(1));
        if let Some(number) = expected.filter(|&number| cursor.take(self.name(number))) {
            return Word { number: Some(number), is_target: false, ends_rule: false };
        }
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        let ends_rule = cursor.name(&mut name);
        let is_target = name.last() == Some(&b':');
        if is_target {
            name.pop();
        }
        let number = (!name.is_empty()).then(|| self.number(&name));
        if let (Some(last), Some(number)) = (last, number)
            && !is_target
            && name.iter().all(|&byte| is_plain(byte, self.dialect))
        {
            self.followers.set(last, number + 1);
        }
        self.name = name;
        Word { number, is_target, ends_rule }
    }

    /// The name of a number, as it was spelt.
    pub fn name(&self, number: u32) -> &[u8] {
        match self.file_or_other(number) {
            Ok(file) => self.known.path(file),
            Err(other) => self.others.path(FileId::new(other)),
        }
    }

    /// The file of a number, or its place among the others.
    pub fn file_or_other(&self, number: u32) -> Result<FileId, usize> {
        let number = number as usize;
        number.checked_sub(self.known.len()).map_or(Ok(FileId::new(number)), Err)
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        let known = if path::is_canonical(name) { self.known.lookup(name) } else { None };
        let number = match known {
            Some(file) => file.index(),
            None => self.known.len() + self.others.intern(name).index(),
        };
        narrow(number)
    }
}

/// A name, with the colon that makes it a target's.
struct Word {
    /// `None`: it is empty.
    number: Option<u32>,
    is_target: bool,
    ends_rule: bool,
}

/// Indexed by number: something that is not 0; and 0 where nothing was set.
#[derive(Default)]
struct Marks(Vec<u32>);

impl Marks {
    fn get(&self, number: u32) -> u32 {
        self.0.get(number as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, number: u32, mark: u32) {
        let index = number as usize;
        if self.0.len() <= index {
            self.0.resize((index + 1).next_power_of_two(), 0);
        }
        self.0[index] = mark;
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
}

impl Cursor<'_> {
    /// Skips what separates most names.
    fn skip_blanks(&mut self) {
        loop {
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b' ', _) => self.at += 1,
                (b'\\', b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Takes a name that needs no escapes and the blank after it, if they are next.
    fn take(&mut self, name: &[u8]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_next = rest.get(name.len()) == Some(&b' ') && rest.starts_with(name);
        if is_next {
            self.at += name.len() + 1;
        }
        is_next
    }

    /// Appends the next name, possibly empty. Whether the rule ends with it.
    fn name(&mut self, name: &mut Vec<u8>) -> bool {
        loop {
            let start = self.at;
            match self.byte(start) {
                b'\\' => {
                    if let Some(ends_rule) = self.backslashes(name) {
                        return ends_rule;
                    }
                }
                b'$' if self.byte(start + 1) == b'$' => {
                    name.push(b'$');
                    self.at += 2;
                }
                byte if is_plain(byte, self.dialect) => {
                    let rest = &self.bytes[start..];
                    let end = rest.iter().position(|&byte| !is_plain(byte, self.dialect));
                    self.at += end.unwrap_or(rest.len());
                    name.extend_from_slice(&self.bytes[start..self.at]);
                }
                b'\n' => {
                    self.at += 1;
                    return true;
                }
                b'\r' if self.byte(start + 1) == b'\n' => {
                    self.at += 2;
                    return true;
                }
                _ => {
                    self.at += 1;
                    return false;
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

fn is_plain(byte: u8, dialect: Dialect) -> bool {
    let kind = BYTES[byte as usize];
    kind == PLAIN || (kind == QUOTE && !dialect.quotes_end_names)
}

const PLAIN: u8 = 1;
/// Part of a name since 1.13.
const QUOTE: u8 = 2;
const BYTES: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let is_letter = (byte as u8).is_ascii_alphanumeric();
        if is_letter || byte >= 0x80 {
            kinds[byte] = PLAIN;
        }
        byte += 1;
    }
    mark(mark(kinds, b"+,/_:.~()}{%=@[]!-", PLAIN), b"?\"'&", QUOTE)
};

const fn mark(mut kinds: [u8; 256], bytes: &[u8], kind: u8) -> [u8; 256] {
    let mut at = 0;
    while at < bytes.len() {
        kinds[bytes[at] as usize] = kind;
        at += 1;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER: Dialect = Dialect { quotes_end_names: true, blank_is_an_error: false };
    const OLDEST: Dialect = Dialect { quotes_end_names: true, blank_is_an_error: true };

    fn texts(names: &[Vec<u8>]) -> Vec<String> {
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[track_caller]
    fn check(text: &str, outputs: &[&str], inputs: &[&str]) {
        let depfile = parse(text.as_bytes(), Dialect::default()).expect("parses");
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
        assert_eq!(parse(b"x: a\\", Dialect::default()).map(|d| d.inputs), Ok(vec![b"a".to_vec()]));
    }

    #[test]
    fn quotes_are_part_of_names_since_1_13() {
        check("x: a'b", &["x"], &["a'b"]);
        let older = parse(b"x: a'b", OLDER).expect("parses");
        assert_eq!(texts(&older.inputs), ["a", "b"]);
    }

    #[test]
    fn dummy_rules_are_accepted_and_poison() {
        check("x: a b\na:\nb:\n", &["x"], &["a", "b"]);
        check("x: a b\na: b\n", &["x"], &["a", "b"]);
        assert_eq!(parse(b"x: a b\na: c\n", Dialect::default()), Err("inputs may not also have inputs"));
    }

    #[test]
    fn a_file_without_a_colon_is_an_error_unless_it_is_blank() {
        let missing = Err("expected ':' in depfile");
        assert_eq!(parse(b"a b\n", Dialect::default()), missing);
        assert_eq!(parse(b" \n", OLDEST), missing);
        assert_eq!(parse(b" \n", OLDER), Ok(Depfile::default()));
    }

    #[test]
    fn a_name_comes_once_and_another_spelling_is_another_name() {
        check("x ./x x: a ./a a b/../a ./a\na ./a:\n", &["x", "./x"], &["a", "./a", "b/../a"]);
        assert_eq!(parse(b"x: a\n./a: b\n", Dialect::default()).map(|d| d.inputs.len()), Ok(2));
    }

    #[test]
    fn a_reader_remembers_nothing_of_the_depfile_before() {
        let mut known = FileTable::default();
        for path in [&b"a"[..], b"x", b"./odd"] {
            known.intern(path);
        }
        let mut reader = Reader::new(&known, Dialect::default());
        for _ in 0..2 {
            assert_eq!(reader.read(b"x: a b ./odd\na:\n"), Ok(()));
            // What is not canonical is no file of the table, whatever the table has.
            assert_eq!((&*reader.outputs, &*reader.inputs), (&[1][..], &[0, 3, 4][..]));
            assert_eq!(reader.name(4), b"./odd");
            assert_eq!(reader.read(b"b: x c a\nc: d\n"), Err("inputs may not also have inputs"));
            assert_eq!(reader.read(b"c: b\n"), Ok(()));
            assert_eq!((reader.name(reader.outputs[0]), &*reader.inputs), (&b"c"[..], &[3][..]));
        }
    }

    #[test]
    fn a_name_that_is_expected_is_read_like_any_other() {
        let known = FileTable::default();
        let mut reader = Reader::new(&known, Dialect::default());
        let mut names = |text: &str| {
            let result = reader.read(text.as_bytes());
            let names = |numbers: &[u32]| {
                numbers.iter().map(|&number| reader.name(number).to_vec()).collect::<Vec<_>>()
            };
            (result, names(&reader.outputs), names(&reader.inputs))
        };
        // All texts after all texts, so that the names of one are expected in the next.
        let texts = [
            "x: a b c d \\\n e\n",
            "x: a b\\ c \\\n d\ne:\n",
            "x: a bb c: \\\n\n d e ",
            "x: a b \\\r\n c d \n e: f",
            "x: a b\\\\\\\n c",
            "x: a b\\\\\\ c",
            "x: a$$ b$ c d",
            "x: b: c d a",
            "x a b: c\na b: d\n",
            "x: a\\\n b\tc\0d e",
            " a b c",
            "x: a b a b c \na: \nb: c \n",
        ];
        for before in texts {
            for text in texts {
                let _ = names(before);
                let (result, outputs, inputs) = names(text);
                let alone = parse(text.as_bytes(), Dialect::default());
                assert_eq!(result.map(|()| Depfile { outputs, inputs }), alone, "{text:?} after {before:?}");
            }
        }
    }

    #[test]
    fn a_nul_separates_names() {
        check("x: a\0b\0\0c", &["x"], &["a", "b", "c"]);
    }
}
