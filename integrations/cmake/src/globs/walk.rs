//! All globs in one walk: each directory is listed once, and only if something can match in it.
//!
//! The rules are those of CMake's `file(GLOB)` and `file(GLOB_RECURSE)`:
//! - An expression is split at its slashes. What stands before the first component with `*`, `?` or `[` is not matched but
//!   opened, as it is written. An empty component counts as none.
//! - A component that is not the last one is matched against directories, links to directories included.
//! - The last one is matched against all names; directories do not count unless LIST_DIRECTORIES is true.
//! - With GLOB_RECURSE the last one is matched in the directory and in all below it. With LIST_DIRECTORIES, all directories
//!   below count, whatever their names. A link to a directory counts as a file, unless links are followed; then it is a
//!   directory, and one is not entered again from the same directory.
//! - Whether case matters is a property of the system, whatever the file system: see `pattern.rs`. What is not matched but
//!   opened is found or not as the file system has it, and stands in results as it is written.

use super::pattern::{Folding, Pattern};
use super::{Glob, canonical, trouble};
use crate::Error;
use std::collections::BTreeMap;
use std::fs::{DirEntry, FileType};
use std::io::ErrorKind;
use std::rc::Rc;
use upcheck::os_path;

/// A glob, ready to be matched.
struct Ready<'a> {
    glob: &'a Glob,
    /// Where it begins, as the expression has it, with a slash at the end.
    written: Vec<u8>,
    /// The same without repeated slashes and dots.
    base: Vec<u8>,
    components: Vec<Pattern>,
    /// What results are relative to, canonical.
    relative: Option<Vec<u8>>,
    folding: Folding,
}

/// A glob that looks for something in a directory.
#[derive(Clone)]
struct State {
    glob: usize,
    /// The component that is to be matched there.
    level: usize,
    /// The directories from which links were followed, on the way here.
    followed: Option<Rc<Followed>>,
}

struct Followed {
    from: Vec<u8>,
    before: Option<Rc<Followed>>,
}

impl Followed {
    fn contains(list: Option<&Rc<Self>>, directory: &[u8]) -> bool {
        let mut next = list;
        while let Some(followed) = next {
            if followed.from == directory {
                return true;
            }
            next = followed.before.as_ref();
        }
        false
    }
}

/// What each glob matches, sorted and without repetition.
pub(super) fn walk(globs: &[Glob], folding: Folding) -> Result<Vec<Vec<Vec<u8>>>, Error> {
    let ready: Vec<Ready<'_>> = globs.iter().map(|glob| Ready::new(glob, folding)).collect();
    let mut starts: BTreeMap<Vec<u8>, Vec<State>> = BTreeMap::new();
    for (glob, ready) in ready.iter().enumerate() {
        // An expression that ends in a slash matches nothing.
        if !ready.components.is_empty() {
            let state = State { glob, level: 0, followed: None };
            starts.entry(ready.base.clone()).or_default().push(state);
        }
    }
    let mut walker = Walker { ready: &ready, starts, found: vec![Vec::new(); globs.len()] };
    // A directory comes before what is below it, so that each is visited when all that look into it are known.
    while let Some((path, states)) = walker.starts.pop_first() {
        walker.visit_all(path, states)?;
    }
    let mut found = walker.found;
    for paths in &mut found {
        paths.sort_unstable();
        paths.dedup();
    }
    Ok(found)
}

impl<'a> Ready<'a> {
    fn new(glob: &'a Glob, folding: Folding) -> Self {
        let expression = &glob.expression[..];
        let mut end = 0;
        for at in 1..expression.len() {
            let is_escaped = expression[at - 1] == b'\\';
            match expression[at] {
                b'/' if !is_escaped => end = at,
                b'[' | b'?' | b'*' if !is_escaped => break,
                _ => {}
            }
        }
        let (base, rest) = expression.split_at(end);
        let components = rest.split(|&byte| byte == b'/').filter(|component| !component.is_empty());
        let written = [base, b"/"].concat();
        Self {
            glob,
            base: cleaned(&written),
            written,
            components: components.map(|component| Pattern::new(component, folding)).collect(),
            relative: glob.relative.clone().map(collapsed),
            folding,
        }
    }

    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.components.len()
    }

    /// Whether it goes down from there, whatever the names.
    fn descends(&self, level: usize) -> bool {
        self.glob.recurse && self.is_last(level)
    }

    /// A file as CMake names it in a result.
    fn name(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        let below = directory.get(self.base.len()..).unwrap_or_default();
        let path = [&self.written, below, name].concat();
        match &self.relative {
            Some(relative) => relative_path(relative, &collapsed(path), self.folding),
            None => path,
        }
    }
}

