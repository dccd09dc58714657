//! Globs.
use crate::collect::Disk;
/// e
#[derive(Debug)]
pub struct GlobError;
impl std::fmt::Display for GlobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("glob")
    }
}
/// g
pub struct Globs;
/// t
pub struct Trouble {
    /// d
    pub directory: Vec<u8>,
    /// e
    pub errno: i32,
}
/// x
pub struct Expanded(Vec<Vec<u8>>, Vec<Trouble>);
impl Expanded {
    /// n
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// p
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|p| p.as_slice())
    }
    /// p
    pub fn troubles(&self) -> &[Trouble] {
        &self.1
    }
}
impl Globs {
    /// n
    pub fn new(_: &[&str]) -> Result<Self, GlobError> {
        Ok(Self)
    }
    /// e
    pub fn expand(&self, _: &dyn Disk) -> Expanded {
        Expanded(vec![], vec![])
    }
    /// m
    pub fn matches(&self, _: &[u8]) -> bool {
        false
    }
}
