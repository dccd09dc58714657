//! What the arguments of `cl` or `clang-cl` say about the files that they write. An option begins with `/` or `-`.
//!
//! | arguments | the output |
//! |---|---|
//! | `/FoFILE`, `/Fo:FILE`, `/Fo: FILE`, `/o FILE` | `FILE`; with `.obj` behind it where its name has no dot; one that ends in a separator is a directory |
//! | none of them | the name of the source, without its directory, with `.obj` instead of what follows its last dot |
//! | `/P` | the same with `.i` and `/Fi` |
//!
//! `/MD` chooses a library here, and no option of `cl` writes a depfile that make could read. What `clang-cl` hands on to
//! clang, as in `/clang:-MF`, says what it says there.

use crate::compiler::{Dialect, Found, Product, look_through_options};

/// Options whose next argument belongs to them, unless it stands in the same word.
const WITH_ARGUMENT: &[&[u8]] = &[
    b"D",
    b"U",
    b"I",
    b"FI",
    b"Tc",
    b"Tp",
    b"external:I",
    b"imsvc",
    b"winsysroot",
    b"vctoolsdir",
    b"winsdkdir",
    b"sourceDependencies",
    b"sourceDependencies:directives",
    b"scanDependencies",
    b"headerUnit",
    b"ifcOutput",
    b"ifcSearchDir",
    b"reference",
    b"Xclang",
    b"mllvm",
    b"target",
    b"isystem",
    b"include",
];

/// Programs that hand everything on to the compiler that their first argument names.
const LAUNCHERS: &[&str] = &["ccache", "sccache", "buildcache", "distcc", "icecc"];
const COMPILERS: &[&str] = &["cl", "clang-cl", "icl"];

/// Whether these are arguments of such a compiler, whose own name comes first, perhaps behind that of a launcher.
pub(crate) fn is_meant<'a>(mut arguments: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_one_of = |program: &[u8], known: &[&str]| {
        let name = program.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let stem = name.strip_suffix(b".exe").unwrap_or(&name);
        // As in `clang-cl-18`.
        let stem = stem.trim_ascii_end();
        let plain = stem.strip_prefix(b"clang-cl-").filter(|rest| rest.iter().all(u8::is_ascii_digit));
        let stem = if plain.is_some() { b"clang-cl" } else { stem };
        known.iter().any(|known| known.as_bytes() == stem)
    };
    let Some(mut program) = arguments.next() else { return false };
    if is_one_of(program, LAUNCHERS) {
        program = arguments.next().unwrap_or_default();
    }
    is_one_of(program, COMPILERS) || arguments.any(|argument| argument == b"--driver-mode=cl")
}

/// Looks through arguments, the compiler's own name among them.
pub(crate) fn look_through<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Found<'a> {
    let mut found = Found { dialect: Dialect::Cl, ..Found::default() };
    let mut for_clang = Vec::new();
    let mut arguments = arguments.skip(1);
    while let Some(argument) = arguments.next() {
        let Some((b'/' | b'-', option)) = argument.split_first().map(|(first, rest)| (*first, rest)) else {
            continue;
        };
        match option {
            b"-" if argument == b"--" => break,
            b"link" => break,
            b"o" | b"Fo:" => found.output = arguments.next().or(found.output),
            b"Fi:" => found.preprocessed = arguments.next().or(found.preprocessed),
            b"P" => found.product = Product::Preprocessed,
            b"E" | b"EP" | b"Zs" | b"?" | b"help" => found.product = Product::Nothing,
            _ if WITH_ARGUMENT.contains(&option) => drop(arguments.next()),
            _ => {
                let after = |prefix: &[u8]| {
                    let rest = option.strip_prefix(prefix)?;
                    Some(rest.strip_prefix(b":").unwrap_or(rest)).filter(|rest| !rest.is_empty())
                };
                if let Some(rest) = option.strip_prefix(b"clang:") {
                    for_clang.push(rest);
                } else if let Some(output) = after(b"Fo") {
                    found.output = Some(output);
                } else if let Some(output) = after(b"Fi") {
                    found.preprocessed = Some(output);
                }
            }
        }
    }
    let options = look_through_options(for_clang.into_iter());
    found.depfile = options.depfile;
    found.writes_depfile = options.writes_depfile;
    found.output = options.output.or(found.output);
    found
}

