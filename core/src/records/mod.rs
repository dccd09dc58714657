//! Records of success.
use crate::snapshot::Mtime;
use crate::state::FileState;
use bytemuck::{Pod, Zeroable};
use std::io;
use std::path::Path;
/// A row
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// p
    pub path: u32,
    /// r
    pub role: u32,
    /// s
    pub state: FileState,
}
/// i
pub const ROLE_INPUT: u32 = 0;
/// d
pub const ROLE_DISCOVERED: u32 = 1;
/// o
pub const ROLE_OUTPUT: u32 = 2;
/// e
pub struct Entry<'a> {
    /// b
    pub began: Mtime,
    /// e
    pub ended: Option<Mtime>,
    /// c
    pub command_hash: u64,
    /// c
    pub command: &'a [u8],
    /// i
    pub inputs: &'a [Row],
    /// o
    pub outputs: &'a [Row],
}
impl<'a> Entry<'a> {
    /// v
    pub fn values(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        std::iter::empty()
    }
}
/// n
pub struct NewEntry<'a> {
    /// n
    pub name: &'a [u8],
    /// n
    pub began: Mtime,
    /// n
    pub ended: Option<Mtime>,
    /// n
    pub command_hash: u64,
    /// n
    pub command: &'a [u8],
    /// n
    pub values: &'a [(&'a [u8], &'a [u8])],
    /// n
    pub files: &'a [(&'a [u8], u32, FileState)],
}
/// r
pub struct Records {}
impl Records {
    /// r
    pub fn read(_: &Path) -> io::Result<Option<Self>> {
        Ok(None)
    }
    /// o
    pub fn open(_: &Path) -> io::Result<Self> {
        Ok(Self {})
    }
    /// n
    pub fn n_paths(&self) -> usize {
        0
    }
    /// p
    pub fn path(&self, _: u32) -> &[u8] {
        b""
    }
    /// e
    pub fn entry(&self, _: &[u8]) -> Option<Entry<'_>> {
        None
    }
    /// a
    pub fn append(&self, _: &[NewEntry<'_>]) -> io::Result<()> {
        Ok(())
    }
    /// c
    pub fn clock(&self) -> io::Result<(Mtime, u64)> {
        Ok((0, 0))
    }
}
