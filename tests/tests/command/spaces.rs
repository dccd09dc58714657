//! Build directories that look built, without a ninja or a compiler. All times are set.

use super::{build_log, deps_log, log_time};
use std::fmt::Write;
use upcheck_ninja::NinjaVersion;
use upcheck_tests::space::Space;

/// 2023-11-14 22:13:20 UTC: when everything in these build directories begins.
pub(crate) const T: i64 = 1_700_000_000 * SECOND;
pub(crate) const SECOND: i64 = 1_000_000_000;

/// A build directory with a manifest and nothing else.
pub(crate) fn manifest(text: impl AsRef<[u8]>) -> Space {
    let space = Space::new();
    space.write("build.ninja", text);
    space
}

/// A program of two objects, with a target called `check` beside it; all of it fresh.
///
/// Sources are of [`T`], the objects and the log's entries about them are a second younger, and so on up.
pub(crate) fn program() -> Space {
    let space = Space::new();
    space.write(
        "build.ninja",
        "rule cc\n  command = cc -c $in -o $out\nrule link\n  command = link $in -o $out\n\
         build a.o: cc a.c | config.h\nbuild b.o: cc b.c | config.h\n\
         build prog: link a.o b.o\nbuild check: link check.c\n\
         build all: phony prog check\ndefault all\n",
    );
    for source in ["a.c", "b.c", "check.c", "config.h"] {
        space.write_at(source, "", T);
    }
    for object in ["a.o", "b.o", "check"] {
        space.write_at(object, "", T + SECOND);
    }
    space.write_at("prog", "", T + 2 * SECOND);
    let log = [
        ("a.o", T + SECOND, "cc -c a.c -o a.o"),
        ("b.o", T + SECOND, "cc -c b.c -o b.o"),
        ("check", T + SECOND, "link check.c -o check"),
        ("prog", T + 2 * SECOND, "link a.o b.o -o prog"),
    ];
    space.write(".ninja_log", build_log(&log));
    space
}

/// [`program`] with `config.h` changed a minute and a half after everything else.
pub(crate) fn changed_header() -> Space {
    let space = program();
    space.set_mtime("config.h", T + 90 * SECOND);
    space
}

/// `n` objects that are older than the one header they depend on, an archive of them, and a fresh target.
pub(crate) fn many(n: usize) -> Space {
    let space = Space::new();
    let mut text = "rule cc\n  command = cc $in -o $out\nrule ar\n  command = ar $out\n".to_owned();
    let mut entries = vec![("fresh".to_owned(), "cc src/0.c -o fresh".to_owned())];
    let mut all = String::new();
    for number in 0..n {
        writeln!(text, "build out/{number}.o: cc src/{number}.c | include/config.h").expect("a string");
        write!(all, " out/{number}.o").expect("a string");
        entries.push((format!("out/{number}.o"), format!("cc src/{number}.c -o out/{number}.o")));
        space.write_at(&format!("src/{number}.c"), "", T);
        space.write_at(&format!("out/{number}.o"), "", T + SECOND);
    }
    entries.push(("all.a".to_owned(), "ar all.a".to_owned()));
    writeln!(text, "build all.a: ar{all}\nbuild fresh: cc src/0.c\nbuild all: phony all.a fresh")
        .expect("a string");
    let entries: Vec<_> =
        entries.iter().map(|(output, command)| (output.as_str(), T + SECOND, command.as_str())).collect();
    space.write("build.ninja", text);
    space.write(".ninja_log", build_log(&entries));
    space.write_at("all.a", "", T + SECOND);
    space.write_at("fresh", "", T + SECOND);
    space.write_at("include/config.h", "", T + 2 * SECOND);
    space
}

/// A manifest that its generator has to make again, and one more stale target.
pub(crate) fn stale_manifest() -> Space {
    let space = Space::new();
    space.write_at(
        "build.ninja",
        "rule configure\n  command = configure\n  generator = 1\nrule t\n  command = t\n\
         build build.ninja: configure configure\nbuild a: t\n",
        T,
    );
    space.write_at("configure", "", T + 5 * SECOND);
    space
}

/// A target without its source, and another stale one.
pub(crate) fn missing_source() -> Space {
    manifest(
        "rule cc\n  command = cc $in\nbuild gone.o: cc gone.c\nbuild other.o: cc\nbuild all: phony gone.o other.o\n",
    )
}

