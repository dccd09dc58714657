//! Writes buffers as operating systems do: the second opinion on what the parsers read.

use upcheck::collect::Kind;
use upcheck::collect::listing::attributes;
use upcheck::collect::listing::windows::{Class, REPARSE_POINT};

/// An entry, as far as any of the formats can hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// For Windows, text of UTF-16; for others, its low bytes.
    pub(crate) name: Vec<u16>,
    pub(crate) short_name: Vec<u16>,
    /// Counted in 100 ns since 1601 for Windows, in nanoseconds since 1970 for macOS.
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) size: u64,
    pub(crate) id: u128,
    pub(crate) attributes: u32,
    pub(crate) tag: u32,
    pub(crate) links: u32,
    pub(crate) kind: Kind,
    pub(crate) error: u32,
}

impl Entry {
    pub(crate) fn byte_name(&self) -> Vec<u8> {
        self.name.iter().map(|unit| unit.to_le_bytes()[0].max(1)).collect()
    }
}

pub(crate) fn utf16(units: &[u16]) -> Vec<u8> {
    units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
}

/// `FILE_*_DIR_INFORMATION`. Entries begin at multiples of 8 bytes; the last one ends with its name.
pub(crate) fn windows(class: Class, entries: &[Entry]) -> Vec<u8> {
    let mut buffer = Vec::new();
    let mut last = 0;
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            buffer.resize(buffer.len().next_multiple_of(8), 0xee);
            let offset = u32::try_from(buffer.len() - last).expect("small");
            buffer[last..last + 4].copy_from_slice(&offset.to_le_bytes());
            last = buffer.len();
        }
        windows_entry(class, entry, &mut buffer);
    }
    buffer
}

fn windows_entry(class: Class, entry: &Entry, out: &mut Vec<u8>) {
    let (has_tag_field, has_short, id_bytes) = match class {
        Class::Full => (false, false, 0),
        Class::Both => (false, true, 0),
        Class::IdBoth => (false, true, 8),
        Class::IdFull => (false, false, 8),
        Class::IdExtd => (true, false, 16),
        Class::IdExtdBoth => (true, true, 16),
    };
    let is_reparse_point = entry.attributes & REPARSE_POINT != 0;
    let name = utf16(&entry.name);
    out.extend([0; 8]);
    for time in [1, 2, entry.mtime, entry.ctime] {
        out.extend(time.to_le_bytes());
    }
    out.extend(entry.size.to_le_bytes());
    out.extend(entry.size.next_multiple_of(4096).to_le_bytes());
    out.extend(entry.attributes.to_le_bytes());
    out.extend(u32::try_from(name.len()).expect("short").to_le_bytes());
    let extended = if is_reparse_point && !has_tag_field { entry.tag } else { 77 };
    out.extend(extended.to_le_bytes());
    if has_tag_field {
        out.extend(if is_reparse_point { entry.tag } else { 99 }.to_le_bytes());
    }
    let short = |out: &mut Vec<u8>| {
        let name = utf16(&entry.short_name);
        out.extend([u8::try_from(name.len()).expect("short"), 0xee]);
        out.extend(&name);
        out.resize(out.len() + 24 - name.len(), 0xee);
    };
    match (has_short, id_bytes) {
        (false, 0) => {}
        (true, 0) => short(out),
        (true, 8) => {
            short(out);
            out.extend([0xee; 2]);
            out.extend(&entry.id.to_le_bytes()[..8]);
        }
        (false, 8) => {
            out.extend([0xee; 4]);
            out.extend(&entry.id.to_le_bytes()[..8]);
        }
        (false, _) => out.extend(entry.id.to_le_bytes()),
        (true, _) => {
            out.extend(entry.id.to_le_bytes());
            short(out);
        }
    }
    out.extend(name);
}

/// `struct linux_dirent64`.
pub(crate) fn dirents(entries: &[Entry]) -> Vec<u8> {
    let mut buffer = Vec::new();
    for (at, entry) in (1_i64..).zip(entries) {
        let name = entry.byte_name();
        let length = (19 + name.len() + 1).next_multiple_of(8);
        let start = buffer.len();
        buffer.extend(u64::try_from(entry.id & u128::from(u64::MAX)).expect("masked").to_ne_bytes());
        buffer.extend(at.to_ne_bytes());
        buffer.extend(u16::try_from(length).expect("short").to_ne_bytes());
        buffer.push(match entry.kind {
            Kind::File => 8,
            Kind::Directory => 4,
            Kind::Link => 10,
            Kind::Other => 6,
            Kind::Unknown => 0,
        });
        buffer.extend(name);
        buffer.resize(start + length, 0);
    }
    buffer
}

/// Attribute lists, with all that [`attributes::COMMON`] and [`attributes::FILE`] ask for; of an entry with an
/// error only that and its name.
pub(crate) fn attribute_lists(entries: &[Entry]) -> Vec<u8> {
    let mut buffer = Vec::new();
    for entry in entries {
        let start = buffer.len();
        let is_file = entry.kind == Kind::File && entry.error == 0;
        let common = match entry.error {
            // Whether a system says that there was no error is its own affair.
            0 if entry.links % 2 == 0 => attributes::COMMON & !attributes::ERROR,
            0 => attributes::COMMON,
            _ => attributes::RETURNED | attributes::ERROR | attributes::NAME,
        };
        let file = if is_file { attributes::FILE } else { 0 };
        buffer.extend([0; 4]);
        for group in [common, 0, 0, file, 0] {
            buffer.extend(group.to_ne_bytes());
        }
        if common & attributes::ERROR != 0 {
            buffer.extend(entry.error.to_ne_bytes());
        }
        let reference = buffer.len();
        buffer.extend([0; 8]);
        if entry.error == 0 {
            buffer.extend(i32::try_from(entry.tag % 1000).expect("small").to_ne_bytes());
            buffer.extend(
                match entry.kind {
                    Kind::File => 1_u32,
                    Kind::Directory => 2,
                    Kind::Link => 5,
                    Kind::Other => 7,
                    Kind::Unknown => 0,
                }
                .to_ne_bytes(),
            );
            for time in [entry.mtime, entry.ctime] {
                buffer.extend(time.div_euclid(1_000_000_000).to_ne_bytes());
                buffer.extend(time.rem_euclid(1_000_000_000).to_ne_bytes());
            }
            buffer.extend(u64::try_from(entry.id & u128::from(u64::MAX)).expect("masked").to_ne_bytes());
        }
        if is_file {
            buffer.extend(entry.links.to_ne_bytes());
            buffer.extend(entry.size.to_ne_bytes());
        }
        let name = [entry.byte_name(), vec![0]].concat();
        let offset = u32::try_from(buffer.len() - reference).expect("small");
        buffer[reference..reference + 4].copy_from_slice(&offset.to_ne_bytes());
        let length = u32::try_from(name.len()).expect("short");
        buffer[reference + 4..reference + 8].copy_from_slice(&length.to_ne_bytes());
        buffer.extend(name);
        buffer.resize(buffer.len().next_multiple_of(8), 0);
        let length = u32::try_from(buffer.len() - start).expect("small");
        buffer[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    }
    buffer
}
