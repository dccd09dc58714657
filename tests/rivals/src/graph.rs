//! The generated build: libraries of 30 sources each, programs of ten libraries each, and what they include.
//!
//! In the proportions of a large GN or CMake project: per library a manifest of its own, an archive made
//! through a response file, a stamp that its sources wait for; for each third a generated header, with restat.
//! A source includes 150 headers: some that nearly all include, some from its library's neighbourhood, some
//! from anywhere.

use crate::logs::{BuildLog, DepsLog};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// To be raised with every change of what is generated.
pub(crate) const VERSION: u32 = 1;

/// When sources were changed, and when everything was built, nanoseconds since 1970.
const CHANGED: i64 = 1_600_000_000_000_000_000;
const BUILT: i64 = CHANGED + 3_600_000_000_000;

const SOURCES_PER_LIBRARY: usize = 30;
const LIBRARIES_PER_PROGRAM: usize = 10;
const HEADERS_PER_FOLDER: usize = 10;
const HEADERS_PER_SOURCE: usize = 150;

const RULES: &str = "\
rule cc
  command = c++ $cflags -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule archive
  command = rm -f $out && ar crs $out @$out.rsp
  rspfile = $out.rsp
  rspfile_content = $in
rule stamp
  command = touch $out
rule generate
  command = python3 tools/generate.py $in -o $out
  restat = 1
rule link
  command = c++ -o $out $in
";

/// Writes the whole build into an empty folder. The number of its files.
pub(crate) fn generate(dir: &Path, n_targets: usize) -> io::Result<usize> {
    // 33.4 targets for each library, its share in the programs included.
    let n_libraries = (n_targets * 3 / 100).max(1);
    let mut graph = Graph {
        dir,
        n_libraries,
        n_headers: n_libraries * SOURCES_PER_LIBRARY * 4 / 9,
        made: BTreeSet::new(),
        n_files: 0,
        log: BuildLog::new(),
        deps: DepsLog::new(),
    };
    graph.write_all()?;
    Ok(graph.n_files)
}

struct Graph<'a> {
    dir: &'a Path,
    n_libraries: usize,
    n_headers: usize,
    /// The folders that exist.
    made: BTreeSet<String>,
    n_files: usize,
    log: BuildLog,
    deps: DepsLog,
}