/// The file that is made of a source whose name has no directory; `None` for none.
pub(crate) fn output(found: &Found<'_>, source: &[u8]) -> Option<Vec<u8>> {
    let (named, suffix) = match found.product {
        Product::Nothing => return None,
        Product::Preprocessed => (found.preprocessed, &b".i"[..]),
        // `/S` is no option of it.
        Product::Object | Product::Assembly => (found.output, &b".obj"[..]),
    };
    let stem = &source[..memchr::memrchr(b'.', source).unwrap_or(source.len())];
    Some(match named {
        None => [stem, suffix].concat(),
        Some(named) if named.ends_with(b"/") || named.ends_with(b"\\") => [named, stem, suffix].concat(),
        Some(named) if named.eq_ignore_ascii_case(b"nul") => return None,
        Some(named) => {
            let name = named.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
            if name.contains(&b'.') { named.to_vec() } else { [named, suffix].concat() }
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::compiler::tests::files;

    #[test]
    fn files_are_called_what_cl_calls_them() {
        for (command, output, depfile) in [
            // CMake 3.25 and 4 with NMake, without what does not matter here
            (
                r"C:\PROGRA~1\MSVC\bin\cl.exe /nologo /DX -IC:\inc /MDd /Zi /FoCMakeFiles\p.dir\a.c.obj /FdCMakeFiles\p.dir\ /FS -c x/a.b.c",
                r"CMakeFiles\p.dir\a.c.obj",
                "",
            ),
            // with clang-cl
            (
                "clang-cl.exe /nologo -MD -clang:-MD -clang:-MTo/a.obj -clang:-MFo/a.obj.d /Foo/a.obj -c -- x/a.b.c",
                "o/a.obj",
                "o/a.obj.d",
            ),
            ("cl /c x/a.b.c", "a.b.obj", ""),
            ("CL.EXE -c x/a.b.c", "a.b.obj", ""),
            (r"cl /Foobj\ /c x/a.b.c", r"obj\a.b.obj", ""),
            ("cl -Foobj/ -c x/a.b.c", "obj/a.b.obj", ""),
            ("cl /Fo:o.obj /c x/a.b.c", "o.obj", ""),
            ("cl /Fo: o.obj /c x/a.b.c", "o.obj", ""),
            ("cl /Fod.ir/o /c x/a.b.c", "d.ir/o.obj", ""),
            ("cl /Foo.o /Fop.o /c x/a.b.c", "p.o", ""),
            ("cl /Fo /c x/a.b.c", "a.b.obj", ""),
            ("clang-cl-18 /o o.obj /c x/a.b.c", "o.obj", ""),
            ("clang --driver-mode=cl /Foo.obj /c x/a.b.c", "o.obj", ""),
            ("sccache cl.exe /Foo.obj /c x/a.b.c", "o.obj", ""),
            ("cl /P x/a.b.c", "a.b.i", ""),
            ("cl /P /Fim.i /Foo.obj x/a.b.c", "m.i", ""),
            ("cl /Fonul /c x/a.b.c", "", ""),
            ("cl /Zs x/a.b.c", "", ""),
            ("cl /EP x/a.b.c", "", ""),
        ] {
            assert_eq!(files(command), (output.into(), depfile.into()), "{command}");
        }
    }

    #[test]
    fn what_gcc_takes_for_a_depfile_chooses_a_library_here() {
        for flag in
            ["/MD", "-MD", "/MT", "-MT", "/MDd", "-MMD", "/showIncludes", "/sourceDependencies d.json"]
        {
            let command = format!("cl {flag} /Foa.obj /c x/a.b.c");
            assert_eq!(files(&command), ("a.obj".into(), String::new()), "{command}");
        }
        // Other compilers are none of this, whatever their options look like.
        assert_eq!(files("gcc -MD -c x/a.b.c"), ("a.b.o".into(), "a.b.d".into()));
        assert_eq!(files("ccache gcc -MD -c x/a.b.c"), ("a.b.o".into(), "a.b.d".into()));
        assert_eq!(files("clang -MD -c x/a.b.c"), ("a.b.o".into(), "a.b.d".into()));
    }

    #[test]
    fn arguments_of_options_are_no_options() {
        for command in [
            "cl /c /D /Fox.obj x/a.b.c",
            "cl /c -I /Fox.obj x/a.b.c",
            "cl /c x/a.b.c /link /Fox.obj",
            "cl /c -- /Fox.obj",
            "cl /c /FI /P x/a.b.c",
        ] {
            assert_eq!(files(command), ("a.b.obj".into(), String::new()), "{command}");
        }
    }
}
