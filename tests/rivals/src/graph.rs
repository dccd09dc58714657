//! The generated build: libraries of 30 sources each, programs of ten libraries each, and what they include.
//!
//! In the proportions of a large GN or CMake project: per library a manifest of its own, an archive made
//! through a response file, a stamp that its sources wait for; for each third a generated header, with restat.
//! A source includes 150 headers: one that all include, some that many include, some from its library's
//! neighbourhood, some from anywhere.

use crate::makefile::Makefile;
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// To be raised with every change of what is generated.
pub(crate) const VERSION: u32 = 2;

const SOURCES_PER_LIBRARY: usize = 30;
const LIBRARIES_PER_PROGRAM: usize = 10;
const HEADERS_PER_FOLDER: usize = 10;

const RULES: &str = "\
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
rule cc
  command = c++ $cflags -MD -MF $out.d -c $in -o $out
  depfile = $out.d
";

/// What is generated.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Roughly.
    pub(crate) n_targets: usize,
    pub(crate) headers_per_source: usize,
    pub(crate) discovered: Discovered,
}

/// Where the compiler's list of included files is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discovered {
    /// In ninja's deps log.
    DepsLog,
    /// In depfiles on the disk. Then there is also a Makefile that says what the manifest says.
    Depfiles,
}

/// A header that every source includes.
pub(crate) const COMMON_HEADER: &str = "include/d0000/header_0.h";

impl Shape {
    fn n_libraries(self) -> usize {
        // 33.4 targets for each library, its share in the programs included.
        (self.n_targets * 3 / 100).max(1)
    }

    /// The targets that people would ask for by name.
    pub(crate) fn libraries(self) -> Vec<String> {
        (0..self.n_libraries()).map(library_name).collect()
    }

    /// A source file of a library in the middle.
    pub(crate) fn some_source(self) -> String {
        source_path(&library_name(self.n_libraries() / 2), 0)
    }

    /// All source files.
    pub(crate) fn sources(self) -> impl Iterator<Item = String> {
        let of =
            |library| (0..SOURCES_PER_LIBRARY).map(move |source| source_path(&library_name(library), source));
        (0..self.n_libraries()).flat_map(of)
    }

    /// Writes the whole build into an empty folder.
    pub(crate) fn generate(self, dir: &Path) -> io::Result<()> {
        let n_libraries = self.n_libraries();
        let graph = Graph {
            shape: self,
            n_libraries,
            n_headers: n_libraries * SOURCES_PER_LIBRARY * 4 / 9,
            tree: Tree::new(dir),
            makefile: (self.discovered == Discovered::Depfiles).then(Makefile::default),
        };
        graph.write_all()
    }
}

struct Graph<'a> {
    shape: Shape,
    n_libraries: usize,
    n_headers: usize,
    tree: Tree<'a>,
    makefile: Option<Makefile>,
}

