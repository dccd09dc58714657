//! A view: what paths lead to depends on who asks. Two processes with the same view get the same answers from a disk.

use rustix::process::{getegid, geteuid, getgroups};
use std::os::unix::fs::MetadataExt;

/// Where a process stands: its mount namespace, its root, and what it may read. It can be sent to another one as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Device and inode of the mount namespace, and of the root directory.
    places: [u64; 4],
    user: u32,
    /// The group first, then the others, sorted.
    groups: Vec<u32>,
}

impl View {
    /// That of this process.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn here() -> std::io::Result<Self> {
        let root = std::fs::metadata("/")?;
        let namespace = if cfg!(target_os = "linux") {
            let namespace = std::fs::metadata("/proc/self/ns/mnt")?;
            (namespace.dev(), namespace.ino())
        } else {
            (0, 0)
        };
        let mut others: Vec<u32> = getgroups()?.into_iter().map(|group| group.as_raw()).collect();
        others.sort_unstable();
        others.dedup();
        let mut groups = vec![getegid().as_raw()];
        groups.append(&mut others);
        let places = [namespace.0, namespace.1, root.dev(), root.ino()];
        Ok(Self { places, user: geteuid().as_raw(), groups })
    }

    /// The view as bytes: equal bytes are equal views.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let places = self.places.iter().flat_map(|number| number.to_le_bytes());
        let numbers = [self.user].into_iter().chain(self.groups.iter().copied());
        places.chain(numbers.flat_map(u32::to_le_bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_view_and_a_group_more_is_another() {
        let view = View::here().expect("a view");
        assert_eq!(view.to_bytes(), View::here().expect("a view").to_bytes());
        let mut other = view.clone();
        other.groups.push(12_345);
        assert_ne!(view.to_bytes(), other.to_bytes());
    }
}
