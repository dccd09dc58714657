//! The keys of an object: each at most once, and mostly none that are not known.

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};
use std::fmt;

/// Which of the keys that an object may have were met.
pub(crate) struct Keys {
    known: &'static [&'static str],
    /// A bit for each.
    met: u32,
    has_others: bool,
}

impl Keys {
    /// For an object that may have these keys, at most 32.
    pub(crate) fn new(known: &'static [&'static str]) -> Self {
        Self { known, met: 0, has_others: false }
    }

    /// For an object that may have other keys, too, which are all read as "".
    pub(crate) fn among_others(known: &'static [&'static str]) -> Self {
        Self { has_others: true, ..Self::new(known) }
    }

    /// Whether a key was met.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.known.iter().position(|&known| known == key).is_some_and(|index| self.met >> index & 1 == 1)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Keys {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for &mut Keys {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<&'static str, E> {
        let Some(index) = self.known.iter().position(|&known| known == key) else {
            if self.has_others {
                return Ok("");
            }
            return Err(E::custom(format!("unknown key {key:?}{}", did_you_mean(key, self.known))));
        };
        let bit = 1 << index;
        if self.met & bit != 0 {
            return Err(E::custom(format!("the key {key:?} is there twice")));
        }
        self.met |= bit;
        Ok(self.known[index])
    }
}

/// Names what somebody may have meant, in parentheses, or nothing.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let distance = |other: &str| strsim::damerau_levenshtein(word, other);
    // Who writes an essay in place of a key did not mistype one.
    let nearest = known.iter().filter(|_| word.len() <= 64).map(|other| (distance(other), other)).min();
    match nearest {
        Some((distance, other)) if distance <= 1 + other.len() / 4 => format!(" (did you mean {other:?}?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_suggested() {
        let known = ["outputs", "inputs", "order_only", "vars"];
        for (word, expected) in [
            ("ouputs", " (did you mean \"outputs\"?)"),
            ("output", " (did you mean \"outputs\"?)"),
            ("order-only", " (did you mean \"order_only\"?)"),
            ("var", " (did you mean \"vars\"?)"),
            ("sources", ""),
            ("", ""),
        ] {
            assert_eq!(did_you_mean(word, &known), expected, "{word}");
        }
        assert_eq!(did_you_mean(&"inputs".repeat(1000), &known), "");
    }
}