/// A generated header whose maker leaves it alone when nothing changes, and a chain of users; all of it fresh
/// but for the generator's input.
pub(crate) fn restat() -> Space {
    let space = manifest(
        "rule gen\n  command = gen $out\n  restat = 1\nrule t\n  command = t $out\n\
         build v.h: gen v.txt\nbuild a.o: t a.c | v.h\nbuild prog: t a.o\nbuild lone: t a.c\n",
    );
    let mut entries = vec![("v.h".to_owned(), "gen v.h".to_owned())];
    entries.extend(["a.o", "prog", "lone"].map(|name| (name.to_owned(), format!("t {name}"))));
    for (output, _) in &entries {
        space.write_at(output, "", T);
    }
    let entries: Vec<_> =
        entries.iter().map(|(output, command)| (output.as_str(), T, command.as_str())).collect();
    space.write(".ninja_log", build_log(&entries));
    space.write_at("a.c", "", T);
    space.write_at("v.txt", "", T + SECOND);
    space
}

/// A target whose header only the deps log knows; fresh.
pub(crate) fn discovering() -> Space {
    let space = manifest("rule cc\n  command = cc\n  deps = gcc\n  depfile = d\nbuild a: cc a.c\n");
    for source in ["a.c", "a.h", "b.h"] {
        space.write_at(source, "", T);
    }
    space.write_at("a", "", T + SECOND);
    space.write(".ninja_log", build_log(&[("a", T + SECOND, "cc")]));
    space.write(".ninja_deps", deps_log(&[("a", T + SECOND, &["a.c", "a.h", "b.h"])]));
    space
}

/// A target that names a depfile, which is not there; else fresh.
pub(crate) fn with_depfile() -> Space {
    let space = manifest("rule t\n  command = t\n  depfile = a.d\nbuild a: t b\nbuild lone: phony\n");
    space.write_at("b", "", T);
    space.write_at("a", "", T + SECOND);
    space.write(".ninja_log", build_log(&[("a", T + SECOND, "t")]));
    space
}

/// A manifest with every kind of statement, and all files but those that a build would make.
pub(crate) fn realistic() -> Space {
    let space = manifest(REALISTIC);
    space.write("rules.ninja", "rule gen\n  command = gen $in > $out\n  restat = 1\n");
    space.write("sub/x.ninja", "flags = -O2\nbuild $dir/sub.o: cc sub/sub.c\n");
    for source in ["a.c", "b c.c", "sub/sub.c", "in.txt", "configure", "list.txt", "test.sh"] {
        space.write_at(source, "", T);
    }
    space.write_at("out/dd", "ninja_dyndep_version = 1\nbuild out/b.o: dyndep | in.txt\n", T);
    space
}

pub(crate) const REALISTIC: &str = "\
# a manifest with every kind of statement
ninja_required_version = 1.5
builddir = .
dir = out
flags = -O1 $
    -g
pool links
  depth = 2
include rules.ninja
rule cc
  command = cc $flags -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = link @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in_newline ${flags} $$ $: x
  pool = links
rule regenerate
  command = ./configure
  generator = 1
build build.ninja: regenerate | configure rules.ninja
build $dir/gen.h: gen in.txt
build ${dir}/a.o: cc a.c | $dir/gen.h || order
build $dir/b.o: cc b$ c.c || $dir/dd
  dyndep = $dir/dd
  flags = $flags -Wall
build $dir/dd: gen list.txt
build order: phony $dir/gen.h
subninja sub/x.ninja
build prog | prog.map: link $dir/a.o $dir/b.o $dir/sub.o |@ check
build check: gen test.sh
build all: phony prog
default all
";

/// A link to itself: whatever is done with it fails with ELOOP, for root as for anybody else.
#[cfg(unix)]
pub(crate) fn link_loop(space: &Space, name: &str) {
    space.remove(name);
    let path = space.path().join(name);
    std::os::unix::fs::symlink(path.file_name().expect("a name"), &path).expect("a link");
}

/// A build directory, and the status with which `upcheck` ends in it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) space: Space,
    pub(crate) status: i32,
}

fn edited(space: Space, edit: impl FnOnce(&Space)) -> Space {
    edit(&space);
    space
}

