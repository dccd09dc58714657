//! Entries as they are found in the wild, and what the reader says of those that are no good.

use super::*;
use upcheck::collect::MemoryDisk;

/// Reads a database into a project whose paths start from `/b`. Command lines are a shell's, on Windows, too.
fn read_in(disk: &MemoryDisk, text: &str, options: CompileOptions) -> Result<(Project, Summary), String> {
    read_as(Syntax::Shell, disk, text, options)
}

fn read_as(
    syntax: Syntax,
    disk: &MemoryDisk,
    text: &str,
    options: CompileOptions,
) -> Result<(Project, Summary), String> {
    let mut project = Project::new();
    project.set_base(b"/b");
    let summary = read_for(syntax, text.as_bytes(), "cc.json", b"/b", disk, &mut project, options);
    summary.map(|summary| (project, summary)).map_err(|error| error.to_string())
}

fn read(text: &str) -> Result<(Project, Summary), String> {
    read_in(&MemoryDisk::new(), text, CompileOptions::default())
}

/// The targets as text: output, input, command, depfile, values.
fn targets(project: &Project) -> Vec<String> {
    let graph = project.graph();
    let describe = |target| {
        let path = |files: &[FileId]| shown(graph.files.path(files[0]));
        let command = shown(project.command(target)).replace('\0', "|");
        let values: Vec<_> = project.values(target).map(|(_, value)| shown(value)).collect();
        let (output, input) = (path(graph.outputs(target)), path(graph.dirtying_inputs(target)));
        let depfile = shown(project.depfile(target));
        format!("{output}: {input} {command} {depfile} {}", values.join(",")).trim_end().to_owned()
    };
    graph.targets().map(describe).collect()
}

