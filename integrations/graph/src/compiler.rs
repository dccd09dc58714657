//! What the arguments of gcc or clang say about the files that they write.
//!
//! | arguments | the depfile |
//! |---|---|
//! | `-MF FILE`, `-MFFILE` | `FILE` |
//! | `-Wp,-MD,FILE`, `-Wp,-MMD,FILE` | `FILE` |
//! | `-MD` or `-MMD`, and `-o OUT` | `OUT`, with what follows the last dot of its name replaced by `d` |
//! | `-MD` or `-MMD`, and no `-o` | the name of the source, without its directory, with `.d` likewise |
//!
//! The last of equal options counts. Those of `cl` are another language, see `cl.rs`; other compilers' options mean nothing.

use crate::cl;

/// What was found. Paths are as the arguments have them: relative to the directory of the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// `-o`.
    pub(crate) output: Option<&'a [u8]>,
    /// The depfile that is named.
    pub(crate) depfile: Option<&'a [u8]>,
    /// There is to be a depfile, whatever it is called.
    pub(crate) writes_depfile: bool,
    /// What it makes.
    pub(crate) product: Product,
    /// `/Fi` of `cl`: what is preprocessed only.
    pub(crate) preprocessed: Option<&'a [u8]>,
    /// Whose options they are.
    pub(crate) dialect: Dialect,
}

/// How options are written, and what files are called that nobody names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// gcc, clang, and many others.
    #[default]
    Gcc,
    /// `cl`, `clang-cl`.
    Cl,
}

/// What a compiler makes where nobody says which file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Product {
    /// An object.
    #[default]
    Object,
    /// `-S`: assembly.
    Assembly,
    /// `/P` of `cl`: the source with its headers in it.
    Preprocessed,
    /// `-E`, `-M`, `-fsyntax-only`: no file.
    Nothing,
}

/// Options whose next argument belongs to them, so that it is no option.
const WITH_ARGUMENT: &[&[u8]] = &[
    b"-MT",
    b"-MQ",
    b"-MJ",
    b"-D",
    b"-U",
    b"-I",
    b"-L",
    b"-T",
    b"-u",
    b"-x",
    b"-include",
    b"-imacros",
    b"-isystem",
    b"-iquote",
    b"-idirafter",
    b"-iprefix",
    b"-iwithprefix",
    b"-iwithprefixbefore",
    b"-isysroot",
    b"-imultilib",
    b"-arch",
    b"-target",
    b"-Xclang",
    b"-Xpreprocessor",
    b"-Xassembler",
    b"-Xlinker",
    b"-mllvm",
    b"--param",
    b"-aux-info",
    b"-dumpbase",
    b"-dumpbase-ext",
    b"-dumpdir",
];

/// Looks through arguments, the compiler's own name among them.
pub(crate) fn look_through<'a>(arguments: impl Iterator<Item = &'a [u8]> + Clone) -> Found<'a> {
    match cl::is_meant(arguments.clone()) {
        true => cl::look_through(arguments),
        false => look_through_options(arguments.skip(1)),
    }
}

/// Looks through options of gcc or clang.
pub(crate) fn look_through_options<'a>(mut arguments: impl Iterator<Item = &'a [u8]>) -> Found<'a> {
    let mut found = Found::default();
    while let Some(argument) = arguments.next() {
        match argument {
            b"--" => break,
            b"-o" => found.output = arguments.next().or(found.output),
            b"-MF" => found.depfile = arguments.next().or(found.depfile),
            b"-MD" | b"-MMD" | b"--write-dependencies" | b"--write-user-dependencies" => {
                found.writes_depfile = true;
            }
            b"-S" => found.product = Product::Assembly,
            b"-E" | b"-M" | b"-MM" | b"-fsyntax-only" => found.product = Product::Nothing,
            _ if WITH_ARGUMENT.contains(&argument) => drop(arguments.next()),
            _ => found.take_joined(argument),
        }
    }
    found
}

impl<'a> Found<'a> {
    fn take_joined(&mut self, argument: &'a [u8]) {
        if let Some(output) = argument.strip_prefix(b"-o") {
            self.output = Some(output);
        } else if let Some(depfile) = argument.strip_prefix(b"-MF") {
            self.depfile = Some(depfile);
        } else if let Some(options) = argument.strip_prefix(b"-Wp,") {
            let mut options = options.split(|&byte| byte == b',');
            while let Some(option) = options.next() {
                if matches!(option, b"-MD" | b"-MMD") {
                    self.depfile = options.next().or(self.depfile);
                }
            }
        }
    }

