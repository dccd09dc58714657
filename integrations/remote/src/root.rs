//! The directory that all paths of keys are relative to, so that another checkout has the same keys.
//!
//! Whatever lies beneath the root is called by its path from there; so the root's own path is in no key. It is also in
//! commands, which CMake fills with absolute paths: there [`PLACEHOLDER`] stands in its place. What lies outside is called
//! by its absolute path, beneath [`EXTERNAL`].

use crate::doubt::Doubt;
use std::io;
use std::path::{Path, PathBuf};
use upcheck::{TargetId, os_path, path};
use upcheck_ninja::Build;

/// Stands in commands and lists of discovered inputs where the root's path was.
pub(crate) const PLACEHOLDER: &[u8] = b"/__root__";

/// The folder in which inputs from outside the root are.
pub(crate) const EXTERNAL: &[u8] = b"__external__";

/// Folders of systems: what is in them belongs to no project, unless the project lies there itself.
const SYSTEM: [&[u8]; 20] = [
    b"/bin",
    b"/boot",
    b"/dev",
    b"/etc",
    b"/gnu",
    b"/lib",
    b"/lib32",
    b"/lib64",
    b"/nix",
    b"/opt",
    b"/proc",
    b"/run",
    b"/sbin",
    b"/snap",
    b"/sys",
    b"/usr",
    b"/usr/include",
    b"/usr/lib",
    b"/usr/local",
    b"/usr/share",
];

/// A root, and the build directory beneath it.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its absolute path as names are spelt with it, and others that lead there; none ends with a slash.
    spellings: Vec<Vec<u8>>,
    /// The build directory's absolute path, without links.
    base: Vec<u8>,
    /// The build directory from the root; empty where it is the root.
    below: Vec<u8>,
}

impl Root {
    /// The root of a build: the one that is given, else the deepest directory that holds the build directory and all
    /// sources that targets name, those of the system and of the manifest's own target aside.
    ///
    /// # Errors
    /// When the build directory or the given root is not to be had, or does not hold the build directory.
    pub fn of(build: &Build, directory: &Path, given: Option<&Path>) -> io::Result<Self> {
        let base = os_path::canonicalize(directory)?;
        // What the user has typed may go through a link, and CMake is told so.
        let typed = std::path::absolute(directory)?;
        let mut typed = os_path::bytes(&typed).to_vec();
        path::canonicalize(&mut typed);
        let base_bytes = os_path::bytes(&base).to_vec();
        let n_up = match given {
            Some(given) => {
                let given = os_path::canonicalize(given)?;
                let below = base.strip_prefix(&given).map_err(|_| {
                    let message = format!("the root {} does not hold it", given.display());
                    io::Error::new(io::ErrorKind::InvalidInput, message)
                })?;
                below.components().count()
            }
            None => n_up_for(build, [&base_bytes, &typed]),
        };
        let place = up(&base_bytes, n_up).to_vec();
        if place.is_empty() {
            let message = "the root would be the root of all files; name one that is beneath it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let below = base_bytes.get(place.len() + 1..).unwrap_or_default().to_vec();
        let mut spellings = vec![place.clone()];
        let other = up(&typed, n_up).to_vec();
        if other != place && !other.is_empty() && leads_to(&other, &place) {
            spellings.push(other);
        }
        // The one that the description uses comes first: it is what paths are spelt with when they are put back.
        spellings.sort_by_key(|spelling| std::cmp::Reverse(n_named_beneath(build, spelling)));
        Ok(Self { spellings, base: base_bytes, below })
    }

    /// The root's path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        to_path(self.place())
    }

    /// The build directory's path.
    #[must_use]
    pub fn build_directory(&self) -> PathBuf {
        to_path(&self.base)
    }

    /// The build directory from the root.
    pub(crate) fn below(&self) -> &[u8] {
        &self.below
    }

    /// What an input is called in the tree of inputs.
    pub(crate) fn name_in_tree(&self, file: &[u8]) -> Result<String, Doubt> {
        let absolute = self.absolute(file);
        let name = match self.beneath(&absolute) {
            Some(name) if name.is_empty() || begins(name, EXTERNAL) => return Err(Doubt::Named(file.into())),
            Some(name) => name.to_vec(),
            None => [EXTERNAL, &absolute].concat(),
        };
        String::from_utf8(name).map_err(|_| Doubt::NotText(file.into()))
    }

    /// What an output is called: its path from the build directory, beneath which it has to be.
    pub(crate) fn name_of_output(&self, file: &[u8]) -> Result<String, Doubt> {
        let outside = || Doubt::Outside(file.into());
        let absolute = self.absolute(file);
        let name = self.beneath(&absolute).ok_or_else(outside)?;
        let name = match self.below.as_slice() {
            b"" => name,
            below => name.strip_prefix(below).and_then(|name| name.strip_prefix(b"/")).ok_or_else(outside)?,
        };
        let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
        if !name.split(|&byte| byte == b'/').all(is_plain) {
            return Err(outside());
        }
        String::from_utf8(name.to_vec()).map_err(|_| Doubt::NotText(file.into()))
    }

