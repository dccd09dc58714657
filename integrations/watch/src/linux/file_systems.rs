//! Which file systems tell of all that changes in them.
//!
//! The kernel tells of what it does itself. So a file system is vouched for if nothing but this kernel can change it: not if it
//! is shared with other machines, served by a process, or made of others that can be changed on their own. What is not in
//! the table is not vouched for.

use super::mounts::upper_layers;
use crate::backend::Doubt;
use rapidhash::{RapidHashMap, RapidHashSet};
use rustix::fs::{Mode, OFlags, ioctl_getflags, open, statfs};
use rustix::path::Arg;

/// Names in the directory are found whatever the case of their letters is (`FS_CASEFOLD_FL`).
const CASEFOLD: u32 = 0x4000_0000;
/// Names in the directory are encrypted (`FS_ENCRYPT_FL`): whoever has the key makes them appear.
const ENCRYPTED: u32 = 0x0000_0800;

/// Whether a file system of this type (`f_type` of statfs) tells of all that changes.
fn is_vouched_for(magic: i64) -> bool {
    // Some types are negative where the field has 32 bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a type has 32 bits")]
    match magic as u32 {
        // ext2, ext3, ext4; XFS; Btrfs; tmpfs; F2FS
        0xef53 | 0x5846_5342 | 0x9123_683e | 0x0102_1994 | 0xf2f5_2010 => true,
        _ => false,
    }
}

/// What is known of devices, by their number.
#[derive(Debug)]
pub(super) struct FileSystems {
    known: RapidHashMap<u64, Result<(), Doubt>>,
    /// Device and inode of directories that are layers of other file systems.
    layers: RapidHashSet<(u64, u64)>,
}

impl FileSystems {
    /// As they are mounted now.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { known: RapidHashMap::default(), layers: upper_layers()? })
    }

    /// Whether a directory with a device and an inode tells of all that changes in it.
    pub(super) fn judge(&mut self, device: u64, inode: u64, directory: &[u8]) -> Result<(), Doubt> {
        if self.layers.contains(&(device, inode)) {
            return Err(Doubt::Layer);
        }
        let known = self.known.get(&device).copied();
        let known = match known {
            Some(known) => known,
            None => {
                let known = look(directory);
                self.known.insert(device, known);
                known
            }
        };
        known?;
        judge_names(directory)
    }
}

#[allow(clippy::useless_conversion, reason = "the field has 32 or 64 bits")]
fn look(directory: &[u8]) -> Result<(), Doubt> {
    let found = statfs(directory).map_err(|error| Doubt::Refused(error.raw_os_error()))?;
    let magic = found.f_type.into();
    if is_vouched_for(magic) { Ok(()) } else { Err(Doubt::FileSystem(magic)) }
}

/// What names in a directory are found by is a matter of each directory.
fn judge_names(directory: impl Arg) -> Result<(), Doubt> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = open(directory, flags, Mode::empty()).map_err(|error| Doubt::Refused(error.raw_os_error()))?;
    // Where there are no such flags, there are no such names.
    match ioctl_getflags(&file).map(|flags| flags.bits()) {
        Ok(flags) if flags & CASEFOLD != 0 => Err(Doubt::CaseFolding),
        Ok(flags) if flags & ENCRYPTED != 0 => Err(Doubt::Encrypted),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_served_or_unknown_is_not_vouched_for() {
        let nfs_smb_9p_fuse_overlay = [0x6969, 0xfe53_4d42, 0x0102_1997, 0x6573_5546, 0x794c_7630];
        let ceph_proc_zfs_vfat_unknown = [0x00c3_6400, 0x9fa0, 0x2fc1_2fc1, 0x4d44, 0, 0x1234];
        for magic in nfs_smb_9p_fuse_overlay.into_iter().chain(ceph_proc_zfs_vfat_unknown) {
            assert!(!is_vouched_for(magic), "{magic:#x}");
        }
        assert!(is_vouched_for(0xef53));
        // As it looks where the field has 32 bits.
        assert!(is_vouched_for(i64::from(0x9123_683e_u32.cast_signed())));
    }
}
