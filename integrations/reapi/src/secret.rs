//! What nobody is to read in a message, a log or an answer.

use std::fmt;

/// A password, a token, the value of a header. It is shown as `***`, whatever shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// What stands where a secret was.
pub(crate) const HIDDEN: &str = "***";

impl Secret {
    /// Takes the text in.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Puts `***` where a text has the secret in it. Short ones are left: they are in every text, and no secrets.
    pub(crate) fn hide_in(&self, text: &mut String) {
        // A header has its kind in front: the token alone, as a server may quote it, is as secret.
        for part in [self.0.as_str(), self.0.rsplit(' ').next().unwrap_or_default()] {
            if part.len() >= 4 && text.contains(part) {
                *text = text.replace(part, HIDDEN);
            }
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("Bearer abcdef");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        let mut text = "bad header Bearer abcdef, that is token abcdef".to_owned();
        secret.hide_in(&mut text);
        assert_eq!(text, "bad header ***, that is token ***");
    }
}
