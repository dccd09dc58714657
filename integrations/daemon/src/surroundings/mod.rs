//! What a process sees of the world: all that the answer to the same question about the same directory may depend on.
//!
//! Two processes of one user may live in different mount namespaces, have different rights, or another time zone. The
//! daemon answers those only who see what it sees.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use serde_json::{Map, Value};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// What one process sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings(Map<String, Value>);

/// Keys of what says what time it is there, beside what the system says.
const TIME_ZONE: [&str; 2] = ["TZ", "TZDIR"];

impl Surroundings {
    /// Of this process. `None` where the system does not say.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let mut seen = Map::new();
        let mut put = |key: &str, value: String| drop(seen.insert(key.into(), value.into()));
        system::look(&mut put)?;
        for name in system::VARIABLES.iter().chain(&TIME_ZONE) {
            if let Some(value) = std::env::var_os(name) {
                put(name, value.as_encoded_bytes().escape_ascii().to_string());
            }
        }
        put("localtime", system::local_time());
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
            () if differs(system::FILES) => "it sees other file systems",
            () if differs(system::RIGHTS) => "it has other rights",
            () if differs(&TIME_ZONE) || differs(&["localtime"]) => "it has another time zone",
            () => "it has another home or cache folder",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_differs_is_said_and_nothing_is_where_all_is_the_same() {
        let seen = Surroundings::of_this_process().expect("a process that knows itself");
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
