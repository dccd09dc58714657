//! The generated build with a large manifest for its files: each source compiled in 40 variants, with long flags
//! that every target spells out for itself, as CMake writes them.

use crate::tree::Tree;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// To be raised with every change of what is generated.
pub(crate) const VERSION: u32 = 1;

const VARIANTS: usize = 40;

/// Writes the whole build into an empty folder, with roughly so many targets.
pub(crate) fn generate(dir: &Path, n_targets: usize) -> io::Result<()> {
    let mut tree = Tree::new(dir);
    let mut manifest = String::from(
        "rule cc\n  command = cc $DEFINES $INCLUDES $FLAGS -MD -MF $out.d -o $out -c $in\n  \
         depfile = $out.d\n  deps = gcc\n",
    );
    let headers: Vec<_> = (0..5).map(|header| format!("include/header_{header}.h")).collect();
    for header in &headers {
        tree.source(header, "")?;
    }
    let mut all = String::new();
    for source in 0..n_targets.div_ceil(VARIANTS) {
        let input = format!("src/d{:03}/file_{source:05}.c", source / 20);
        tree.source(&input, "")?;
        for variant in 0..VARIANTS {
            let output = format!("out/v{variant:02}/file_{source:05}.o");
            let [defines, includes, flags] = [defines(variant), includes(source), flags(variant)];
            let command =
                format!("cc {defines} {includes} {flags} -MD -MF {output}.d -o {output} -c {input}");
            write!(
                manifest,
                "build {output}: cc {input}\n  DEFINES = {defines}\n  INCLUDES = {includes}\n  FLAGS = {flags}\n"
            )
            .expect("memory");
            tree.output(&output, &command)?;
            tree.discovered(&output, &[std::slice::from_ref(&input), &headers[..]].concat());
            all += " ";
            all += &output;
        }
    }
    tree.finish(&format!("{manifest}build all: phony{all}\ndefault all\n"))
}

fn defines(variant: usize) -> String {
    let defines: Vec<_> =
        (0..40).map(|n| format!("-DPROJECT_VARIANT_{variant:02}_FEATURE_{n:02}=1")).collect();
    defines.join(" ")
}

fn includes(source: usize) -> String {
    let includes: Vec<_> =
        (0..40).map(|n| format!("-I/opt/project/modules/module_{:04}/include", source / 20 + n)).collect();
    includes.join(" ")
}

fn flags(variant: usize) -> String {
    let level = variant % 4;
    format!("-O{level} -g -std=c17 -fPIC -fno-common -fvisibility=hidden -Wall -Wextra -Wshadow -Werror")
}