/// One build directory of every kind: fresh, stale for each reason there is, and in each kind of trouble.
pub(crate) fn every_kind() -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |status, name, space| kinds.push(Kind { name, space, status });
    let text = |lines: &str| manifest(format!("rule t\n  command = t $out\n{lines}"));

    add(0, "fresh", program());
    add(0, "a manifest without targets", manifest(""));
    add(0, "a phony target that is always stale, alone", text("build p: phony\n"));
    add(1, "a phony target that is always stale, in use", text("build p: phony\nbuild a: t p\n"));
    add(1, "a newer header", changed_header());
    add(1, "many stale targets", many(50));
    add(1, "a stale manifest", stale_manifest());
    add(1, "a missing source", missing_source());
    add(1, "pending targets", restat());
    add(1, "nothing built yet", realistic());
    add(1, "output directories that are missing", text("build deep/er/a | other/b: t\n"));
    #[cfg(unix)]
    add(1, "names that are not UTF-8", not_utf8());

    add(1, "the lock of a ninja at work", edited(changed_header(), |space| space.write(".ninja_lock", "")));
    add(1, "no build log", edited(program(), |space| space.remove(".ninja_log")));

    let space = program();
    let lines = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", lines.replace("cc -c", "cc -O -c"));
    add(1, "a changed command", space);

    #[cfg(unix)]
    {
        let space = program();
        link_loop(&space, "a.c");
        link_loop(&space, "check");
        add(1, "loops of links", space);
    }

    add(1, "a discovered header that is gone", edited(discovering(), |space| space.remove("a.h")));
    add(1, "an output changed by hand", edited(discovering(), |space| space.set_mtime("a", T + 9 * SECOND)));
    add(1, "no deps log", edited(discovering(), |space| space.remove(".ninja_deps")));

    let space = discovering();
    space.set_mtime("a.c", T + 9 * SECOND);
    space.write("d", "a: a.c\n");
    add(1, "a depfile left over", space);

    let rsp = "  rspfile = a.rsp\n  rspfile_content = new\n";
    let space = manifest(format!("rule t\n  command = t\n{rsp}build a: t\n"));
    space.write("a.rsp", "old");
    add(1, "a response file left over", space);

    add(1, "no depfile", with_depfile());
    add(1, "a depfile about another target", edited(with_depfile(), |space| space.write("a.d", "z: b\n")));
    add(1, "a broken depfile", edited(with_depfile(), |space| space.write("a.d", "nothing\n")));

    let space = text("build dd: t src\nbuild a: t || dd\n  dyndep = dd\n");
    space.write_at("dd", "ninja_dyndep_version = 1\nbuild a: dyndep\n", T);
    space.write_at("a", "", T);
    space.write_at("src", "", T + SECOND);
    space.write(".ninja_log", build_log(&[("a", T, "t a"), ("dd", T, "t dd")]));
    add(1, "a stale dyndep file", space);

    let space = text("build a: t || dd\n  dyndep = dd\n");
    space.write("dd", "ninja_dyndep_version = 1\nbuild a dyndep\n");
    add(1, "a broken dyndep file", space);
    add(1, "a missing dyndep file", text("build a: t || dd\n  dyndep = dd\n"));

    let space = text("build a: t\nbuild b: t\n");
    let hash = NinjaVersion::V1_11.hash_command(b"t a");
    let time = log_time(T);
    space.write(".ninja_log", format!("# ninja log v5\n0\t1\t{time}\ta\t{hash:x}\n"));
    space.write_at("a", "", T);
    add(1, "a log of ninja 1.11", space);

    let space = program();
    space.write(".ninja_log", "# ninja log v99\n");
    add(1, "a build log of no known version", space);

    let space = discovering();
    space.write(".ninja_deps", b"# ninjadeps\n\x09\0\0\0");
    add(1, "a deps log of no known version", space);

    let space = discovering();
    let log = space.read(".ninja_deps");
    space.write(".ninja_deps", &log[..log.len() - 3]);
    add(1, "a damaged deps log", space);

    let space = manifest("builddir = logs\nrule t\n  command = t\nbuild a: t\n");
    space.write("logs/.ninja_log", "# ninja log v6\n");
    space.write("logs/.ninja_deps", "junk");
    add(1, "logs in a directory of their own", space);

    add(2, "no manifest", Space::new());
    add(2, "a syntax error", text("build a b\n"));
    add(2, "a cycle", text("build a: t b\nbuild b: t a\ndefault a\n"));
    #[cfg(unix)]
    add(2, "a log that cannot be read", edited(program(), |space| link_loop(space, ".ninja_log")));
    kinds
}

/// Names that are not UTF-8 wherever a name can be: outputs, inputs, a depfile and what it says, a command.
#[cfg(unix)]
fn not_utf8() -> Space {
    let space = manifest(
        b"rule t\n  command = t $out\n  depfile = $out.d\nrule u\n  command = u $in\n\
          build \xff1 plain: t \xfein\nbuild \xff2: u \xff1 gone\xff\nbuild \xff3: u \xff2\n",
    );
    let write_at = |name: &[u8], content: &[u8], mtime| {
        let path = space.path().join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name));
        std::fs::write(&path, content).expect("a file");
        upcheck_tests::space::set_mtime(&path, mtime);
    };
    write_at(b"\xfein", b"", T + SECOND);
    for output in [&b"\xff1"[..], b"\xff2", b"\xff3", b"plain"] {
        write_at(output, b"", T);
    }
    write_at(b"\xff1 plain.d", b"z\xff: x\n", T);
    space
}
