//! What a process sees of the world: all that the answer to the same question about the same directory may depend on.
//!
//! Two processes of one user may live in different mount namespaces, have different rights, or another time zone. The
//! daemon answers those only who see what it sees.

use serde_json::{Map, Value};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// What one process sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings(Map<String, Value>);

/// Variables that say where images are kept, and what times look like.
const VARIABLES: [&str; 5] = ["HOME", "XDG_CACHE_HOME", "UPCHECK_CACHE_DIR", "TZ", "TZDIR"];
/// Lines of `/proc/self/status` that say what a process may read.
const RIGHTS: [&str; 5] = ["Uid", "Gid", "Groups", "CapEff", "Seccomp"];

impl Surroundings {
    /// Of this process. `None` where `/proc` does not say.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let mut seen = Map::new();
        let mut put = |key: &str, value: String| drop(seen.insert(key.into(), value.into()));
        for namespace in ["mnt", "user"] {
            let link = std::fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
            put(namespace, link.to_str()?.to_owned());
        }
        let root = std::fs::metadata("/").ok()?;
        put("root", format!("{:x}:{:x}", root.dev(), root.ino()));
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        for right in RIGHTS {
            let line = status.lines().find_map(|line| line.strip_prefix(right)?.strip_prefix(':'));
            put(right, line.unwrap_or_default().trim().to_owned());
        }
        for name in VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                put(name, value.as_bytes().escape_ascii().to_string());
            }
        }
        let zone = std::fs::metadata("/etc/localtime");
        put(
            "localtime",
            zone.map_or(String::new(), |zone| {
                format!("{:x}:{:x}:{:x}", zone.dev(), zone.ino(), zone.mtime())
            }),
        );
        Some(Self(seen))
    }

    /// As they travel.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// What is seen differently by another process; `None` where it is all the same.
    #[must_use]
    pub fn difference(&self, other: &Map<String, Value>) -> Option<&'static str> {
        if self.0 == *other {
            return None;
        }
        let differs = |keys: &[&str]| keys.iter().any(|key| self.0.get(*key) != other.get(*key));
        Some(match () {
            () if differs(&["mnt", "user", "root"]) => "it sees other file systems",
            () if differs(&RIGHTS) => "it has other rights",
            () if differs(&["TZ", "TZDIR", "localtime"]) => "it has another time zone",
            () => "it has another home or cache folder",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_differs_is_said_and_nothing_is_where_all_is_the_same() {
        let seen = Surroundings::of_this_process().expect("/proc");
        assert_eq!(seen.difference(seen.as_map()), None);
        for key in seen.as_map().keys() {
            let mut other = seen.as_map().clone();
            other[key] = "else".into();
            assert!(seen.difference(&other).is_some(), "{key}");
            other.remove(key);
            assert!(seen.difference(&other).is_some(), "{key} is missing");
        }
        let mut other = seen.as_map().clone();
        other.insert("more".into(), "than is known".into());
        assert!(seen.difference(&other).is_some());
    }
}