impl Graph<'_> {
    fn write_all(mut self) -> io::Result<()> {
        self.tree.source("tools/generate.py", "")?;
        for header in 0..self.n_headers {
            self.tree.source(&header_path(header), "")?;
        }
        let mut manifest = RULES.to_owned();
        if self.shape.discovered == Discovered::DepsLog {
            append(&mut manifest, "  deps = gcc\n");
        }
        let mut all = self.shape.libraries();
        for library in 0..self.n_libraries {
            self.write_library(library)?;
            append(&mut manifest, &format!("subninja ninja/{}.ninja\n", library_name(library)));
        }
        let archives: Vec<_> = all.iter().map(|library| format!("lib/{library}.a")).collect();
        for (program, archives) in archives.chunks(LIBRARIES_PER_PROGRAM).enumerate() {
            let (output, inputs) = (format!("bin/p{program:03}"), archives.join(" "));
            append(&mut manifest, &format!("build {output}: link {inputs}\n"));
            self.built(&output, &inputs, &format!("c++ -o {output} {inputs}"))?;
            all.push(output);
        }
        let all = all.join(" ");
        if let Some(makefile) = self.makefile.take() {
            self.tree.source("Makefile", &makefile.into_text(&all))?;
        }
        self.tree.finish(&format!("{manifest}build all: phony {all}\ndefault all\n"))
    }

    fn write_library(&mut self, library: usize) -> io::Result<()> {
        let name = library_name(library);
        let cflags = self.cflags(library);
        let mut manifest = format!("cflags = {cflags}\n");

        let generated = library.is_multiple_of(3).then(|| format!("gen/{name}/config.h"));
        if let Some(header) = &generated {
            let input = format!("src/{name}/config.in");
            self.tree.source(&input, "")?;
            append(&mut manifest, &format!("build {header}: generate {input} | tools/generate.py\n"));
            self.built(header, &input, &format!("python3 tools/generate.py {input} -o {header}"))?;
        }
        // Waits for the generated headers of the library and of those it builds on.
        let stamp = format!("obj/{name}/inputs.stamp");
        let below = [library / 2, library.saturating_sub(3)]
            .map(|library| format!("gen/{}/config.h", library_name(library / 3 * 3)));
        let waits: BTreeSet<_> = generated.iter().cloned().chain(below).collect();
        let waits = Vec::from_iter(waits).join(" ");
        append(&mut manifest, &format!("build {stamp}: stamp {waits}\n"));
        self.built(&stamp, &waits, &format!("touch {stamp}"))?;

        if let Some(makefile) = &mut self.makefile {
            makefile.flags(&name, &cflags);
        }
        let mut objects = Vec::new();
        for source in 0..SOURCES_PER_LIBRARY {
            let input = source_path(&name, source);
            let object = format!("obj/{name}/file_{source:02}.o");
            self.tree.source(&input, "")?;
            append(&mut manifest, &format!("build {object}: cc {input} || {stamp}\n"));
            self.tree.output(&object, &format!("c++ {cflags} -MD -MF {object}.d -c {input} -o {object}"))?;
            let included = self.headers_of(library, source).into_iter().chain(generated.clone());
            self.discovered(&object, &std::iter::once(input.clone()).chain(included).collect::<Vec<_>>())?;
            if let Some(makefile) = &mut self.makefile {
                makefile.object(&object, &input, &stamp, &name);
            }
            objects.push(object);
        }
        let (archive, objects) = (format!("lib/{name}.a"), objects.join(" "));
        append(
            &mut manifest,
            &format!("build {archive}: archive {objects}\nbuild {name}: phony {archive}\n"),
        );
        let hashed = format!("rm -f {archive} && ar crs {archive} @{archive}.rsp;rspfile={objects}");
        self.built(&archive, &objects, &hashed)?;
        if let Some(makefile) = &mut self.makefile {
            makefile.alias(&name, &archive);
        }
        self.tree.source(&format!("ninja/{name}.ninja"), &manifest)
    }

    /// Writes an output, and that it was built by this command.
    fn built(&mut self, output: &str, inputs: &str, hashed: &str) -> io::Result<()> {
        if let Some(makefile) = &mut self.makefile {
            makefile.rule(output, inputs, hashed.split(";rspfile=").next().unwrap_or_default());
        }
        self.tree.output(output, hashed)
    }

    fn discovered(&mut self, output: &str, inputs: &[String]) -> io::Result<()> {
        match self.shape.discovered {
            Discovered::Depfiles => self.tree.depfile(output, inputs),
            Discovered::DepsLog => {
                self.tree.discovered(output, inputs);
                Ok(())
            }
        }
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
        let n = self.shape.headers_per_source / 3;
        // Steps, so that what one source includes is spread over folders.
        let common = (0..n).map(|i| (place + i * 3) % 200);
        let near = (0..n).map(|i| near + source + i * 5);
        let far = (0..n).map(|i| anywhere + i * 11);
        let headers = common.chain(near).chain(far).map(|header| header_path(header % self.n_headers));
        headers.chain([COMMON_HEADER.to_owned()]).collect()
    }
}

fn library_name(library: usize) -> String {
    format!("l{library:04}")
}

fn source_path(library: &str, source: usize) -> String {
    format!("src/{library}/file_{source:02}.cc")
}

fn header_path(header: usize) -> String {
    format!("include/d{:04}/header_{}.h", header / HEADERS_PER_FOLDER, header % HEADERS_PER_FOLDER)
}

fn append(text: &mut String, more: &str) {
    text.write_str(more).expect("memory");
}