/// Without repeated slashes and `.`, and with a slash at the end. A `..` stays: it may follow a link.
fn cleaned(path: &[u8]) -> Vec<u8> {
    // On Windows a path may also begin with a drive, or with two slashes and a server.
    let n_slashes =
        path.iter().take_while(|&&byte| byte == b'/').count().min(if cfg!(windows) { 2 } else { 1 });
    let mut cleaned = path[..n_slashes].to_vec();
    for component in path.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        cleaned.extend(component);
        cleaned.push(b'/');
    }
    cleaned
}

/// What CMake makes of a path before it makes a relative one of it: a backslash separates, too.
fn collapsed(mut path: Vec<u8>) -> Vec<u8> {
    for byte in &mut path {
        if *byte == b'\\' {
            *byte = b'/';
        }
    }
    canonical(path)
}

/// The way from one directory to a path, both absolute and canonical. If it only goes up, there is a slash at its end. To
/// another drive there is none.
fn relative_path(from: &[u8], to: &[u8], folding: Folding) -> Vec<u8> {
    let parts = |path: &'_ [u8]| -> Vec<Vec<u8>> {
        path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (from, to_parts) = (parts(from), parts(to));
    let is_same = |(from, to): &(&Vec<u8>, &Vec<u8>)| match folding {
        Folding::None => from == to,
        Folding::Lower => from.eq_ignore_ascii_case(to),
    };
    let same = from.iter().zip(&to_parts).take_while(is_same).count();
    if same == 0 && folding == Folding::Lower && to_parts.first().is_some_and(|drive| drive.ends_with(b":")) {
        return to.to_vec();
    }
    let up = b"../".repeat(from.len() - same);
    [up, to_parts[same..].join(&b'/')].concat()
}

struct Walker<'a> {
    ready: &'a [Ready<'a>],
    /// Globs that begin in a directory that was not visited yet.
    starts: BTreeMap<Vec<u8>, Vec<State>>,
    found: Vec<Vec<Vec<u8>>>,
}

/// Directories that are still to be visited, each with a slash at the end.
type ToVisit = Vec<(Vec<u8>, Vec<State>)>;

impl Walker<'_> {
    /// A directory and what is below it. Not recursive: a tree may be as deep as it likes.
    fn visit_all(&mut self, path: Vec<u8>, states: Vec<State>) -> Result<(), Error> {
        let mut left = vec![(path, states)];
        while let Some((path, mut states)) = left.pop() {
            states.extend(self.starts.remove(&path).unwrap_or_default());
            self.visit(&path, &states, &mut left)?;
        }
        Ok(())
    }

    fn visit(&mut self, path: &[u8], states: &[State], left: &mut ToVisit) -> Result<(), Error> {
        let failed = |operation, cause| trouble(operation, path, cause);
        let entries = match os_path::path(path).and_then(std::fs::read_dir) {
            Ok(entries) => entries,
            // There is nothing in it, then. On Windows a name can also be one that nothing can have.
            Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(());
            }
            Err(cause) if cfg!(windows) && cause.kind() == ErrorKind::InvalidFilename => return Ok(()),
            Err(cause) => return Err(failed("opening", cause)),
        };
        let mut here = Here { path, real: None };
        for entry in entries {
            let entry = entry.map_err(|cause| failed("listing", cause))?;
            let name = entry.file_name();
            let name = os_path::bytes(&name);
            let mut kind = Kind::new(&entry);
            let mut below = Vec::new();
            for state in states {
                if let Some(state) = self.look(state, name, &mut kind, &mut here)? {
                    below.push(state);
                }
            }
            if !below.is_empty() {
                left.push(([path, name, b"/"].concat(), below));
            }
        }
        Ok(())
    }

    /// Takes in a name for one glob. What it looks for below, if anything.
    fn look(
        &mut self,
        state: &State,
        name: &[u8],
        kind: &mut Kind<'_>,
        here: &mut Here<'_>,
    ) -> Result<Option<State>, Error> {
        let ready = &self.ready[state.glob];
        let (glob, pattern) = (ready.glob, &ready.components[state.level]);
        if ready.descends(state.level) {
            if kind.is_link && !glob.follow_symlinks || !kind.is_directory() {
                if pattern.matches(name) {
                    self.found[state.glob].push(ready.name(here.path, name));
                }
                return Ok(None);
            }
            let mut followed = state.followed.clone();
            if kind.is_link {
                let from = here.real()?;
                if Followed::contains(followed.as_ref(), from) {
                    return Ok(None);
                }
                followed = Some(Rc::new(Followed { from: from.to_vec(), before: followed }));
            }
            if glob.list_directories {
                self.found[state.glob].push(ready.name(here.path, name));
            }
            return Ok(Some(State { glob: state.glob, level: state.level, followed }));
        }
        if !pattern.matches(name) {
            return Ok(None);
        }
        if !ready.is_last(state.level) {
            let below = State { glob: state.glob, level: state.level + 1, followed: None };
            return Ok(kind.is_directory().then_some(below));
        }
        if glob.list_directories || !kind.is_directory() {
            self.found[state.glob].push(ready.name(here.path, name));
        }
        Ok(None)
    }
}

