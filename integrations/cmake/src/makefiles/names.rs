//! Names from many files: first one after the other in a row of bytes, as threads find them, then as files of a project.

use upcheck::project::DescribeError;
use upcheck::{FileId, FileTable, Project, narrow};

/// Names in the order in which they were found, numbered from 0.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
}

/// The number of a name in its [`Names`].
pub(super) type Name = u32;

impl Names {
    pub(super) fn push(&mut self, name: &[u8]) -> Name {
        self.text.extend_from_slice(name);
        self.ends.push(narrow(self.text.len()));
        narrow(self.ends.len() - 1)
    }

    pub(super) fn get(&self, name: Name) -> &[u8] {
        let at = name as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start as usize..self.ends[at] as usize]
    }

    pub(super) fn len(&self) -> u32 {
        narrow(self.ends.len())
    }

    pub(super) fn last(&self) -> Option<Name> {
        self.len().checked_sub(1)
    }
}

/// Turns names into files of a project.
///
/// Objects include the same headers in the same order, so a name is mostly the one that came after its predecessor the
/// last time: that is a look at its bytes, where anything else costs finding its number.
#[derive(Default)]
pub(super) struct Files {
    /// Names as they are spelt.
    spelt: FileTable,
    /// The file of each.
    files: Vec<FileId>,
    /// What came after each of them, plus one; 0 for nothing yet.
    followers: Vec<u32>,
    last: usize,
}

impl Files {
    pub(super) fn file(&mut self, project: &mut Project, name: &[u8]) -> Result<FileId, DescribeError> {
        let expected = self.followers.get(self.last).and_then(|&follower| follower.checked_sub(1));
        if let Some(expected) = expected
            && self.spelt.path(FileId::new(expected as usize)) == name
        {
            self.last = expected as usize;
            return Ok(self.files[self.last]);
        }
        let number = self.spelt.intern(name).index();
        if number == self.files.len() {
            self.files.push(project.file(name)?);
            self.followers.push(0);
        }
        self.followers[self.last] = narrow(number) + 1;
        self.last = number;
        Ok(self.files[number])
    }
}