impl Graph<'_> {
    fn write_all(&mut self) -> io::Result<()> {
        self.write("tools/generate.py", CHANGED, b"")?;
        for header in 0..self.n_headers {
            self.write(&header_path(header), CHANGED, b"")?;
        }
        let mut manifest = RULES.to_owned();
        let mut all = "build all: phony".to_owned();
        for library in 0..self.n_libraries {
            self.write_library(library)?;
            append(&mut manifest, &format!("subninja ninja/l{library:04}.ninja\n"));
            append(&mut all, &format!(" l{library:04}"));
        }
        let libraries: Vec<_> = (0..self.n_libraries).map(|library| format!("lib/l{library:04}.a")).collect();
        for (program, libraries) in libraries.chunks(LIBRARIES_PER_PROGRAM).enumerate() {
            let (output, inputs) = (format!("bin/p{program:03}"), libraries.join(" "));
            append(&mut manifest, &format!("build {output}: link {inputs}\n"));
            append(&mut all, &format!(" {output}"));
            self.built(&output, &format!("c++ -o {output} {inputs}"))?;
        }
        self.write("build.ninja", CHANGED, format!("{manifest}{all}\ndefault all\n").as_bytes())?;
        let log = std::mem::replace(&mut self.log, BuildLog::new()).into_bytes();
        self.write(".ninja_log", BUILT, &log)?;
        let deps = std::mem::replace(&mut self.deps, DepsLog::new()).into_bytes();
        self.write(".ninja_deps", BUILT, &deps)
    }

    fn write_library(&mut self, library: usize) -> io::Result<()> {
        let name = format!("l{library:04}");
        let cflags = self.cflags(library);
        let mut manifest = format!("cflags = {cflags}\n");

        let generated = library.is_multiple_of(3).then(|| format!("gen/{name}/config.h"));
        if let Some(header) = &generated {
            let input = format!("src/{name}/config.in");
            self.write(&input, CHANGED, b"")?;
            append(&mut manifest, &format!("build {header}: generate {input} | tools/generate.py\n"));
            self.built(header, &format!("python3 tools/generate.py {input} -o {header}"))?;
        }
        // Waits for the generated headers of the library and of those it builds on.
        let stamp = format!("obj/{name}/inputs.stamp");
        let below = [library / 2, library.saturating_sub(3)]
            .map(|library| format!("gen/l{:04}/config.h", library / 3 * 3));
        let waits: BTreeSet<_> = generated.iter().cloned().chain(below).collect();
        let waits: Vec<_> = waits.into_iter().collect();
        append(&mut manifest, &format!("build {stamp}: stamp {}\n", waits.join(" ")));
        self.built(&stamp, &format!("touch {stamp}"))?;

        let mut objects = Vec::new();
        for source in 0..SOURCES_PER_LIBRARY {
            let input = format!("src/{name}/file_{source:02}.cc");
            let object = format!("obj/{name}/file_{source:02}.o");
            self.write(&input, CHANGED, b"")?;
            append(&mut manifest, &format!("build {object}: cc {input} || {stamp}\n"));
            self.built(&object, &format!("c++ {cflags} -MD -MF {object}.d -c {input} -o {object}"))?;
            let mut included = vec![input];
            included.extend(self.headers_of(library, source));
            included.extend(generated.clone());
            self.deps.add(&object, BUILT, &included);
            objects.push(object);
        }
        let (archive, objects) = (format!("lib/{name}.a"), objects.join(" "));
        append(
            &mut manifest,
            &format!("build {archive}: archive {objects}\nbuild {name}: phony {archive}\n"),
        );
        self.built(
            &archive,
            &format!("rm -f {archive} && ar crs {archive} @{archive}.rsp;rspfile={objects}"),
        )?;
        self.write(&format!("ninja/{name}.ninja"), CHANGED, manifest.as_bytes())
    }

    /// About as long as those of a large project.
    fn cflags(&self, library: usize) -> String {
        let mut cflags =
            "-O2 -g -std=c++20 -fPIC -fno-exceptions -fvisibility=hidden -Wall -Wextra -Werror".to_owned();
        for number in 0..25 {
            append(&mut cflags, &format!(" -DPROJECT_FEATURE_{number:02}=1"));
        }
        for number in 0..45 {
            append(&mut cflags, &format!(" -Iinclude/d{:04}", (library + number) % self.n_libraries));
        }
        cflags
    }

    /// The headers that a source includes, each once.
    fn headers_of(&self, library: usize, source: usize) -> BTreeSet<String> {
        let place = library * SOURCES_PER_LIBRARY + source;
        let near = library * self.n_headers / self.n_libraries;
        let anywhere = place.wrapping_mul(7919);
        let n = HEADERS_PER_SOURCE / 3;
        // Steps, so that what one source includes is spread over folders.
        let common = (0..n).map(|i| (place + i * 3) % 200);
        let near = (0..n).map(|i| near + source + i * 5);
        let far = (0..n).map(|i| anywhere + i * 11);
        common.chain(near).chain(far).map(|header| header_path(header % self.n_headers)).collect()
    }

    /// Writes an output, and that it was built by this command.
    fn built(&mut self, output: &str, hashed: &str) -> io::Result<()> {
        self.log.add(output, BUILT, hashed);
        self.write(output, BUILT, b"")
    }

    fn write(&mut self, path: &str, mtime_ns: i64, content: &[u8]) -> io::Result<()> {
        if let Some((folder, _)) = path.rsplit_once('/')
            && !self.made.contains(folder)
        {
            fs::create_dir_all(self.dir.join(folder))?;
            self.made.insert(folder.to_owned());
        }
        let mut file = File::create(self.dir.join(path))?;
        file.write_all(content)?;
        self.n_files += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(mtime_ns.unsigned_abs());
        file.set_times(FileTimes::new().set_modified(time))
    }
}

fn header_path(header: usize) -> String {
    format!("include/d{:04}/header_{}.h", header / HEADERS_PER_FOLDER, header % HEADERS_PER_FOLDER)
}

fn append(text: &mut String, more: &str) {
    text.write_str(more).expect("memory");
}
