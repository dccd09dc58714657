//! `upcheck_external_project`: external projects are built when their sources have changed, and only then.

mod externals;
mod lies;
mod odd;
mod real;
mod refused;
mod world;

use world::World;

/// What external projects are in most tests here: `build.sh` makes one file of all sources, and says that it was run.
pub(crate) const BUILD_SH: &str = "set -e
name=$1; log=$2
if [ -e fail ]; then echo \"$name fails\"; exit 3; fi
if [ -e edited ]; then mv edited a.txt; fi
cat *.txt $(find . -mindepth 2 -name '*.txt' | sort) >\"$3/out.new\"
mv \"$3/out.new\" \"$3/out\"
echo \"$name\" >>\"$log\"\n";

impl World {
    /// Writes the sources of an external project.
    pub(crate) fn external(&self, name: &str) {
        self.write(&format!("{name}/build.sh"), BUILD_SH);
        self.write(&format!("{name}/a.txt"), "a\n");
        self.write(&format!("{name}/b.txt"), "b\n");
    }

    /// The line that adds it. Its sources are in the directory of its name.
    pub(crate) fn add(&self, name: &str, options: &str) -> String {
        let log = self.path("log");
        format!(
            "ExternalProject_Add({name} SOURCE_DIR \"${{CMAKE_CURRENT_SOURCE_DIR}}/{name}\" CONFIGURE_COMMAND \"\"
  BUILD_COMMAND ${{CMAKE_COMMAND}} -E chdir <SOURCE_DIR> sh build.sh {name} \"{}\" <BINARY_DIR>
  INSTALL_COMMAND \"\" BUILD_BYPRODUCTS <BINARY_DIR>/out {options})\n",
            log.display()
        )
    }

    /// A project with external projects of these names, one call for all.
    pub(crate) fn externals(&self, names: &[&str]) {
        let mut lines = "include(ExternalProject)\n".to_owned();
        for name in names {
            self.external(name);
            lines += &self.add(name, "");
        }
        self.project("NONE", &format!("{lines}upcheck_external_project({})\n", names.join(" ")));
        self.configure();
    }

    /// Builds everything. The external projects that were entered, in the order of their names.
    #[track_caller]
    pub(crate) fn entered(&self) -> Vec<String> {
        self.entered_with(&[])
    }

    #[track_caller]
    pub(crate) fn entered_with(&self, options: &[&str]) -> Vec<String> {
        let _ = std::fs::remove_file(self.path("log"));
        self.build_with(options);
        self.log()
    }

    /// Those that were entered and came through.
    pub(crate) fn log(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_to_string(self.path("log"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    }

    /// What an external project has made.
    pub(crate) fn made(&self, name: &str) -> String {
        self.read(&format!("build/{name}-prefix/src/{name}-build/out"))
    }
}