#[test]
fn real_entries_become_targets() {
    for (entry, expected) in [
        // CMake 3.25, generator for make
        (
            r#"{"directory": "/b/sub", "command": "/usr/bin/cc -DNAME=\"\\\"a b\\\"\"   -o CMakeFiles/o.dir/with_space.c.o -c \"/src/with space.c\"", "file": "/src/with space.c"}"#,
            "sub/CMakeFiles/o.dir/with_space.c.o: /src/with space.c /usr/bin/cc|-DNAME=\"a b\"|-o|CMakeFiles/o.dir/with_space.c.o|-c|/src/with space.c sub/CMakeFiles/o.dir/with_space.c.o.d sub",
        ),
        // CMake 4.4, the same: its `output` starts from another directory
        (
            r#"{"directory": "/b/sub", "command": "cc -o CMakeFiles/sl.dir/s.c.o -c /b/s.c", "file": "/b/s.c", "output": "sub/CMakeFiles/sl.dir/s.c.o"}"#,
            "sub/CMakeFiles/sl.dir/s.c.o: s.c cc|-o|CMakeFiles/sl.dir/s.c.o|-c|/b/s.c sub/CMakeFiles/sl.dir/s.c.o.d sub",
        ),
        // Meson 1.9
        (
            r#"{"directory": "/b", "command": "cc '-DNAME=\"a b\"' -MD -MQ l.p/l.c.o -MF l.p/l.c.o.d -o l.p/l.c.o -c ../src/l.c", "file": "../src/l.c", "output": "l.p/l.c.o"}"#,
            "l.p/l.c.o: ../src/l.c cc|-DNAME=\"a b\"|-MD|-MQ|l.p/l.c.o|-MF|l.p/l.c.o.d|-o|l.p/l.c.o|-c|../src/l.c l.p/l.c.o.d",
        ),
        // Bear 3
        (
            r#"{"arguments": ["/usr/bin/gcc", "-c", "-MD", "-o", "x.o", "x.c"], "directory": "/b/y", "file": "/b/y/x.c", "output": "/b/y/x.o"}"#,
            "y/x.o: y/x.c /usr/bin/gcc|-c|-MD|-o|x.o|x.c y/x.d y",
        ),
        // Linux
        (
            r#"{"command": "gcc -Wp,-MMD,init/.main.o.d -nostdinc -c -o init/main.o /b/init/main.c", "directory": "/b", "file": "/b/init/main.c"}"#,
            "init/main.o: init/main.c gcc|-Wp,-MMD,init/.main.o.d|-nostdinc|-c|-o|init/main.o|/b/init/main.c init/.main.o.d",
        ),
        // no output anywhere; both forms of the command; a key that nobody knows
        (
            r#"{"directory": ".", "arguments": ["cc", "x/y.c"], "command": "'", "file": "x/y.c", "x": [{"y": 1}]}"#,
            "y.o: x/y.c cc|x/y.c y.o.d",
        ),
        (r#"{"directory": "/b", "command": "cc y.c", "file": "y.c", "output": "z"}"#, "z: y.c cc|y.c z.d"),
    ] {
        let (project, summary) = read(&format!("[{entry}]")).expect(entry);
        assert_eq!(targets(&project), [expected], "{entry}");
        assert_eq!(summary, Summary { n_targets: 1, ..Summary::default() }, "{entry}");
    }
}

#[test]
fn entries_of_windows_become_targets() {
    for (entry, expected) in [
        // in the form of CMake for NMake, with cl
        (
            r#"{"directory": "/b", "command": "C:\\VC\\bin\\cl.exe /nologo -DNAME=\\\"a\\\" /MDd /FoCMakeFiles/o.dir/x.c.obj /FdCMakeFiles/o.dir/ /FS -c \"/s s/x.c\"", "file": "/s s/x.c"}"#,
            "CMakeFiles/o.dir/x.c.obj: /s s/x.c C:\\VC\\bin\\cl.exe|/nologo|-DNAME=\"a\"|/MDd|/FoCMakeFiles/o.dir/x.c.obj|/FdCMakeFiles/o.dir/|/FS|-c|/s s/x.c CMakeFiles/o.dir/x.c.obj.d",
        ),
        // with gcc for Windows
        (
            r#"{"directory": "/b", "command": "C:\\m\\gcc.exe -MD -MF o.d -o o.obj -c 'x.c'", "file": "x.c"}"#,
            "o.obj: x.c C:\\m\\gcc.exe|-MD|-MF|o.d|-o|o.obj|-c|'x.c' o.d",
        ),
        // what clang writes of itself
        (
            r#"{"directory": "/b", "file": "x.c", "output": "x.obj", "arguments": ["clang-cl", "/c", "-clang:-MD", "/Fox.obj", "x.c"]}"#,
            "x.obj: x.c clang-cl|/c|-clang:-MD|/Fox.obj|x.c x.d",
        ),
    ] {
        let read =
            read_as(Syntax::Windows, &MemoryDisk::new(), &format!("[{entry}]"), CompileOptions::default());
        let (project, summary) = read.expect(entry);
        assert_eq!(targets(&project), [expected], "{entry}");
        assert_eq!(summary, Summary { n_targets: 1, ..Summary::default() }, "{entry}");
    }
    // What is not closed ends with the line.
    let odd = r#"[{"directory": "/b", "file": "x.c", "command": "cl \"/c x.c"}]"#;
    let (project, _) = read_as(Syntax::Windows, &MemoryDisk::new(), odd, CompileOptions::default())
        .expect("a word that is open");
    assert_eq!(targets(&project), ["x.obj: x.c cl|/c x.c x.obj.d"]);
}

#[test]
fn a_depfile_that_is_there_is_taken_where_none_is_named() {
    let text = r#"[{"directory": "/b", "command": "cc -o a.c.o -c a.c", "file": "a.c"}]"#;
    let depfile = |present: &[&str], headers_unknown_is_fine| {
        let mut disk = MemoryDisk::new();
        present.iter().for_each(|path| disk.write(path, b""));
        let (project, _) =
            read_in(&disk, text, CompileOptions { headers_unknown_is_fine }).expect("a database");
        let target = project.graph().targets().next().expect("a target");
        shown(project.depfile(target))
    };
    for is_fine in [false, true] {
        assert_eq!(depfile(&["a.c.o.d"], is_fine), "a.c.o.d");
        assert_eq!(depfile(&["a.c.d"], is_fine), "a.c.d");
        assert_eq!(depfile(&["a.c.d", "a.c.o.d"], is_fine), "a.c.o.d");
    }
    assert_eq!(depfile(&[], false), "a.c.o.d");
    assert_eq!(depfile(&[], true), "");
}

#[test]
fn entries_that_repeat_others_or_make_nothing_are_counted() {
    let entry = r#"{"directory": "/b", "command": "cc -o a.o -c a.c", "file": "a.c"}"#;
    let same = r#"{"directory": "/b/.", "arguments": ["cc", "-o", "a.o", "-c", "a.c"], "file": "/b/a.c"}"#;
    let nothing = r#"{"directory": "/b", "command": "cc -fsyntax-only a.c", "file": "a.c"}"#;
    let null = r#"{"directory": "/b", "command": "cc -o /dev/null -c a.c", "file": "a.c"}"#;
    let (project, summary) = read(&format!("[{entry},{nothing},{same},{null},{entry}]")).expect("a database");
    assert_eq!(project.graph().n_targets(), 1);
    assert_eq!(summary, Summary { n_targets: 1, n_repeated: 2, n_without_output: 2 });
}

#[test]
fn two_ways_to_make_a_file_are_refused() {
    let entry = |directory: &str, flags: &str, file: &str| {
        format!(
            r#"{{"directory": "{directory}", "command": "cc {flags} -c {file} -o /b/a.o", "file": "{file}"}}"#
        )
    };
    let first = entry("/b", "", "/b/a.c");
    for (second, from) in [
        (entry("/b", "", "/b/b.c"), "b.c"),
        (entry("/b", "-O2", "/b/a.c"), "a.c"),
        (entry("/b/c", "", "/b/a.c"), "a.c"),
    ] {
        let message = read(&format!("[{first},\n{second}]")).map(drop).expect_err(&second);
        let expected = "\"a.o\" is made by two entries that differ: [0] from \"a.c\" and [1] from";
        assert_eq!(message, format!("cc.json:2:{}: {expected} {from:?}", second.len()));
    }
    let mut project = Project::new();
    project.set_base(b"/b");
    let (disk, options) = (MemoryDisk::new(), CompileOptions::default());
    let text = format!("[{first}]");
    let mut read = || read_compile_commands(text.as_bytes(), "cc.json", b"", &disk, &mut project, options);
    read().expect("a database");
    let message = read().expect_err("twice").to_string();
    assert!(message.ends_with("\"a.o\" is an output of another graph, too"), "{message}");
}

#[test]
fn what_is_no_entry_is_located() {
    for (text, expected) in [
        ("{}", "1:1: invalid type: map, expected a compilation database: a list of entries"),
        ("", "1:1: the file is empty"),
        ("[1]", "1:2: invalid type: integer `1`, expected an entry: an object"),
        ("[{}]", "1:3: an entry needs the key \"directory\""),
        (r#"[{"directory":"/"}]"#, "1:18: an entry needs the key \"file\""),
        (r#"[{"directory":"/","file":"a"}]"#, "1:29: an entry needs the key \"arguments\" or \"command\""),
        (r#"[{"directory":""}]"#, "1:15: a directory cannot be empty"),
        (r#"[{"file":"\u0000"}]"#, "1:10: a path cannot have a NUL in it"),
        (r#"[{"file":1}]"#, "1:10: invalid type: integer `1`, expected a path: a string"),
        (r#"[{"file":"a","file":"a"}]"#, "1:14: the key \"file\" is there twice"),
        (
            r#"[{"arguments":"a"}]"#,
            "1:15: invalid type: string \"a\", expected a list, each item an argument",
        ),
        (r#"[{"directory":"/","file":"a","arguments":[]}]"#, "1:44: a command needs a word at least"),
        (r#"[{"directory":"/","file":"a","command":" "}]"#, "1:43: a command needs a word at least"),
        (r#"[{"directory":"/","file":"a","command":"'"}]"#, "1:43: a quotation mark ' is never closed"),
        ("[] []", "1:4: trailing characters"),
    ] {
        assert_eq!(read(text).map(drop), Err(format!("cc.json:{expected}")), "{text}");
    }
}
