//! What fanotify writes: events with file handles instead of open files (`FAN_REPORT_FID`, `FAN_REPORT_DFID_NAME`).
//!
//! ```text
//!   event    length  32 bits     version 8   0   length of this head 16      what happened 64   file 32   process 32
//!   record   type    8 bits, 0   length 16   file system 64
//!            length of the handle 32         its type 32      handle         name, NUL
//! ```
//!
//! Source: `fanotify(7)`; `include/uapi/linux/fanotify.h`. No I/O.

/// The only version there has ever been.
const VERSION: u8 = 3;
const HEAD: usize = 24;
/// What stands before a handle in a record.
const BEFORE_HANDLE: usize = 20;
/// Types of records.
const OBJECT: u8 = 1;
const DIRECTORY_AND_NAME: u8 = 2;
const DIRECTORY: u8 = 3;
/// A type of handles that are none: the kernel could not make one (`FILEID_INVALID`).
const NO_HANDLE: i32 = 0xff;

/// What a file system calls one of its files. It is not used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object<'a> {
    pub(super) file_system: u64,
    pub(super) kind: i32,
    pub(super) handle: &'a [u8],
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// Bits of what happened.
    pub(super) what: u64,
    /// The directory, and the name in it, that it happened to; `.` where it happened to the directory itself.
    pub(super) name: Option<(Object<'a>, &'a [u8])>,
    /// What it happened to.
    pub(super) itself: Option<Object<'a>>,
    /// Whether the kernel could not say all of that.
    pub(super) is_incomplete: bool,
}

