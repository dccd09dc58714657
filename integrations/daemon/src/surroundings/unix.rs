//! What a process sees on Unix.

use std::os::unix::fs::MetadataExt;

/// Variables that say where images are kept.
pub(super) const VARIABLES: &[&str] = &["HOME", "XDG_CACHE_HOME", "UPCHECK_CACHE_DIR"];
/// Keys of what says which files there are.
pub(super) const FILES: &[&str] = &["mnt", "user", "root"];
/// Keys of what says what a process may read: on Linux lines of `/proc/self/status`.
pub(super) const RIGHTS: &[&str] = &["Uid", "Gid", "Groups", "CapEff", "Seccomp"];

/// Says all that has to do with files and rights. `None` where the system does not say.
pub(super) fn look(put: &mut impl FnMut(&str, String)) -> Option<()> {
    #[cfg(target_os = "linux")]
    for namespace in ["mnt", "user"] {
        let link = std::fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
        put(namespace, link.to_str()?.to_owned());
    }
    let root = std::fs::metadata("/").ok()?;
    put("root", format!("{:x}:{:x}{}", root.dev(), root.ino(), mount_of_root()));
    rights(put)
}

/// The number of the mount that the root is: the same directory may be another root, with other mounts below it. Empty where the
/// kernel does not say.
#[cfg(target_os = "linux")]
fn mount_of_root() -> String {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let root = statx(CWD, "/", AtFlags::empty(), StatxFlags::MNT_ID);
    let root = root.ok().filter(|root| root.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    root.map_or(String::new(), |root| format!(":{:x}", root.stx_mnt_id))
}

/// The same.
#[cfg(not(target_os = "linux"))]
fn mount_of_root() -> String {
    String::new()
}

#[cfg(target_os = "linux")]
fn rights(put: &mut impl FnMut(&str, String)) -> Option<()> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    for right in RIGHTS {
        let line = status.lines().find_map(|line| line.strip_prefix(right)?.strip_prefix(':'));
        put(right, line.unwrap_or_default().trim().to_owned());
    }
    Some(())
}

/// Who it is. Nothing is known here of sandboxes.
#[cfg(not(target_os = "linux"))]
fn rights(put: &mut impl FnMut(&str, String)) -> Option<()> {
    use rustix::process::{getegid, geteuid, getgid, getgroups, getuid};
    let mut groups: Vec<u32> = getgroups().ok()?.into_iter().map(|group| group.as_raw()).collect();
    groups.sort_unstable();
    groups.dedup();
    put("Uid", format!("{} {}", getuid().as_raw(), geteuid().as_raw()));
    put("Gid", format!("{} {}", getgid().as_raw(), getegid().as_raw()));
    put("Groups", groups.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    Some(())
}

/// What stands for the local time.
pub(super) fn local_time() -> String {
    std::fs::metadata("/etc/localtime")
        .map_or(String::new(), |zone| format!("{:x}:{:x}:{:x}", zone.dev(), zone.ino(), zone.mtime()))
}
