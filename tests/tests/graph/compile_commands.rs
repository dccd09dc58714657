//! A compilation database is read and its targets are judged.

use upcheck::Project;
use upcheck::collect::MemoryDisk;
use upcheck::project::Options;
use upcheck_graph::{CompileOptions, read_compile_commands};

/// Two directories, as make has them: names in a depfile start from the directory of its command.
const TEXT: &str = r#"[
  {"directory": "/b/x", "command": "cc -MD -o a.o -c ../src/a.c", "file": "../src/a.c"},
  {"directory": "/b/y", "command": "cc -o a.o -c ../src/a.c", "file": "../src/a.c"}]"#;

fn stale(disk: &MemoryDisk, headers_unknown_is_fine: bool) -> Vec<String> {
    let mut project = Project::new();
    project.set_base(b"/b");
    let options = CompileOptions { headers_unknown_is_fine };
    read_compile_commands(TEXT.as_bytes(), "cc.json", b"", disk, &mut project, options).expect("a database");
    let requests = project.default_requests();
    let checked = project.check(disk, None, &requests, Options::default()).expect("an answer");
    let tell = |target: &upcheck::StaleTarget| {
        let codes: Vec<_> = target.reasons.iter().map(|reason| reason.code()).collect();
        format!("{} {}", String::from_utf8_lossy(project.graph().name(target.target)), codes.join(" "))
    };
    checked.report.stale.iter().map(tell).collect()
}

fn built() -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    for path in ["src/a.c", "src/a.h", "src/b.h"] {
        disk.write(path, b"");
    }
    disk.tick();
    disk.write("x/a.o", b"");
    disk.write("x/a.d", b"a.o: ../src/a.c ../src/a.h\n");
    disk.write("y/a.o", b"");
    disk.write("y/a.o.d", b"a.o: ../src/a.c /b/src/b.h\n");
    disk.tick();
    disk
}

#[test]
fn depfiles_count_from_the_directory_of_the_command() {
    let mut disk = built();
    assert_eq!(stale(&disk, false), [""; 0]);
    disk.write("src/b.h", b"changed");
    assert_eq!(stale(&disk, false), ["y/a.o input-newer"]);
    disk.write("src/a.h", b"changed");
    assert_eq!(stale(&disk, false), ["x/a.o input-newer", "y/a.o input-newer"]);
}

#[test]
fn headers_that_nobody_knows_are_not_called_fresh() {
    let mut disk = built();
    disk.remove("y/a.o.d");
    assert_eq!(stale(&disk, false), ["y/a.o deps-unknown"]);
    assert_eq!(stale(&disk, true), [""; 0]);
    // The arguments ask for this one, so that it is known to be missing.
    disk.remove("x/a.d");
    assert_eq!(stale(&disk, true), ["x/a.o deps-unknown"]);
}
