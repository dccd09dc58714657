//! Damaged buffers: each byte changed, and cut off at each length. Recorded ones, too.

use crate::encode::{self, Entry};
use crate::recorded;
use upcheck::collect::Kind;
use upcheck::collect::listing::windows::{self, Class};
use upcheck::collect::listing::{Damaged, attributes, dirents};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Windows(Class),
    Dirents,
    Attributes,
}

impl Format {
    pub(crate) fn encode(self, entries: &[Entry]) -> Vec<u8> {
        match self {
            Self::Windows(class) => encode::windows(class, entries),
            Self::Dirents => encode::dirents(entries),
            Self::Attributes => encode::attribute_lists(entries),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        Class::ALL.into_iter().map(Self::Windows).chain([Self::Dirents, Self::Attributes])
    }
}

/// Reads a buffer, whatever is in it: the names, and what ended them too early. Panics if anything comes after that, if
/// there are more names than bytes, or a name that is not a part of the buffer or has no length.
pub(crate) fn read(format: Format, buffer: &[u8], count: usize) -> (Vec<Vec<u8>>, Option<Damaged>) {
    match format {
        Format::Windows(class) => {
            all(buffer, windows::entries(class, buffer).map(|entry| entry.map(|entry| (entry.name, 2))))
        }
        Format::Dirents => all(buffer, dirents::entries(buffer).map(|entry| entry.map(|e| (e.name, 1)))),
        Format::Attributes => {
            all(buffer, attributes::entries(buffer, count).map(|entry| entry.map(|e| (e.name, 1))))
        }
    }
}

fn all<'a>(
    buffer: &[u8],
    mut entries: impl Iterator<Item = Result<(&'a [u8], usize), Damaged>>,
) -> (Vec<Vec<u8>>, Option<Damaged>) {
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        match entry {
            Ok((name, unit)) => {
                let (all, name_at) = (buffer.as_ptr_range(), name.as_ptr_range());
                assert!(all.start <= name_at.start && name_at.end <= all.end);
                assert!(!name.is_empty() && name.len() % unit == 0);
                names.push(name.to_vec());
                assert!(names.len() <= buffer.len());
            }
            Err(damaged) => {
                assert!(damaged.at <= buffer.len() + u32::MAX as usize, "{damaged}");
                assert!(entries.next().is_none(), "something after {damaged}");
                return (names, Some(damaged));
            }
        }
    }
    (names, None)
}

fn sample() -> Vec<Entry> {
    let names = ["a.c", "with space.txt", "ünïcode.h", "x", "$#;.o"];
    names
        .iter()
        .zip([Kind::File, Kind::Directory, Kind::Link, Kind::File, Kind::Other])
        .enumerate()
        .map(|(at, (name, kind))| Entry {
            name: name.encode_utf16().collect(),
            short_name: "SHORT~1".encode_utf16().take(at * 2).collect(),
            mtime: 132_274_604_961_234_567,
            ctime: 132_274_604_961_234_568,
            size: 12_345,
            id: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10 + at as u128,
            attributes: if kind == Kind::Link { windows::REPARSE_POINT } else { 0x20 },
            tag: 0xa000_000c,
            links: 1,
            kind,
            error: if kind == Kind::Other { 13 } else { 0 },
        })
        .collect()
}

/// All buffers that are whole: made here and recorded.
fn whole() -> Vec<(Format, Vec<u8>, usize)> {
    let made = Format::all().map(|format| (format, format.encode(&sample()), sample().len()));
    made.chain(recorded::all().into_iter().map(|(format, buffer)| (format, buffer, 0))).collect()
}

#[test]
fn a_buffer_that_is_cut_off_yields_what_stands_before_the_cut() {
    for (format, buffer, count) in whole() {
        let (names, damaged) = read(format, &buffer, count);
        assert_eq!(damaged, None, "{format:?}");
        for length in 0..buffer.len() {
            let (found, damaged) = read(format, &buffer[..length], count);
            assert_eq!(found, names[..found.len()], "{format:?} cut at {length}");
            // Linux' entries stand on their own, and an empty buffer of Windows is one without entries.
            let may_be_whole = matches!(format, Format::Dirents) || length == 0;
            assert!(damaged.is_some() || may_be_whole, "{format:?} cut at {length} seems whole");
        }
    }
}

#[test]
fn a_buffer_with_any_bit_changed_comes_to_an_end() {
    for (format, buffer, count) in whole() {
        for at in 0..buffer.len() {
            for bit in 0..8 {
                let mut damaged = buffer.clone();
                damaged[at] ^= 1 << bit;
                read(format, &damaged, count);
            }
            for byte in [0, 0xff] {
                let mut damaged = buffer.clone();
                damaged[at] = byte;
                read(format, &damaged, count);
            }
        }
    }
}