    /// The depfile that the arguments ask for. `source` is what is compiled.
    pub(crate) fn depfile(&self, source: &[u8]) -> Option<Vec<u8>> {
        match (self.depfile, self.output) {
            (Some(depfile), _) => Some(depfile.to_vec()),
            _ if !self.writes_depfile => None,
            _ if self.dialect == Dialect::Cl => Some(with_suffix(&self.output(source)?, b".d")),
            (_, Some(output)) => Some(with_suffix(output, b".d")),
            (_, None) => Some(with_suffix(name(source), b".d")),
        }
    }

    /// The file that is made; `None` for none.
    pub(crate) fn output(&self, source: &[u8]) -> Option<Vec<u8>> {
        if self.dialect == Dialect::Cl {
            return cl::output(self, name(source));
        }
        match (self.output, self.product) {
            (Some(output), _) => Some(output.to_vec()),
            (None, Product::Preprocessed) => Some(with_suffix(name(source), b".i")),
            (None, Product::Object) => Some(with_suffix(name(source), b".o")),
            (None, Product::Assembly) => Some(with_suffix(name(source), b".s")),
            (None, Product::Nothing) => None,
        }
    }
}

/// A path with what follows the last dot of its name, and that dot, replaced.
pub(crate) fn with_suffix(path: &[u8], suffix: &[u8]) -> Vec<u8> {
    let start = path.len() - name(path).len();
    let end = memchr::memrchr(b'.', &path[start..]).map_or(path.len(), |dot| start + dot);
    [&path[..end], suffix].concat()
}

fn name(path: &[u8]) -> &[u8] {
    upcheck::path::name(path)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Output and depfile of a command that compiles `x/a.b.c`.
    pub(crate) fn files(command: &str) -> (String, String) {
        let found = look_through(command.split(' ').map(str::as_bytes));
        let text = |path: Option<Vec<u8>>| String::from_utf8(path.unwrap_or_default()).expect("text");
        (text(found.output(b"x/a.b.c")), text(found.depfile(b"x/a.b.c")))
    }

    #[test]
    fn files_are_called_what_gcc_calls_them() {
        // Each was tried with gcc 12.
        for (command, output, depfile) in [
            ("cc -MD -c x/a.b.c", "a.b.o", "a.b.d"),
            ("cc -MD -c x/a.b.c -o out.d/noext", "out.d/noext", "out.d/noext.d"),
            ("cc -MD -c x/a.b.c -o out.d/q.c.o", "out.d/q.c.o", "out.d/q.c.d"),
            ("cc -MMD -c x/a.b.c -o out.d/.hid", "out.d/.hid", "out.d/.d"),
            ("cc -Wp,-MD,wp.d -c x/a.b.c", "a.b.o", "wp.d"),
            ("cc -Wp,-MMD,wp2.d -c x/a.b.c -o z.o", "z.o", "wp2.d"),
            ("cc -MD -MF mf -c x/a.b.c", "a.b.o", "mf"),
            ("cc -MD -MFjoined -c x/a.b.c -oz", "z", "joined"),
            ("cc -MD -S x/a.b.c", "a.b.s", "a.b.d"),
            ("cc -MD -E x/a.b.c -o m.i", "m.i", "m.d"),
        ] {
            assert_eq!(files(command), (output.into(), depfile.into()), "{command}");
        }
    }

    #[test]
    fn arguments_of_options_are_no_options() {
        for (command, output, depfile) in [
            ("-MD -c x/a.b.c", "a.b.o", ""),
            ("ccache cc -MD -c x/a.b.c", "a.b.o", "a.b.d"),
            ("cc -c x/a.b.c", "a.b.o", ""),
            ("cc -MT -MD -D -oz -Xclang -E -c x/a.b.c", "a.b.o", ""),
            ("cc -c -- -MD", "a.b.o", ""),
            ("cc -o a.o -o", "a.o", ""),
            ("cc -MD -MQ a.o -MF a.o.d -o a.o -c x/a.b.c", "a.o", "a.o.d"),
            ("cc -Wp,-Wall,-MD,a.d,-MT,b -o a.o", "a.o", "a.d"),
            ("cc -Wp,-MD", "a.b.o", ""),
            ("cc -fsyntax-only x/a.b.c", "", ""),
            ("cc -E x/a.b.c", "", ""),
        ] {
            assert_eq!(files(command), (output.into(), depfile.into()), "{command}");
        }
    }
}