    /// A path as others can read it, who have another root.
    pub(crate) fn portable(&self, file: &[u8]) -> Result<String, Doubt> {
        let portable = match self.beneath(file).filter(|_| path::is_absolute(file)) {
            Some(name) => [PLACEHOLDER, b"/", name].concat(),
            None if begins(file, PLACEHOLDER) => return Err(Doubt::Named(file.into())),
            None => file.to_vec(),
        };
        String::from_utf8(portable).map_err(|_| Doubt::NotText(file.into()))
    }

    /// A path that [`Root::portable`] has made somewhere, as it is spelt here; `None` for one that it never makes.
    pub(crate) fn local(&self, portable: &str) -> Option<Vec<u8>> {
        let bytes = portable.as_bytes();
        let local = match bytes.strip_prefix(PLACEHOLDER) {
            Some(name) => {
                let name = name.strip_prefix(b"/")?;
                [self.spelling(), b"/", name].concat()
            }
            None => bytes.to_vec(),
        };
        let is_sound = path::is_canonical(&local) && !local.is_empty() && !local.contains(&0);
        is_sound.then_some(local)
    }

    /// A command with the placeholder where the root's path was: where it begins and ends as a path does. What only looks
    /// like the root stays, so that a key may be another one elsewhere, but never the same for another command.
    pub(crate) fn replace(&self, command: &[u8]) -> Result<String, Doubt> {
        if contains(command, PLACEHOLDER) {
            return Err(Doubt::Placeholder);
        }
        let mut replaced = Vec::with_capacity(command.len());
        let mut at = 0;
        while let Some(rest) = command.get(at..).filter(|rest| !rest.is_empty()) {
            let found = self.spellings.iter().find(|root| {
                begins(rest, root) && ends_here(&rest[root.len()..]) && begins_here(&command[..at])
            });
            match found {
                Some(root) => {
                    replaced.extend_from_slice(PLACEHOLDER);
                    at += root.len();
                }
                None => {
                    replaced.push(rest[0]);
                    at += 1;
                }
            }
        }
        String::from_utf8(replaced).map_err(|_| Doubt::CommandNotText)
    }

    /// The absolute path of what the description names.
    pub(crate) fn absolute(&self, file: &[u8]) -> Vec<u8> {
        let mut absolute = path::join(&self.base, file);
        path::canonicalize(&mut absolute);
        absolute
    }

    /// The root without links.
    pub(crate) fn place(&self) -> &[u8] {
        let n_below = if self.below.is_empty() { 0 } else { self.below.len() + 1 };
        &self.base[..self.base.len() - n_below]
    }

    fn spelling(&self) -> &[u8] {
        self.spellings.first().map_or(b"", Vec::as_slice)
    }

    /// The path from the root; `None` for what is not beneath it.
    fn beneath<'a>(&self, absolute: &'a [u8]) -> Option<&'a [u8]> {
        self.spellings.iter().find_map(|root| absolute.strip_prefix(root.as_slice())?.strip_prefix(b"/"))
    }
}

/// How many directories up from the build directory all of its sources are.
fn n_up_for(build: &Build, bases: [&[u8]; 2]) -> usize {
    let graph = build.graph();
    let mut most = 0;
    let mut seen = vec![false; graph.files.len()];
    for target in graph.targets().filter(|&target| is_plain(build, target)) {
        for &input in graph.dirtying_inputs(target) {
            if graph.producer(input).is_some() || std::mem::replace(&mut seen[input.index()], true) {
                continue;
            }
            let name = graph.files.path(input);
            // Of two spellings of the build directory, the one that shares more with the input is meant.
            let n_up = bases.iter().filter_map(|base| n_up(base, name)).min();
            most = most.max(n_up.unwrap_or(0));
        }
    }
    most
}

/// How many directories up from `base` the first one is that holds `name`; `None` for what is the system's, or has nothing
/// in common with it.
fn n_up(base: &[u8], name: &[u8]) -> Option<usize> {
    let mut absolute = path::join(base, name);
    path::canonicalize(&mut absolute);
    if SYSTEM.iter().any(|system| holds(system, &absolute) && !holds(system, base)) {
        return None;
    }
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (base, absolute) = (parts(base), parts(&absolute));
    let n_shared = base.iter().zip(&absolute).take_while(|(one, other)| one == other).count();
    (n_shared > 0).then(|| base.len() - n_shared)
}

fn is_plain(build: &Build, target: TargetId) -> bool {
    !build.graph().flags(target).phony && build.is_generator(target).is_ok_and(|is_generator| !is_generator)
}

fn n_named_beneath(build: &Build, spelling: &[u8]) -> usize {
    let files = &build.graph().files;
    files.ids().filter(|&file| build.is_named(file) && holds(spelling, files.path(file))).count()
}

