//! Whatever is written is read again, and no damage leads astray: entries at random.

use crate::damage::{self, Format};
use crate::encode::{self, Entry, utf16};
use proptest::prelude::*;
use upcheck::collect::Kind;
use upcheck::collect::listing::windows::{self, Class, REPARSE_POINT};
use upcheck::collect::listing::{attributes, dirents};

fn entry() -> impl Strategy<Value = Entry> {
    let name = prop::collection::vec(prop_oneof![0x20_u16..0x7f, any::<u16>()], 1..40);
    let short_name = prop::collection::vec(any::<u16>(), 0..=12);
    let kind = prop_oneof![
        4 => Just(Kind::File),
        1 => Just(Kind::Directory),
        1 => Just(Kind::Link),
        1 => Just(Kind::Other),
        1 => Just(Kind::Unknown)
    ];
    let error = prop_oneof![8 => Just(0_u32), 1 => 1_u32..200];
    let numbers = (any::<i64>(), any::<i64>(), any::<u64>(), any::<u128>(), any::<u32>(), any::<u32>());
    (name, short_name, numbers, any::<u32>(), kind, error).prop_map(
        |(name, short_name, (mtime, ctime, size, id, attributes, tag), links, kind, error)| Entry {
            name,
            short_name,
            mtime,
            ctime,
            size,
            id,
            attributes,
            tag,
            links,
            kind,
            error,
        },
    )
}

fn class() -> impl Strategy<Value = Class> {
    prop::sample::select(&Class::ALL)
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![class().prop_map(Format::Windows), Just(Format::Dirents), Just(Format::Attributes)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn listings_of_windows_are_read_as_they_were_written(
        class in class(), entries in prop::collection::vec(entry(), 0..12)
    ) {
        let buffer = encode::windows(class, &entries);
        let read: Vec<_> = windows::entries(class, &buffer).collect::<Result<_, _>>().expect("it is whole");
        prop_assert_eq!(read.len(), entries.len());
        for (read, entry) in read.iter().zip(&entries) {
            let has_short = matches!(class, Class::Both | Class::IdBoth | Class::IdExtdBoth);
            let id = match class {
                Class::Full | Class::Both => 0,
                Class::IdBoth | Class::IdFull => entry.id & u128::from(u64::MAX),
                Class::IdExtd | Class::IdExtdBoth => entry.id,
            };
            let is_reparse_point = entry.attributes & REPARSE_POINT != 0;
            let short = utf16(if has_short { &entry.short_name } else { &[] });
            let name = utf16(&entry.name);
            prop_assert_eq!(*read, windows::Entry {
                name: &name,
                short_name: &short,
                mtime: windows::mtime(entry.mtime),
                ctime: windows::mtime(entry.ctime),
                size: entry.size,
                file_id: id,
                attributes: entry.attributes,
                reparse_tag: is_reparse_point.then_some(entry.tag),
            });
        }
    }

    #[test]
    fn listings_of_linux_are_read_as_they_were_written(entries in prop::collection::vec(entry(), 0..12)) {
        let buffer = encode::dirents(&entries);
        let read: Vec<_> = dirents::entries(&buffer).collect::<Result<_, _>>().expect("it is whole");
        prop_assert_eq!(read.len(), entries.len());
        for (read, entry) in read.iter().zip(&entries) {
            let name = entry.byte_name();
            let inode = u64::try_from(entry.id & u128::from(u64::MAX)).expect("masked");
            prop_assert_eq!(*read, dirents::Entry { name: &name, inode, kind: entry.kind });
        }
    }

    #[test]
    fn listings_of_macos_are_read_as_they_were_written(entries in prop::collection::vec(entry(), 0..12)) {
        let buffer = encode::attribute_lists(&entries);
        let read: Vec<_> =
            attributes::entries(&buffer, entries.len()).collect::<Result<_, _>>().expect("it is whole");
        prop_assert_eq!(read.len(), entries.len());
        for (read, entry) in read.iter().zip(&entries) {
            let name = entry.byte_name();
            let is_known = entry.error == 0;
            let is_file = is_known && entry.kind == Kind::File;
            let inode = u64::try_from(entry.id & u128::from(u64::MAX)).expect("masked");
            prop_assert_eq!(*read, attributes::Entry {
                name: &name,
                error: (!is_known).then_some(entry.error),
                kind: if is_known { entry.kind } else { Kind::Unknown },
                device: is_known.then_some(i32::try_from(entry.tag % 1000).expect("small")),
                mtime: is_known.then_some(entry.mtime),
                ctime: is_known.then_some(entry.ctime),
                inode: is_known.then_some(inode),
                links: is_file.then_some(entry.links),
                size: is_file.then_some(entry.size),
            });
            prop_assert_eq!(read.meta().is_some(), is_file);
        }
    }

    /// Some bytes are other ones, some are cut off: whatever comes out, it comes to an end, and each name is a part of
    /// the buffer.
    #[test]
    fn damaged_listings_come_to_an_end(
        format in format(),
        entries in prop::collection::vec(entry(), 1..12),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut buffer = format.encode(&entries);
        for (place, byte) in changes {
            let place = place.index(buffer.len());
            buffer[place] = byte;
        }
        if is_cut {
            buffer.truncate(cut.index(buffer.len()));
        }
        damage::read(format, &buffer, entries.len());
    }

    #[test]
    fn bytes_that_are_no_listing_at_all_come_to_an_end(
        format in format(), bytes in prop::collection::vec(any::<u8>(), 0..600), count in any::<usize>()
    ) {
        damage::read(format, &bytes, count);
    }
}
