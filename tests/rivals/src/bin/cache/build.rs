//! A build whose targets copy a file each: a checkout that was built, and one that was not.
//!
//! No command was run. Sources were written first and outputs after them, and the log says of every command that it took
//! from there to here: so it is proved, as it would be of a real build, that what was made is made of what is there.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use upcheck_ninja::NinjaVersion;

const PER_DIRECTORY: usize = 100;

/// How large a build is.
#[derive(Clone, Copy)]
pub(crate) struct Copies {
    pub(crate) n_targets: usize,
    /// Bytes of each source, and so of each output.
    pub(crate) size: usize,
}

/// A checkout: sources, and a build directory beneath.
pub(crate) struct Checkout {
    place: PathBuf,
    pub(crate) copies: Copies,
}

impl Copies {
    /// Writes a checkout into a new folder. `is_built`: with outputs and ninja's log.
    pub(crate) fn write(self, place: &Path, is_built: bool) -> io::Result<Checkout> {
        let checkout = Checkout { place: place.to_owned(), copies: self };
        checkout.write_sources()?;
        if is_built {
            checkout.write_outputs()?;
        }
        Ok(checkout)
    }

    fn manifest(self) -> String {
        let mut manifest = String::from("rule copy\n  command = cp $in $out\n");
        for n in 0..self.n_targets {
            // A string is written to without an error.
            let _ = writeln!(manifest, "build {}: copy {}", output(n), input(n));
        }
        manifest
    }

    /// No two sources are the same.
    pub(crate) fn content(self, n: usize) -> Vec<u8> {
        let mut content = format!("{n} of {}\n", self.n_targets).into_bytes();
        let mut state = n as u64;
        while content.len() < self.size {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            content.extend(state.to_le_bytes());
        }
        content.truncate(self.size);
        content
    }
}

impl Checkout {
    pub(crate) fn build_directory(&self) -> PathBuf {
        self.place.join("build")
    }

    /// Where all that is built lies, but for ninja's logs.
    pub(crate) fn outputs(&self) -> PathBuf {
        self.build_directory().join("out")
    }

    /// Removes all that was built, and what ninja knows of it.
    pub(crate) fn forget(&self) -> io::Result<()> {
        for name in [".ninja_log", ".ninja_deps"] {
            remove(fs::remove_file(self.build_directory().join(name)))?;
        }
        remove(fs::remove_dir_all(self.outputs()))
    }

    fn write_sources(&self) -> io::Result<()> {
        for n in 0..self.copies.n_targets {
            write(&self.build_directory().join(input(n)), n, &self.copies.content(n))?;
        }
        fs::write(self.build_directory().join("build.ninja"), self.copies.manifest())
    }

    fn write_outputs(&self) -> io::Result<()> {
        let began = Instant::now();
        let start = self.start()?;
        for n in 0..self.copies.n_targets {
            write(&self.build_directory().join(output(n)), n, &self.copies.content(n))?;
        }
        let ms = began.elapsed().as_millis() + 1;
        let mut log = String::from("# ninja log v7\n");
        for n in 0..self.copies.n_targets {
            let command = format!("cp {} {}", input(n), output(n));
            let hash = NinjaVersion::V1_13.hash_command(command.as_bytes());
            let _ = writeln!(log, "0\t{ms}\t{start}\t{}\t{hash:x}", output(n));
        }
        fs::write(self.build_directory().join(".ninja_log"), log)
    }

    /// A time, in nanoseconds since 1970, that is later than that of all sources, by the file system's own clock.
    fn start(&self) -> io::Result<u128> {
        let (probe, last) =
            (self.place.join("probe"), self.build_directory().join(input(self.copies.n_targets - 1)));
        let changed = |path: &Path| -> io::Result<SystemTime> { fs::metadata(path)?.modified() };
        loop {
            fs::write(&probe, "")?;
            let now = changed(&probe)?;
            if now > changed(&last)? {
                fs::remove_file(&probe)?;
                return Ok(now.duration_since(UNIX_EPOCH).map_err(io::Error::other)?.as_nanos());
            }
        }
    }
}

/// The path of a source from the build directory.
fn input(n: usize) -> String {
    format!("../src/module-{:04}/some_source_file_{n:06}.c", n / PER_DIRECTORY)
}

/// The path of an output from the build directory.
fn output(n: usize) -> String {
    format!("out/module-{:04}/some_source_file_{n:06}.o", n / PER_DIRECTORY)
}

/// Writes the file of a number; the first of a directory makes that.
fn write(path: &Path, n: usize, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|_| n.is_multiple_of(PER_DIRECTORY)) {
        // What is on the way has to be there for `..` to lead anywhere.
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

fn remove(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
