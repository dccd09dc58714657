//! Whose a file is on Windows: what security descriptors and tokens say, read from the bytes that Windows fills.
//!
//! All numbers are little-endian. A security identifier, in short SID, is one byte of revision, one byte that counts its
//! parts, 6 bytes of authority, and 4 bytes for each part.

/// Administrators, `S-1-5-32-544`.
const ADMINISTRATORS: &[u8] = &[1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0];

/// What Windows filled: bytes, and the address at which they lay then, from which pointers in them count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) address: usize,
}

/// Whether a file with this security descriptor, a self-relative one, is that of the user whose token says `TOKEN_USER` and
/// `TOKEN_GROUPS`.
///
/// What an administrator makes with his rights in use belongs to all administrators. So this counts as his own; his token
/// has that group even while the rights are not in use. What cannot be understood is somebody else's.
pub(super) fn is_users(descriptor: &[u8], user: Filled<'_>, groups: Filled<'_>) -> bool {
    let owner = u32_at(descriptor, 4).and_then(|at| sid(descriptor, usize::try_from(at).ok()?));
    let Some(owner) = owner else { return false };
    owner == ADMINISTRATORS && is_in(ADMINISTRATORS, groups) || user.pointed_at(0) == Some(owner)
}

/// Whether a group is in `TOKEN_GROUPS`: their number, and for each a pointer and attributes.
fn is_in(group: &[u8], groups: Filled<'_>) -> bool {
    let n_groups = u32_at(groups.bytes, 0).unwrap_or(0);
    let pointer = size_of::<usize>();
    (0..n_groups as usize).map(|n| pointer + n * 2 * pointer).any(|at| groups.pointed_at(at) == Some(group))
}

impl<'a> Filled<'a> {
    /// The SID to which a pointer leads that stands at an offset.
    fn pointed_at(self, at: usize) -> Option<&'a [u8]> {
        let pointer = self.bytes.get(at..)?.first_chunk()?;
        sid(self.bytes, usize::from_ne_bytes(*pointer).checked_sub(self.address)?)
    }
}

/// The SID at an offset. No file has an owner at offset 0: there is the descriptor's own beginning.
fn sid(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..).filter(|_| at > 0)?;
    let [1, n_parts, ..] = *rest else { return None };
    rest.get(..8 + 4 * usize::from(n_parts))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `S-1-5-21-1-2-3-N`.
    fn person(n: u8) -> Vec<u8> {
        let parts = [21, 1, 2, 3, n].map(|part| [part, 0, 0, 0]);
        [&[1, 5, 0, 0, 0, 0, 0, 5][..], parts.as_flattened()].concat()
    }

    /// A descriptor with nothing but an owner, which stands behind other things.
    fn descriptor(owner: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1, 0, 0, 0x80, 24, 0, 0, 0];
        bytes.resize(24, 0);
        bytes.extend(owner);
        bytes
    }

    const ADDRESS: usize = 0x7000_0040;

    /// What a token says about its user.
    fn user(sid: &[u8]) -> Vec<u8> {
        let pointer = size_of::<usize>();
        let mut bytes = (ADDRESS + 2 * pointer).to_ne_bytes().to_vec();
        bytes.resize(2 * pointer, 0);
        bytes.extend(sid);
        bytes
    }

    /// What a token says about groups.
    fn groups(sids: &[Vec<u8>]) -> Vec<u8> {
        let pointer = size_of::<usize>();
        let mut bytes = u32::try_from(sids.len()).expect("few").to_le_bytes().to_vec();
        bytes.resize(pointer, 0);
        let mut at = pointer + sids.len() * 2 * pointer;
        for sid in sids {
            bytes.extend((ADDRESS + at).to_ne_bytes());
            // SE_GROUP_USE_FOR_DENY_ONLY: an administrator whose rights are not in use.
            bytes.extend(0x10_usize.to_ne_bytes());
            at += sid.len();
        }
        bytes.extend(sids.concat());
        bytes
    }

    fn filled(bytes: &[u8]) -> Filled<'_> {
        Filled { bytes, address: ADDRESS }
    }

    #[test]
    fn a_file_is_its_owners_and_that_of_administrators_is_each_administrators() {
        let (one, other, administrators) = (person(1), person(2), ADMINISTRATORS.to_vec());
        let plain = groups(&[person(9)]);
        let admin = groups(&[person(9), administrators.clone(), person(8)]);
        for (owner, groups, expected) in [
            (&one, &plain, true),
            (&one, &admin, true),
            (&other, &plain, false),
            (&other, &admin, false),
            // A group is not a person.
            (&person(9), &plain, false),
            (&administrators, &plain, false),
            (&administrators, &admin, true),
        ] {
            let descriptor = descriptor(owner);
            let found = is_users(&descriptor, filled(&user(&one)), filled(groups));
            assert_eq!(found, expected, "{owner:?} {groups:?}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_somebody_elses() {
        let one = person(1);
        let (user, none) = (user(&one), groups(&[]));
        // No owner at all; one that is outside; another revision.
        assert!(!is_users(&[1, 0, 0, 0x80, 0, 0, 0, 0], filled(&user), filled(&none)));
        assert!(!is_users(&[1, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF], filled(&user), filled(&none)));
        let mut odd = descriptor(&one);
        odd[24] = 2;
        assert!(!is_users(&odd, filled(&user), filled(&none)));
        // Two that cannot be read are not the same.
        assert!(!is_users(&[], filled(&[]), filled(&[])));
    }

    #[test]
    fn bytes_that_are_cut_off_or_damaged_say_no_more_than_they_have() {
        let (one, other) = (person(1), ADMINISTRATORS.to_vec());
        let (owned, user, groups) = (descriptor(&one), user(&one), groups(&[person(3), other]));
        for end in 0..owned.len() {
            assert!(!is_users(&owned[..end], filled(&user), filled(&groups)), "{end}");
        }
        for end in 0..user.len() {
            assert!(!is_users(&owned, filled(&user[..end]), filled(&groups)), "{end}");
        }
        let owned = descriptor(ADMINISTRATORS);
        for end in 0..groups.len() {
            assert!(!is_users(&owned, filled(&user), filled(&groups[..end])), "{end}");
        }
        for at in 0..groups.len() {
            let mut damaged = groups.clone();
            damaged[at] ^= 0xFF;
            // It may be found still, but nothing is read that is not there.
            is_users(&owned, filled(&user), filled(&damaged));
        }
    }
}