fn leads_to(path: &[u8], place: &[u8]) -> bool {
    os_path::canonicalize(to_path(path)).is_ok_and(|found| os_path::bytes(&found) == place)
}

/// Whether a path is a directory's, or beneath it.
fn holds(directory: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// So many directories up.
fn up(path: &[u8], n: usize) -> &[u8] {
    (0..n).fold(path, |path, _| match path.iter().rposition(|&byte| byte == b'/') {
        Some(end) => &path[..end],
        None => b"",
    })
}

/// Whether what follows is not the rest of a name.
fn ends_here(rest: &[u8]) -> bool {
    !rest.first().is_some_and(|&byte| is_of_name(byte)) || rest.first() == Some(&b'/')
}

/// Whether a path can begin behind this: not in the middle of another one, but right behind the letters of an option.
fn begins_here(before: &[u8]) -> bool {
    let word = before.iter().rposition(|&byte| !is_of_name(byte)).map_or(before, |end| &before[end + 1..]);
    match word {
        [] | [b'@'] => true,
        [b'-', letters @ ..] => !letters.is_empty() && letters.iter().all(u8::is_ascii_alphabetic),
        _ => false,
    }
}

/// Whether a byte may well be a part of a path.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"/._-+@%~^#".contains(&byte)
}

fn begins(text: &[u8], with: &[u8]) -> bool {
    text.starts_with(with)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A path for the operating system; an empty one for bytes that it has no path for.
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    os_path::path(bytes).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn root() -> Root {
        Root {
            spellings: vec![b"/home/me/p".to_vec(), b"/mnt/p".to_vec()],
            base: b"/home/me/p/build".to_vec(),
            below: b"build".to_vec(),
        }
    }

    #[test]
    fn a_command_has_the_placeholder_where_a_path_begins_and_ends() {
        for (command, expected) in [
            ("cc -I/home/me/p/inc /home/me/p/a.c", "cc -I/__root__/inc /__root__/a.c"),
            ("cd /home/me/p && x '/mnt/p'/a --o=/mnt/p;y", "cd /__root__ && x '/__root__'/a --o=/__root__;y"),
            (
                "x -Wl,-rpath,/home/me/p:/home/me/p/lib @/mnt/p/r",
                "x -Wl,-rpath,/__root__:/__root__/lib @/__root__/r",
            ),
            (
                "x /home/me/p2 /home/me/p.d /home/me/p-1 a/home/me/p ./home/me/p",
                "x /home/me/p2 /home/me/p.d /home/me/p-1 a/home/me/p ./home/me/p",
            ),
            ("x /other/home/me/p", "x /other/home/me/p"),
        ] {
            assert_eq!(root().replace(command.as_bytes()).as_deref(), Ok(expected));
        }
        assert_eq!(root().replace(b"cc /__root__/a.c"), Err(Doubt::Placeholder));
        assert_eq!(root().replace(b"cc \xff"), Err(Doubt::CommandNotText));
    }

    #[test]
    fn names_are_from_the_root_and_what_lies_outside_is_apart() {
        let name = |path: &str| root().name_in_tree(path.as_bytes()).ok();
        for (path, expected) in [
            ("a.o", "build/a.o"),
            ("../src/a.c", "src/a.c"),
            ("/home/me/p/src/a.c", "src/a.c"),
            ("/mnt/p/src/a.c", "src/a.c"),
            ("../../q/a.c", "__external__/home/me/q/a.c"),
            ("/usr/include/a.h", "__external__/usr/include/a.h"),
        ] {
            assert_eq!(name(path).as_deref(), Some(expected), "{path}");
        }
        // Such a file would have the name of another one.
        assert_eq!(name("../__external__/usr/include/a.h"), None);
    }

    #[test]
    fn outputs_lie_beneath_the_build_directory() {
        let name = |path: &str| root().name_of_output(path.as_bytes()).ok();
        assert_eq!(name("obj/a.o").as_deref(), Some("obj/a.o"));
        assert_eq!(name("/mnt/p/build/a.o").as_deref(), Some("a.o"));
        for path in ["../a.o", "/home/me/p/a.o", ".", "/etc/passwd", "../build2/a.o", "../../x"] {
            assert_eq!(name(path), None, "{path}");
        }
    }

    #[test]
    fn discovered_names_are_spelt_as_here_when_they_come_back() {
        let root = root();
        for path in ["../src/a.h", "gen/a.h", "/home/me/p/src/a.h", "/usr/include/a.h"] {
            let portable = root.portable(path.as_bytes()).expect("text");
            assert_eq!(root.local(&portable).as_deref(), Some(path.as_bytes()));
        }
        assert_eq!(root.portable(b"/mnt/p/src/a.h").as_deref(), Ok("/__root__/src/a.h"));
        for odd in ["", "/__root__", "/__root__x", "a//b", "a/../b", "a\0b", "/__root__/../x"] {
            assert_eq!(root.local(odd), None, "{odd}");
        }
    }
}
