//! Which kind of file system a directory lies on, as far as the platform tells.
//!
//! Linux: the number that statfs(2) has for the kind, and the name in `/proc/self/mountinfo`, which knows more: which
//! ext it is, and what is behind FUSE. Elsewhere nothing is known.

use super::finding::Finding;
use serde_json::{Map, Value};
use std::path::Path;

/// What a file system stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A disk of this machine.
    Local,
    /// Memory of this machine.
    Memory,
    /// Another machine's.
    Network,
    /// Layers of other file systems.
    Overlay,
    /// A program's.
    Fuse,
    /// A folder of the host, in a virtual machine.
    Host,
    Unknown,
}

/// Where a directory lies.
pub(crate) struct Place {
    name: Option<String>,
    kind: Kind,
    /// What statfs says; `None` where there is no such call.
    magic: Option<u32>,
    read_only: Option<bool>,
}

/// Asks about the file system of a directory.
pub(crate) fn place(directory: &Path) -> Place {
    let magic = magic(directory);
    let known = magic.and_then(by_magic);
    let mounted = mounted(directory);
    let name = mounted.or_else(|| known.map(|(name, _)| name.to_owned()));
    let kind = match (&name, known) {
        (Some(name), _) if name == "virtiofs" => Kind::Host,
        (_, Some((_, kind))) => kind,
        _ => Kind::Unknown,
    };
    Place { name, kind, magic, read_only: read_only(directory) }
}

impl Place {
    /// Whether another machine may change files, unseen by this one's kernel.
    pub(super) fn is_shared(&self) -> bool {
        match self.kind {
            Kind::Network | Kind::Host => true,
            // There the program only stands between the kernel and a disk.
            Kind::Fuse => self.name.as_deref() != Some("fuseblk"),
            _ => false,
        }
    }

    /// The file system, in words.
    pub(crate) fn words(&self) -> String {
        let access = match self.read_only {
            Some(true) => ", mounted read-only",
            _ => "",
        };
        match (&self.name, self.magic) {
            (Some(name), _) => format!("{name}, {}{access}", self.kind.words()),
            (None, Some(magic)) => format!("of a kind that is not known (statfs says {magic:#x}){access}"),
            (None, None) => "not known on this platform".to_owned(),
        }
    }

    /// The file system, for programs.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("type".into(), self.name.clone().into());
        object.insert("kind".into(), self.kind.name().into());
        object.insert("magic".into(), self.magic.into());
        object.insert("read_only".into(), self.read_only.into());
        object
    }

    /// The file system, and what its kind has in store.
    pub(super) fn finding(&self) -> Finding {
        let mut finding = Finding::info("file-system", self.words());
        finding.evidence = self.to_json();
        finding.advice = self.kind.advice().map(str::to_owned);
        finding
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Overlay => "overlay",
            Self::Fuse => "fuse",
            Self::Host => "host",
            Self::Unknown => "unknown",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Memory => "in memory",
            Self::Network => "over the network",
            Self::Overlay => "layers",
            Self::Fuse => "a program behind FUSE",
            Self::Host => "a folder of the host",
            Self::Unknown => "of an unknown kind",
        }
    }

    fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::Network | Self::Host => {
                "other machines' changes may show seconds late, and no watcher sees them: build where the disk is"
            }
            Self::Fuse => {
                "what stamps and inode numbers are worth is up to the program: see the measurements"
            }
            Self::Overlay => {
                "a file of a lower layer becomes another file when it is first written to: keep outputs in the upper one"
            }
            _ => return None,
        })
    }
}