/// It is not what this kernel should write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The events in what was read at once.
pub(super) fn events(mut bytes: &[u8], mut each: impl FnMut(Event<'_>)) -> Result<(), Malformed> {
    while !bytes.is_empty() {
        let length = u32_at(bytes, 0)? as usize;
        let head = u16_at(bytes, 6)?.into();
        if byte_at(bytes, 4)? != VERSION || head < HEAD || length < head || length > bytes.len() {
            return Err(Malformed);
        }
        let (event, rest) = bytes.split_at(length);
        let what = u64_at(event, 8)?;
        let mut found = Event { what, name: None, itself: None, is_incomplete: false };
        let mut records = &event[head..];
        while !records.is_empty() {
            let length = u16_at(records, 2)?.into();
            if length < 4 || length > records.len() {
                return Err(Malformed);
            }
            let (record, others) = records.split_at(length);
            if let OBJECT | DIRECTORY | DIRECTORY_AND_NAME = record[0] {
                match (record[0], object(record)?) {
                    (_, None) => found.is_incomplete = true,
                    (OBJECT, Some((object, _))) => found.itself = Some(object),
                    (DIRECTORY, Some((object, _))) => found.name = Some((object, b".")),
                    (_, named) => found.name = named,
                }
            }
            records = others;
        }
        each(found);
        bytes = rest;
    }
    Ok(())
}

/// What a record is about, and the name behind that; `None` where the kernel does not say.
fn object(record: &[u8]) -> Result<Option<(Object<'_>, &[u8])>, Malformed> {
    let file_system = u64::from(u32_at(record, 4)?) | u64::from(u32_at(record, 8)?) << 32;
    let (length, kind) = (u32_at(record, 12)? as usize, u32_at(record, 16)?.cast_signed());
    let end = BEFORE_HANDLE.checked_add(length).ok_or(Malformed)?;
    let handle = record.get(BEFORE_HANDLE..end).ok_or(Malformed)?;
    // What follows is a name, NUL, and what fills it up.
    let name = record[end..].split(|byte| *byte == 0).next().unwrap_or_default();
    let is_one = length > 0 && kind != NO_HANDLE;
    Ok(is_one.then_some((Object { file_system, kind, handle }, name)))
}

fn byte_at(bytes: &[u8], at: usize) -> Result<u8, Malformed> {
    bytes.get(at).copied().ok_or(Malformed)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Malformed> {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied().ok_or(Malformed)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Malformed> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Malformed> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(kind: u8, handle: &[u8], name: Option<&[u8]>) -> Vec<u8> {
        let name = name.map_or(Vec::new(), |name| [name, b"\0"].concat());
        let length = (BEFORE_HANDLE + handle.len() + name.len()).next_multiple_of(4);
        let mut record = vec![kind, 0];
        record.extend(u16::try_from(length).expect("short").to_ne_bytes());
        record.extend([7_u32, 9].map(u32::to_ne_bytes).concat());
        record.extend(u32::try_from(handle.len()).expect("short").to_ne_bytes());
        record.extend(1_i32.to_ne_bytes());
        record.extend([handle, &name].concat());
        record.resize(length, 0);
        record
    }

    fn event(what: u64, records: &[Vec<u8>]) -> Vec<u8> {
        let records = records.concat();
        let mut event = u32::try_from(HEAD + records.len()).expect("short").to_ne_bytes().to_vec();
        event.extend([VERSION, 0]);
        event.extend(24_u16.to_ne_bytes());
        event.extend(what.to_ne_bytes());
        event.extend([(-1_i32).to_ne_bytes(), 77_i32.to_ne_bytes()].concat());
        event.extend(records);
        event
    }

    /// What happened, the handle of the directory with the name, and the handle of what it happened to.
    type Read = (u64, Option<Vec<u8>>, Option<Vec<u8>>);

    fn read(bytes: &[u8]) -> Result<Vec<Read>, Malformed> {
        let mut all = Vec::new();
        events(bytes, |event| {
            assert!(!event.is_incomplete);
            for (object, _) in event.name.into_iter().chain(event.itself.map(|object| (object, &b""[..]))) {
                assert_eq!((object.file_system, object.kind), (7 | 9 << 32, 1));
            }
            all.push((
                event.what,
                event.name.map(|(object, name)| [object.handle, b"/", name].concat()),
                event.itself.map(|object| object.handle.to_vec()),
            ));
        })?;
        Ok(all)
    }

    fn recorded() -> Vec<u8> {
        [
            event(2, &[record(DIRECTORY_AND_NAME, b"dir-1234", Some(b"a.c")), record(OBJECT, b"file", None)]),
            event(0x400, &[record(OBJECT, b"file", None)]),
            event(4, &[record(DIRECTORY, b"dir-1234", None)]),
            event(4, &[record(4, b"a process", None), record(DIRECTORY_AND_NAME, b"d", Some(b"."))]),
            event(0x4000, &[]),
        ]
        .concat()
    }

    #[test]
    fn events_come_out_with_what_they_are_about() {
        let text = |text: &[u8]| Some(text.to_vec());
        let expected = vec![
            (2, text(b"dir-1234/a.c"), text(b"file")),
            (0x400, None, text(b"file")),
            (4, text(b"dir-1234/."), None),
            (4, text(b"d/."), None),
            (0x4000, None, None),
        ];
        assert_eq!(read(&recorded()), Ok(expected));
        assert_eq!(read(b""), Ok(Vec::new()));
    }

    #[test]
    fn what_the_kernel_cannot_name_is_incomplete() {
        let empty = record(OBJECT, b"", None);
        let mut none = record(DIRECTORY_AND_NAME, b"x", Some(b"a"));
        none[16..20].copy_from_slice(&NO_HANDLE.to_ne_bytes());
        let mut incomplete = Vec::new();
        for records in
            [vec![empty.clone()], vec![none.clone()], vec![none, record(OBJECT, b"x", None)], vec![]]
        {
            events(&event(2, &records), |event| incomplete.push(event.is_incomplete)).expect("an event");
        }
        assert_eq!(incomplete, [true, true, true, false]);
    }

    #[test]
    fn what_is_cut_short_or_claims_to_be_long_is_malformed() {
        let bytes = event(2, &[record(DIRECTORY_AND_NAME, b"dir-1234", Some(b"a.c"))]);
        for length in 1..bytes.len() {
            assert_eq!(read(&bytes[..length]), Err(Malformed), "{length}");
        }
        // The event, its head, the record, the handle.
        for (at, size) in [(0, 4), (6, 2), (26, 2), (36, 4)] {
            for value in [0, 0xff_u8] {
                let mut bytes = bytes.clone();
                bytes[at..at + size].fill(value);
                let mut n_incomplete = 0;
                let read = events(&bytes, |event| n_incomplete += u32::from(event.is_incomplete));
                // A handle of no bytes is none.
                let expected = if (at, value) == (36, 0) { (Ok(()), 1) } else { (Err(Malformed), 0) };
                assert_eq!((read, n_incomplete), expected, "{at} {value}");
            }
        }
        let mut other = bytes;
        other[4] = 4;
        assert_eq!(read(&other), Err(Malformed), "another version");
    }

    proptest! {
        #[test]
        fn random_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = events(&bytes, |_| {});
        }

        #[test]
        fn damage_is_read_without_a_panic(at in 0_usize..400, bits in 1_u8..=255) {
            let mut bytes = recorded();
            let at = at % bytes.len();
            bytes[at] ^= bits;
            let _ = events(&bytes, |_| {});
        }
    }
}