#[test]
fn a_next_entry_that_is_this_one_or_within_it_is_a_damage() {
    for class in Class::ALL {
        let buffer = encode::windows(class, &sample());
        // What fills the first entry up begins right behind its name, which is the first one here: `a.c`.
        let end = encode::windows(class, &sample()[..1]).len();
        for offset in 1..end {
            let mut damaged = buffer.clone();
            damaged[..4].copy_from_slice(&u32::try_from(offset).expect("small").to_le_bytes());
            let (names, found) = read(Format::Windows(class), &damaged, 0);
            let found = found.map(|found| found.what);
            assert_eq!(
                (names.len(), found),
                (0, Some("a next entry that begins within it")),
                "{class:?} {offset}"
            );
        }
        for offset in [u32::MAX, u32::MAX - 7, 0x8000_0000, 0x7fff_ffff] {
            let mut damaged = buffer.clone();
            damaged[..4].copy_from_slice(&offset.to_le_bytes());
            let (names, found) = read(Format::Windows(class), &damaged, 0);
            assert_eq!(
                (names.len(), found.map(|found| found.what)),
                (1, Some("a beginning beyond the buffer"))
            );
        }
    }
}

#[test]
fn a_name_with_an_odd_number_of_bytes_or_none_is_a_damage() {
    for class in Class::ALL {
        for length in [0_u32, 1, 3, 5] {
            let mut damaged = encode::windows(class, &sample());
            damaged[60..64].copy_from_slice(&length.to_le_bytes());
            let (names, found) = read(Format::Windows(class), &damaged, 0);
            assert!(names.is_empty());
            assert_eq!(found, Some(Damaged { at: 0, what: "a name with an odd number of bytes, or none" }));
        }
    }
}

#[test]
fn a_short_name_that_is_too_long_or_odd_is_a_damage() {
    for (class, place) in [(Class::Both, 68), (Class::IdBoth, 68), (Class::IdExtdBoth, 88)] {
        for length in 0..=u8::MAX {
            let mut buffer = encode::windows(class, &sample());
            buffer[place] = length;
            let (names, found) = read(Format::Windows(class), &buffer, 0);
            let is_good = length <= 24 && length % 2 == 0;
            assert_eq!((names.is_empty(), found.is_none()), (!is_good, is_good), "{class:?} {length}");
        }
    }
}

#[test]
fn an_entry_of_linux_without_room_for_a_name_is_a_damage() {
    for length in 0_u16..=19 {
        let mut buffer = encode::dirents(&sample());
        buffer[16..18].copy_from_slice(&length.to_ne_bytes());
        let (names, found) = read(Format::Dirents, &buffer, 0);
        let expected = Damaged { at: 0, what: "a length that leaves no room for a name" };
        assert_eq!((names.len(), found), (0, Some(expected)), "{length}");
    }
}

#[test]
fn names_without_an_end_or_outside_of_their_entry_are_damages() {
    let mut entry = sample().remove(0);
    entry.name = "abcd".encode_utf16().collect();
    // 19 + 4 + 1 bytes: the NUL is the last one.
    let mut dirent = encode::dirents(&[entry.clone()]);
    *dirent.last_mut().expect("a byte") = b'x';
    assert_eq!(read(Format::Dirents, &dirent, 0).1.expect("damaged").what, "a name without an end");

    let whole = encode::attribute_lists(&[entry]);
    // Behind the length, the set, and that there was no error.
    let place_of_reference = 28;
    for (offset, length, what) in [
        (0_u32, 0_u32, "a name without an end"),
        (u32::MAX, 5, "an empty name"),
        (0x8000_0000, 5, "a name that lies outside"),
        (0x7fff_ffff, 5, "a name that lies outside"),
        (8, u32::MAX, "a name that lies outside"),
        (u32::try_from(whole.len()).expect("small"), 1, "a name that lies outside"),
    ] {
        let mut damaged = whole.clone();
        damaged[place_of_reference..place_of_reference + 4].copy_from_slice(&offset.to_ne_bytes());
        damaged[place_of_reference + 4..place_of_reference + 8].copy_from_slice(&length.to_ne_bytes());
        let (_, found) = read(Format::Attributes, &damaged, 1);
        assert_eq!(found.map(|found| found.what), Some(what), "{offset:#x} {length:#x}");
    }
}

#[test]
fn attributes_that_nobody_asked_for_are_a_damage() {
    let whole = encode::attribute_lists(&sample());
    for group in 0..5 {
        for bit in 0..32 {
            let asked = [attributes::COMMON, 0, 0, attributes::FILE, 0][group];
            if asked & (1 << bit) != 0 {
                continue;
            }
            let mut damaged = whole.clone();
            damaged[4 + group * 4 + bit / 8] |= 1 << (bit % 8);
            let (names, found) = read(Format::Attributes, &damaged, sample().len());
            assert!(names.is_empty());
            assert_eq!(found.map(|found| found.what), Some("an attribute that was not asked for"));
        }
    }
}

#[test]
fn more_entries_than_there_are_bytes_for_are_a_damage() {
    let whole = encode::attribute_lists(&sample());
    let n = sample().len();
    assert_eq!(read(Format::Attributes, &whole, n - 1).0.len(), n - 1);
    let (names, found) = read(Format::Attributes, &whole, usize::MAX);
    assert_eq!((names.len(), found.map(|found| found.at)), (n, Some(whole.len())));
}