/// The kinds that statfs(2) and the kernel's `magic.h` list.
fn by_magic(magic: u32) -> Option<(&'static str, Kind)> {
    Some(match magic {
        0xef53 => ("ext", Kind::Local),
        0x5846_5342 => ("xfs", Kind::Local),
        0x9123_683e => ("btrfs", Kind::Local),
        0x2fc1_2fc1 => ("zfs", Kind::Local),
        0xf2f5_2010 => ("f2fs", Kind::Local),
        0xca45_1a4e => ("bcachefs", Kind::Local),
        0x3153_464a => ("jfs", Kind::Local),
        0x5265_4973 => ("reiserfs", Kind::Local),
        0x3434 => ("nilfs2", Kind::Local),
        0x4d44 => ("vfat", Kind::Local),
        0x2011_bab0 => ("exfat", Kind::Local),
        0x5346_544e => ("ntfs", Kind::Local),
        0x7366_746e => ("ntfs3", Kind::Local),
        0x482b => ("hfsplus", Kind::Local),
        0x7371_7368 => ("squashfs", Kind::Local),
        0xe0f5_e1e2 => ("erofs", Kind::Local),
        0x9660 => ("iso9660", Kind::Local),
        0xf15f => ("ecryptfs", Kind::Local),
        0x0102_1994 => ("tmpfs", Kind::Memory),
        0x8584_58f6 => ("ramfs", Kind::Memory),
        0x794c_7630 => ("overlay", Kind::Overlay),
        0x6175_6673 => ("aufs", Kind::Overlay),
        0x6969 => ("nfs", Kind::Network),
        0x517b => ("smb", Kind::Network),
        0xff53_4d42 => ("cifs", Kind::Network),
        0xfe53_4d42 => ("smb2", Kind::Network),
        0x00c3_6400 => ("ceph", Kind::Network),
        0x5346_414f => ("afs", Kind::Network),
        0x0116_1970 => ("gfs2", Kind::Network),
        0x7461_636f => ("ocfs2", Kind::Network),
        0x0bd0_0bd0 => ("lustre", Kind::Network),
        0x4750_4653 => ("gpfs", Kind::Network),
        0x7375_7245 => ("coda", Kind::Network),
        0x6573_5546 => ("fuse", Kind::Fuse),
        0x0102_1997 => ("9p", Kind::Host),
        0x786f_4256 => ("vboxsf", Kind::Host),
        0xbacb_acbc => ("vmhgfs", Kind::Host),
        _ => return None,
    })
}

#[cfg(target_os = "linux")]
fn magic(directory: &Path) -> Option<u32> {
    let found = rustix::fs::statfs(directory).ok()?;
    // The type of the field differs between processors; the numbers fit into 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let magic = found.f_type as u32;
    Some(magic)
}

#[cfg(target_os = "linux")]
fn read_only(directory: &Path) -> Option<bool> {
    let found = rustix::fs::statvfs(directory).ok()?;
    Some(found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// The type of what is mounted where the directory lies.
#[cfg(target_os = "linux")]
fn mounted(directory: &Path) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    let place = upcheck::os_path::canonicalize(directory).ok()?;
    let table = std::fs::read("/proc/self/mountinfo").ok()?;
    mount_type(&table, place.as_os_str().as_bytes())
}

#[cfg(not(target_os = "linux"))]
fn magic(_directory: &Path) -> Option<u32> {
    None
}

#[cfg(not(target_os = "linux"))]
fn read_only(_directory: &Path) -> Option<bool> {
    None
}

#[cfg(not(target_os = "linux"))]
fn mounted(_directory: &Path) -> Option<String> {
    None
}

/// The type in the line of the innermost mount point, of several in one place the last. A line, see proc(5):
/// `36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/root rw`, the mount point with `\040` for a space.
#[cfg(any(target_os = "linux", test))]
fn mount_type(table: &[u8], place: &[u8]) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for line in table.split(|&byte| byte == b'\n') {
        let mut words = line.split(|&byte| byte == b' ');
        let Some(point) = words.by_ref().nth(4).map(unescape) else { continue };
        let Some(name) = words.skip_while(|word| *word != b"-").nth(1) else { continue };
        let is_inside = match place.strip_prefix(point.as_slice()) {
            Some(rest) => rest.is_empty() || rest[0] == b'/' || point == b"/",
            None => false,
        };
        if is_inside && best.as_ref().is_none_or(|(length, _)| point.len() >= *length) {
            best = Some((point.len(), crate::words::bytes(name)));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(any(target_os = "linux", test))]
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (text[at], code) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                at += 4;
            }
            (byte, _) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_and_last_mount_counts() {
        let table = b"1 0 8:1 / / rw - ext4 /dev/a rw\n\
            2 1 8:2 / /home rw,noatime shared:1 master:2 - xfs /dev/b rw\n\
            3 2 0:9 / /home/me/far\\040away rw - fuse.sshfs host: rw\n\
            4 1 8:3 / /home rw - btrfs /dev/c rw\n\
            bad line\n5 1\n";
        let of = |place: &str| mount_type(table, place.as_bytes());
        assert_eq!(of("/"), Some("ext4".into()));
        assert_eq!(of("/homes"), Some("ext4".into()));
        assert_eq!(of("/home"), Some("btrfs".into()));
        assert_eq!(of("/home/me/far away/x"), Some("fuse.sshfs".into()));
        assert_eq!(mount_type(b"", b"/"), None);
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        for (text, bytes) in [(&b"a\\040b"[..], &b"a b"[..]), (b"a\\0", b"a\\0"), (b"\\999", b"\\999")] {
            assert_eq!(unescape(text), bytes);
        }
    }
}
