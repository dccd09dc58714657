//! Texts and numbers one after the other, for the little things in an image that are no tables.

/// Writes texts and numbers.
#[derive(Debug, Default)]
pub struct WordWriter {
    bytes: Vec<u8>,
}

impl WordWriter {
    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_ne_bytes());
    }

    /// Adds a text: its length, then its bytes.
    pub fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    /// All that was added.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what a [`WordWriter`] has written, in the same order. `None` when there is no more, or it does not fit.
#[derive(Debug)]
pub struct WordReader<'a> {
    rest: &'a [u8],
}

impl<'a> WordReader<'a> {
    /// From the beginning.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next thing, a number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_ne_bytes(*number))
    }

    /// The next thing, a number below `limit`.
    pub fn index(&mut self, limit: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&index| index < limit)
    }

    /// The next thing, a text.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (text, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(text)
    }

    /// The next thing, a text for people.
    pub fn message(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.text()?).ok()
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_no_more() {
        let mut writer = WordWriter::default();
        writer.number(7);
        writer.text(b"a\xff");
        writer.text(b"");
        let bytes = writer.into_bytes();
        let mut reader = WordReader::new(&bytes);
        assert_eq!(reader.number(), Some(7));
        assert_eq!(reader.text(), Some(&b"a\xff"[..]));
        assert_eq!(reader.text(), Some(&b""[..]));
        assert!(reader.is_at_end());
        assert_eq!(reader.number(), None);
        for end in 0..bytes.len() {
            let mut reader = WordReader::new(&bytes[..end]);
            let all = reader.number().and_then(|_| reader.text()).and_then(|_| reader.text());
            assert_eq!(all, None, "{end}");
        }
    }
}
