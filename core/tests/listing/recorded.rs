//! Buffers as operating systems wrote them. Each file of `recorded/` says where it is from; the programs that recorded them
//! lie beside them. What the directories held is said here.

use crate::damage::Format;
use std::collections::{BTreeMap, BTreeSet};
use upcheck::collect::Kind;
use upcheck::collect::listing::dirents;
use upcheck::collect::listing::windows::{self, Class};

/// Each recorded buffer.
pub(crate) fn all() -> Vec<(Format, Vec<u8>)> {
    FILES
        .iter()
        .flat_map(|(format, text)| buffers(text).into_iter().map(|buffer| (*format, buffer)))
        .collect()
}

const WINE_2: &str = include_str!("recorded/wine-2.hex");
const WINE_3: &str = include_str!("recorded/wine-3.hex");
const WINE_37: &str = include_str!("recorded/wine-37.hex");
const WINE_37_SMALL: &str = include_str!("recorded/wine-37-small.hex");
const WINE_38: &str = include_str!("recorded/wine-38.hex");
const EXT4: &str = include_str!("recorded/linux-ext4.hex");
const TMPFS: &str = include_str!("recorded/linux-tmpfs.hex");

const WINE: [(Format, &str); 5] = [
    (Format::Windows(Class::Full), WINE_2),
    (Format::Windows(Class::Both), WINE_3),
    (Format::Windows(Class::IdBoth), WINE_37),
    (Format::Windows(Class::IdBoth), WINE_37_SMALL),
    (Format::Windows(Class::IdFull), WINE_38),
];

const FILES: [(Format, &str); 7] = [
    WINE[0],
    WINE[1],
    WINE[2],
    WINE[3],
    WINE[4],
    // Their numbers are those of a processor with the lowest byte first, which is not looked at here.
    (Format::Dirents, EXT4),
    (Format::Dirents, TMPFS),
];

/// The buffers of a recording: hexadecimal digits, an empty line between two.
fn buffers(text: &str) -> Vec<Vec<u8>> {
    let digits = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let buffer = |part: &str| {
        let digits: Vec<u8> = part.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex");
        digits.chunks(2).map(byte).collect::<Vec<u8>>()
    };
    digits.split("\n\n").map(buffer).filter(|buffer| !buffer.is_empty()).collect()
}

/// What `touch -d` was told, in nanoseconds since 1970.
const EVENING: i64 = 1_795_298_400_123_456_700;

/// Name, inode, time as it was set, size; of files alone.
const FILES_THERE: [(&str, u64, i64, u64); 8] = [
    (".hidden", 10_215_937, -302_032_433_400_000_000, 3),
    ("a.c", 10_215_931, 1_582_979_696_123_456_789, 1),
    ("twin.c", 10_215_931, 1_582_979_696_123_456_789, 1),
    (LONG, 10_215_939, EVENING, 1),
    ("with two spaces.txt", 10_215_932, -1, 9),
    ("ünïcode.h", 10_215_933, 7_258_118_400_500_000_000, 0),
    ("日本語", 10_215_934, EVENING, 5),
    ("😀.txt", 10_215_935, EVENING, 1),
];

const LONG: &str = "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-\
                    long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-\
                    long-long-name.o";

fn text(units: &[u8]) -> String {
    let units: Vec<u16> = units.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).expect("UTF-16")
}

#[test]
fn wine_lists_what_was_there() {
    for (format, recorded) in WINE {
        let Format::Windows(class) = format else { unreachable!("that is all there is in Wine") };
        let buffers = buffers(recorded);
        let entries = buffers.iter().flat_map(|buffer| windows::entries(class, buffer));
        let entries: Vec<_> = entries.map(|entry| entry.expect("it is whole")).collect();
        let found: BTreeMap<String, &windows::Entry<'_>> =
            entries.iter().map(|entry| (text(entry.name), entry)).collect();
        assert_eq!(found.len(), entries.len());

        let has_id = !matches!(class, Class::Full | Class::Both);
        let mut names: BTreeSet<&str> = BTreeSet::from([".", "..", "obj", "link.c", "pipe"]);
        for (name, inode, mtime, size) in FILES_THERE {
            let entry = found[name];
            assert_eq!(entry.mtime, mtime.div_euclid(100) * 100, "{class:?} {name}");
            assert_eq!(entry.size, size, "{class:?} {name}");
            assert_eq!(entry.file_id, if has_id { inode.into() } else { 0 }, "{class:?} {name}");
            assert!(!entry.is_directory() && !entry.is_dot() && entry.reparse_tag.is_none(), "{name}");
            names.insert(name);
        }
        assert!(found.keys().map(String::as_str).eq(names), "{found:?}");
        assert!(found["."].is_dot() && found[".."].is_dot() && found["obj"].is_directory());
        // Wine follows links, and leaves out those that lead nowhere.
        assert_eq!(found["link.c"].mtime, found["a.c"].mtime);

        let has_short = matches!(class, Class::Both | Class::IdBoth);
        let short = |name: &str| text(found[name].short_name);
        assert_eq!(short("with two spaces.txt"), if has_short { "WITH~RF0.TXT" } else { "" });
        assert_eq!(short("a.c"), "");
    }
}

#[test]
#[cfg(target_endian = "little")]
fn linux_lists_what_was_there() {
    for (recorded, n_buffers) in [(EXT4, 1), (TMPFS, 3)] {
        let buffers = buffers(recorded);
        assert_eq!(buffers.len(), n_buffers);
        let entries = buffers.iter().flat_map(|buffer| dirents::entries(buffer));
        let found: BTreeMap<Vec<u8>, dirents::Entry<'_>> = entries
            .map(|entry| entry.expect("it is whole"))
            .map(|entry| (entry.name.to_vec(), entry))
            .collect();
        let mut expected = BTreeMap::from([
            (b".".to_vec(), Kind::Directory),
            (b"..".to_vec(), Kind::Directory),
            (b"obj".to_vec(), Kind::Directory),
            (b"link.c".to_vec(), Kind::Link),
            (b"dangling".to_vec(), Kind::Link),
            (b"pipe".to_vec(), Kind::Other),
        ]);
        expected.extend(FILES_THERE.map(|(name, ..)| (name.as_bytes().to_vec(), Kind::File)));
        if recorded == EXT4 {
            expected.insert(b"bytes-\xff\xfe.o".to_vec(), Kind::File);
            expected.extend([b"socket".to_vec(), b"device".to_vec()].map(|name| (name, Kind::Other)));
            for (name, inode, ..) in FILES_THERE {
                assert_eq!(found[name.as_bytes()].inode, inode, "{name}");
            }
        }
        let kinds: BTreeMap<_, _> = found.into_iter().map(|(name, entry)| (name, entry.kind)).collect();
        assert_eq!(kinds, expected);
    }
}