/// The directory that is visited.
struct Here<'a> {
    path: &'a [u8],
    /// Its path without links, once somebody has asked.
    real: Option<Vec<u8>>,
}

impl Here<'_> {
    fn real(&mut self) -> Result<&[u8], Error> {
        if self.real.is_none() {
            let real = os_path::path(self.path)
                .and_then(std::fs::canonicalize)
                .map_err(|cause| trouble("resolving", self.path, cause))?;
            self.real = Some(real.into_os_string().into_encoded_bytes());
        }
        Ok(self.real.as_deref().unwrap_or_default())
    }
}

/// What a name stands for. Links are only followed where it matters.
struct Kind<'a> {
    entry: &'a DirEntry,
    is_link: bool,
    is_directory: Option<bool>,
}

impl<'a> Kind<'a> {
    fn new(entry: &'a DirEntry) -> Self {
        // What is gone again by now is no link, nor a directory.
        let kind = entry.file_type().ok();
        let is_link = kind.as_ref().is_some_and(FileType::is_symlink);
        let is_directory = kind.as_ref().is_some_and(FileType::is_dir);
        Self { entry, is_link, is_directory: (!is_link).then_some(is_directory) }
    }

    /// Whether it is a directory, or leads to one.
    fn is_directory(&mut self) -> bool {
        let follow = || std::fs::metadata(self.entry.path()).is_ok_and(|found| found.is_dir());
        *self.is_directory.get_or_insert_with(follow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_path_is_the_one_that_cmake_finds() {
        for (from, to, folded, exact) in [
            ("/a/b", "/a/b/c.h", "c.h", "c.h"),
            ("/a/b", "/a/c/d.h", "../c/d.h", "../c/d.h"),
            ("/a/b", "/a", "../", "../"),
            ("/A/b", "/a/B/C.h", "C.h", "../../a/B/C.h"),
            ("C:/a", "c:/A/B.h", "B.h", "../../c:/A/B.h"),
            ("C:/a", "D:/a/b.h", "D:/a/b.h", "../../D:/a/b.h"),
            ("/x", "/y", "../y", "../y"),
        ] {
            let way = |folding| {
                String::from_utf8(relative_path(from.as_bytes(), to.as_bytes(), folding)).expect("text")
            };
            assert_eq!((&*way(Folding::Lower), &*way(Folding::None)), (folded, exact), "{from} {to}");
        }
    }

    #[test]
    fn one_walk_finds_names_whatever_their_case_where_it_does_not_matter() {
        let space = tempfile::tempdir().expect("a directory");
        let mut here = space.path().to_path_buf().into_os_string().into_encoded_bytes();
        here.iter_mut().filter(|byte| cfg!(windows) && **byte == b'\\').for_each(|byte| *byte = b'/');
        for name in ["Src/Main.C", "Src/Deep/X.H", "Src/y.h"] {
            let path = space.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, "").expect("a file");
        }
        let glob = |expression: &str, recurse| Glob {
            expression: [&here, expression.as_bytes()].concat(),
            recurse,
            ..Glob::default()
        };
        let globs = [
            glob("/s*/*.c", false),
            glob("/Src/*.h", true),
            glob("/Src/[A-Z]*", false),
            // What is not matched stands in results as it is written.
            glob("//Src/./MAIN*", false),
        ];
        let found = |folding| -> Vec<Vec<String>> {
            let names = |paths: Vec<Vec<u8>>| {
                let below = |path: Vec<u8>| String::from_utf8(path[here.len()..].to_vec()).expect("text");
                paths.into_iter().map(below).collect()
            };
            walk(&globs, folding).expect("directories").into_iter().map(names).collect()
        };
        let folded = [&["/Src/Main.C"][..], &["/Src/Deep/X.H", "/Src/y.h"], &[], &["//Src/./Main.C"]];
        assert_eq!(found(Folding::Lower), folded);
        let exact = [&[][..], &["/Src/y.h"], &["/Src/Main.C"], &[]];
        assert_eq!(found(Folding::None), exact);
    }
}
