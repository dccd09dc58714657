//! What Windows writes into a buffer of changes: a `FILE_NOTIFY_INFORMATION` behind the other.
//!
//! ```text
//!   0   where the next one begins, seen from this one; 0: there is none
//!   4   what happened
//!   8   the length of the name in bytes
//!   12  the name, in UTF-16, as it is below the watched directory
//! ```

use super::What;

/// `FILE_ACTION_MODIFIED`. All else is about names that come or go.
const MODIFIED: u32 = 3;

/// What stands in a buffer, as far as it keeps to the format.
pub(super) fn parse(mut buffer: &[u8]) -> Vec<(What, Vec<u16>)> {
    let mut all = Vec::new();
    loop {
        let (Some(next), Some(action), Some(length)) =
            (number(buffer, 0), number(buffer, 4), number(buffer, 8))
        else {
            return all;
        };
        let Some(name) = buffer.get(12..).and_then(|rest| rest.get(..length as usize)) else { return all };
        let name = name.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        all.push((if action == MODIFIED { What::Content } else { What::Name }, name));
        match buffer.get(next as usize..) {
            Some(rest) if next > 0 => buffer = rest,
            _ => return all,
        }
    }
}

fn number(buffer: &[u8], at: usize) -> Option<u32> {
    let bytes = buffer.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(next: u32, action: u32, name: &str) -> Vec<u8> {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u32::try_from(name.len()).expect("short");
        let mut entry: Vec<u8> = [next, action, length].into_iter().flat_map(u32::to_le_bytes).collect();
        entry.extend(name);
        entry.resize(entry.len().max(next as usize), 0);
        entry
    }

    #[test]
    fn each_entry_is_found_and_its_name() {
        let buffer = [entry(24, 3, "a\\b"), entry(16, 1, "é"), entry(0, 5, "c")].concat();
        let names = |all: Vec<(What, Vec<u16>)>| -> Vec<_> {
            all.into_iter().map(|(what, name)| (what, String::from_utf16_lossy(&name))).collect()
        };
        let expected = [(What::Content, "a\\b"), (What::Name, "é"), (What::Name, "c")];
        assert_eq!(names(parse(&buffer)), expected.map(|(what, name)| (what, name.to_owned())));
    }

    #[test]
    fn what_is_cut_short_or_damaged_ends_it_and_nothing_else() {
        let buffer = [entry(24, 3, "a\\b"), entry(16, 1, "é"), entry(0, 5, "c")].concat();
        for length in 0..buffer.len() {
            assert!(parse(&buffer[..length]).len() < 3, "{length}");
        }
        for at in 0..buffer.len() {
            for bits in [1, 0x80, 0xff] {
                let mut damaged = buffer.clone();
                damaged[at] ^= bits;
                // However it ends, it ends: what leads to the next one leads forward.
                assert!(parse(&damaged).len() <= buffer.len(), "{at}");
            }
        }
        assert!(parse(&[]).is_empty());
    }
}
