//! One component of a glob, and whether a name matches it.
//!
//! CMake makes a regular expression of it, which decides what odd patterns mean: it works on bytes, a backslash means
//! itself, a bracket that is not closed means itself, and a range that goes backwards matches nothing at all.
//!
//! On Windows and macOS it makes small letters of each name, and of what stands outside of brackets. What stands within
//! stays as it is, so that there `[A-Z]` matches nothing. Only letters of ASCII are meant.

/// Whether a letter's case matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    /// It does.
    None,
    /// It does not, except in brackets.
    Lower,
}

impl Folding {
    /// As CMake has it on this system.
    pub(super) const HERE: Self =
        if cfg!(any(windows, target_vendor = "apple")) { Self::Lower } else { Self::None };

    fn fold(self, byte: u8) -> u8 {
        match self {
            Self::None => byte,
            Self::Lower => byte.to_ascii_lowercase(),
        }
    }
}

/// A component of a glob.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// The bytes at its end that stand for themselves: most names fail there.
    tail: Vec<u8>,
    /// Has a range that goes backwards.
    is_void: bool,
    folding: Folding,
}

#[derive(Debug)]
enum Part {
    Byte(u8),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `[...]`, with one bit for each byte.
    Class(Box<[u64; 4]>),
}

impl Pattern {
    pub(super) fn new(text: &[u8], folding: Folding) -> Self {
        let (mut parts, mut is_void, mut at) = (Vec::new(), false, 0);
        while let Some(&byte) = text.get(at) {
            at += 1;
            match byte {
                b'*' if matches!(parts.last(), Some(Part::Star)) => {}
                b'*' => parts.push(Part::Star),
                b'?' => parts.push(Part::Any),
                b'[' => match bracket(&text[at..]) {
                    Some(inner) => {
                        at += inner.len() + 1;
                        let set = class(inner);
                        is_void |= set.is_none();
                        parts.push(Part::Class(Box::new(set.unwrap_or_default())));
                    }
                    None => parts.push(Part::Byte(byte)),
                },
                _ => parts.push(Part::Byte(folding.fold(byte))),
            }
        }
        let literal = parts.iter().rev().map_while(|part| match part {
            Part::Byte(byte) => Some(*byte),
            _ => None,
        });
        let mut tail: Vec<u8> = literal.collect();
        tail.reverse();
        Self { parts, tail, is_void, folding }
    }

    /// Whether the whole name matches. A name has no slash.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        if self.is_void || !self.ends_like(name) {
            return false;
        }
        if matches!(self.parts.first(), Some(Part::Star)) && self.parts.len() == self.tail.len() + 1 {
            return true;
        }
        let parts = &self.parts[..];
        let (mut part, mut at) = (0, 0);
        // Where to go on if the last star takes one byte more. An earlier star need never take more.
        let mut again = None;
        loop {
            let matches = match parts.get(part) {
                Some(Part::Star) => {
                    again = Some((part + 1, at));
                    part += 1;
                    continue;
                }
                Some(_) if at == name.len() => return false,
                Some(Part::Byte(byte)) => self.folding.fold(name[at]) == *byte,
                Some(Part::Any) => true,
                Some(Part::Class(set)) => has(set, self.folding.fold(name[at])),
                None if at == name.len() => return true,
                None => false,
            };
            if matches {
                (part, at) = (part + 1, at + 1);
                continue;
            }
            let Some((after, from)) = again else { return false };
            (part, at) = (after, from + 1);
            // What is behind the last star, if it is only bytes, stands at the end of the name.
            if at > name.len() {
                return false;
            }
            again = Some((after, at));
        }
    }
}

impl Pattern {
    /// Whether a name ends in the bytes at the end that stand for themselves.
    fn ends_like(&self, name: &[u8]) -> bool {
        let Some(end) = name.len().checked_sub(self.tail.len()).map(|at| &name[at..]) else { return false };
        end == self.tail || end.iter().map(|&byte| self.folding.fold(byte)).eq(self.tail.iter().copied())
    }
}

/// What stands in a bracket that has just been opened, if it is closed.
fn bracket(text: &[u8]) -> Option<&[u8]> {
    let mut from = usize::from(matches!(text.first(), Some(b'!' | b'^')));
    // It would be empty otherwise.
    from += usize::from(text.get(from) == Some(&b']'));
    let end = memchr::memchr(b']', text.get(from..)?)?;
    Some(&text[..from + end])
}

fn has(set: &[u64; 4], byte: u8) -> bool {
    set[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
}

/// The bytes that a bracket stands for; `None` where a range goes backwards.
fn class(inner: &[u8]) -> Option<[u64; 4]> {
    let (is_complement, inner) = match inner {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, inner),
    };
    let mut set = [0u64; 4];
    let add = |set: &mut [u64; 4], byte: u8| set[usize::from(byte >> 6)] |= 1 << (byte & 63);
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        at += 1;
        match (byte, inner.get(at)) {
            // A range goes from the byte before, which may itself have ended one.
            (b'-', Some(&last)) if at > 1 => {
                let before = inner[at - 2];
                if before > last {
                    return None;
                }
                (before..=last).for_each(|byte| add(&mut set, byte));
                // In CMake's expression a backslash stands twice.
                at += 1;
            }
            _ => add(&mut set, byte),
        }
    }
    // No name has a zero byte.
    Some(if is_complement { set.map(|bits| !bits) } else { set })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern.as_bytes(), Folding::None).matches(name.as_bytes())
    }

    #[test]
    fn where_case_does_not_matter_names_become_small_and_brackets_stay() {
        for (pattern, name, folded, exact) in [
            ("*.c", "A.C", true, false),
            ("*.C", "a.c", true, false),
            ("*.C", "a.C", true, true),
            ("Read?e*", "README.md", true, false),
            ("README", "readme", true, false),
            // A name has no capital letters any more when brackets see it.
            ("[A-Z]*", "Abc", false, true),
            ("[A-Z]*", "abc", false, false),
            ("[a-z]*", "Abc", true, false),
            ("[!a]*", "Abc", false, true),
            ("[!A]*", "Abc", true, false),
            ("X[a", "x[A", true, false),
            // Other letters are not known.
            ("\u{c4}*", "\u{e4}", false, false),
            ("\u{c4}*", "\u{c4}", true, true),
        ] {
            let matches = |folding| Pattern::new(pattern.as_bytes(), folding).matches(name.as_bytes());
            assert_eq!(
                (matches(Folding::Lower), matches(Folding::None)),
                (folded, exact),
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn stars_and_question_marks_take_bytes() {
        assert!(matches("*.c", "a.c") && matches("*.c", ".c") && !matches("*.c", "a.cc"));
        assert!(matches("a*b*c", "abbxc") && matches("**", "") && !matches("?", ""));
        assert!(matches("??", "é") && !matches("?", "é"));
    }

    #[test]
    fn brackets_are_sets() {
        assert!(matches("[a-c]", "b") && !matches("[!a-c]", "b") && !matches("[^a-c]", "b"));
        assert!(matches("[]x]", "]") && matches("[!]x]", "a") && matches("[-x]", "-"));
    }

    #[test]
    fn a_bracket_that_is_not_closed_means_itself() {
        assert!(matches("[a", "[a") && matches("[]", "[]") && matches("[!]", "[!]"));
    }

    #[test]
    fn a_range_that_goes_backwards_matches_nothing() {
        assert!(!matches("*[z-a]*", "z") && !matches("[z-a]*", "a"));
    }
}
