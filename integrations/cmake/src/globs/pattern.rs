//! One component of a glob, and whether a name matches it.
//!
//! CMake makes a regular expression of it, which decides what odd patterns mean: it works on bytes, a backslash means
//! itself, a bracket that is not closed means itself, and a range that goes backwards matches nothing at all.

/// A component of a glob.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// The bytes at its end that stand for themselves: most names fail there.
    tail: Vec<u8>,
    /// Has a range that goes backwards.
    is_void: bool,
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
    pub(super) fn new(text: &[u8]) -> Self {
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
                _ => parts.push(Part::Byte(byte)),
            }
        }
        let literal = parts.iter().rev().map_while(|part| match part {
            Part::Byte(byte) => Some(*byte),
            _ => None,
        });
        let mut tail: Vec<u8> = literal.collect();
        tail.reverse();
        Self { parts, tail, is_void }
    }

    /// Whether the whole name matches. A name has no slash.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        if self.is_void || !name.ends_with(&self.tail) {
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
                Some(Part::Byte(byte)) => name[at] == *byte,
                Some(Part::Any) => true,
                Some(Part::Class(set)) => has(set, name[at]),
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
        Pattern::new(pattern.as_bytes()).matches(name.as_bytes())
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
