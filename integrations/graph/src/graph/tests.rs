//! Documents that the reader accepts, and what it says of others.

use super::*;

/// Reads a text both ways, which must say the same.
fn read_both(text: &[u8]) -> Result<Project, String> {
    let (mut project, mut streamed) = (Project::new(), Project::new());
    let result = read_slice(text, "g.json", &mut project).map_err(|error| error.to_string());
    let result_of_stream = read(Dribble(text), "g.json", &mut streamed).map_err(|error| error.to_string());
    assert_eq!(result, result_of_stream, "{}", String::from_utf8_lossy(&text[..text.len().min(1000)]));
    result.map(|_| project)
}

/// A stream that never has more than a few bytes ready.
struct Dribble<'a>(&'a [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(7);
        self.0.read(&mut into[..length])
    }
}

/// What is wrong with a graph whose targets, from column 27 on, are these.
fn wrong(targets: &str) -> String {
    let text = format!("{{\"version\": 1, \"targets\":[{targets}]}}");
    read_both(text.as_bytes()).map(drop).expect_err(&text)
}

fn paths<'a>(project: &'a Project, files: &[FileId]) -> Vec<&'a str> {
    files.iter().map(|&file| str::from_utf8(project.graph().files.path(file)).expect("text")).collect()
}

#[test]
fn everything_a_graph_can_say_arrives() {
    let text = br#"{ "$schema": "graph.json", "defaults": ["out/a.o"],
      "targets": [
        {"outputs": ["out/a.o", {"base64": "/zE="}], "inputs": ["src/./a.c", "b\u00e9\n"], "implicit": ["cc.sh"],
         "order_only": ["out"], "validations": ["unit-tests"], "command": ["cc", "-c", "a.c"], "depfile": "out/a.d",
         "globs": ["src/**/*.h"], "vars": {"OPT": "-O2", "CC": {"base64": "/w=="}}, "policy": "mtime"},
        {"name": "unit-tests", "command": "run tests", "phony": false},
        {"outputs": ["all"], "inputs": ["out/a.o"], "phony": true}],
      "vars": {"CC": "gcc", "LANG": "C"}, "policy": "digest", "version": 1.0 }
    "#;
    let project = read_both(text).expect("a graph");
    let graph = project.graph();
    let targets: Vec<_> = graph.targets().collect();
    let [object, tests, all] = targets[..] else { panic!("{targets:?}") };
    assert_eq!(graph.files.path(graph.outputs(object)[1]), b"\xff1");
    assert_eq!(paths(&project, graph.dirtying_inputs(object)), ["src/a.c", "b\u{e9}\n", "cc.sh"]);
    assert_eq!(paths(&project, graph.ordering_inputs(object)), ["src/a.c", "b\u{e9}\n", "cc.sh", "out"]);
    assert_eq!(paths(&project, graph.validations(object)), ["unit-tests"]);
    assert_eq!(project.command(object), b"cc\0-c\0a.c");
    assert_eq!(project.depfile(object), b"out/a.d");
    assert!(project.globs(object).is_some());
    let values: Vec<_> = project.values(object).collect();
    assert_eq!(values, [(&b"CC"[..], &b"\xff"[..]), (b"LANG", b"C"), (b"OPT", b"-O2")]);
    assert_eq!(project.policy(object), Some(Policy::Mtime));

    assert!(graph.flags(tests).name_only && !graph.flags(tests).phony);
    assert_eq!(project.command(tests), b"run tests");
    assert_eq!(project.values(tests).collect::<Vec<_>>(), [(&b"CC"[..], &b"gcc"[..]), (b"LANG", b"C")]);
    assert_eq!(project.policy(tests), Some(Policy::Digest));
    assert!(project.globs(tests).is_none());

    assert!(graph.flags(all).phony);
    assert_eq!(paths(&project, &project.default_requests()), ["out/a.o"]);
}

#[test]
fn a_graph_may_be_empty_and_begin_with_a_mark() {
    let project = read_both(b"\xef\xbb\xbf{\"version\":1,\"targets\":[]}").expect("a graph");
    assert_eq!(project.graph().n_targets(), 0);
    assert!(project.default_requests().is_empty());
}

#[test]
fn a_second_graph_adds_to_the_first() {
    let mut project = Project::new();
    let mut read = |targets: &str| {
        let text = format!("{{\"version\":1,\"targets\":[{targets}]}}");
        read_slice(text.as_bytes(), "g.json", &mut project).map_err(|error| error.to_string())
    };
    read(r#"{"outputs":["a"]},{"outputs":["b"]}"#).expect("a graph");
    assert_eq!(read(r#"{"outputs":["c"]}"#).expect("a graph").n_targets, 1);
    assert_eq!(
        read(r#"{"outputs":["d", "b"]}"#),
        Err("g.json:1:42: \"b\" is an output of two targets: \"b\" of another graph and targets[0] (\"d\")"
            .into())
    );
}

#[test]
fn whatever_is_no_json_is_located() {
    for (text, expected) in [
        ("", "1:1: the file is empty"),
        ("\n", "2:1: the text ends within a value"),
        ("{", "1:1: the text ends within an object"),
        ("{\"version\": 1, \"targets\":\n[", "2:1: the text ends within a list"),
        ("{\"vers", "1:6: the text ends within a string"),
        ("{\"version\": 1, \"targets\":[]} x", "1:30: trailing characters"),
        ("{\"version\": 1, \"targets\":[],}", "1:29: trailing comma"),
        ("{\"version\" 1}", "1:12: expected `:`"),
        ("{'version': 1}", "1:2: key must be a string"),
        ("{\"version\": 1, \"targets\": nil}", "1:28: expected `true`, `false` or `null`"),
        ("{\"version\": 1, \"targets\": [{\"outputs\": [\"a\\x\"]}]}", "1:44: invalid escape"),
        ("\u{feff}{\"version\":}", "1:12: expected value"),
        (
            "{\"version\": 1,\n\"targets\": [{\"outputs\": [\"a\nb\"]}]}",
            "3:1: control character (\\u0000-\\u001F) found while parsing a string",
        ),
    ] {
        let message = read_both(text.as_bytes()).map(drop).expect_err(text);
        assert_eq!(message, format!("g.json:{expected}"), "{text}");
    }
}

#[test]
fn whatever_is_no_graph_is_located_and_has_one_cause() {
    for (text, expected) in [
        ("[]", "1:1: invalid type: sequence, expected a graph: an object"),
        ("{}", "1:2: a graph needs the key \"version\""),
        ("{\"version\": 1\n}", "2:1: a graph needs the key \"targets\""),
        ("{\"targets\": []}", "1:15: a graph needs the key \"version\""),
        ("{\"version\": 2}", "1:13: version 2 of the format is not known, only 1 is"),
        (
            "{\"version\": 1.5}",
            "1:13: invalid type: floating point `1.5`, expected the version of the format: 1",
        ),
        ("{\"version\":\n-1\n}", "2:1: invalid type: integer `-1`, expected the version of the format: 1"),
        ("{\"version\": \"1\"}", "1:13: invalid type: string \"1\", expected the version of the format: 1"),
        ("{\"version\": 1, \"target\": []}", "1:16: unknown key \"target\" (did you mean \"targets\"?)"),
        ("{\"version\": 1, \"version\" : 1}", "1:16: the key \"version\" is there twice"),
        ("{\"version\": 1, \"targets\": {\"a\": 1}}", "1:27: invalid type: map, expected a list of targets"),
        ("{\"policy\": \"mtimes\"}", POLICIES),
        ("{\"defaults\": [\"a\", \"\"]}", "1:20: a path is empty"),
        ("{\"defaults\": \"a\"}", "1:14: invalid type: string \"a\", expected a list, each item a path"),
        ("{\"vars\": {\"\": \"\"}}", "1:11: the key \"\" cannot be the name of a value"),
        ("{\"vars\": {\"a\":\"\",\n \"a\":\"\"}}", "2:2: the key \"a\" is there twice"),
        (
            "{\"vars\": {\"a\": 1}}",
            "1:16: invalid type: integer `1`, expected a value: a string or {\"base64\": \"...\"}",
        ),
    ] {
        let message = read_both(text.as_bytes()).map(drop).expect_err(text);
        assert_eq!(message, format!("g.json:{expected}"), "{text}");
    }
}

const POLICIES: &str = "1:12: unknown policy \"mtimes\" (did you mean \"mtime\"?); there are mtime, digest, \
    mtime-and-digest, mtime-and-digest-input, mtime-or-digest, newer";

#[test]
fn whatever_is_no_target_is_located_and_has_one_cause() {
    // The text begins in column 27.
    for (targets, expected) in [
        ("1", "27: invalid type: integer `1`, expected a target: an object"),
        ("{}", "28: targets[0] has neither \"outputs\" nor a \"name\""),
        ("{\"ouputs\": []}", "28: unknown key \"ouputs\" (did you mean \"outputs\"?)"),
        ("{\"outputs\": [], \"outputs\": []}", "43: the key \"outputs\" is there twice"),
        (
            "{\"outputs\": [\"a\", 1]}",
            "45: invalid type: integer `1`, expected a path: a string or {\"base64\": \"...\"}",
        ),
        (
            "{\"outputs\": [null]}",
            "40: invalid type: null, expected a path: a string or {\"base64\": \"...\"}",
        ),
        (
            "{\"outputs\": [[\"a\"]]}",
            "40: invalid type: sequence, expected a path: a string or {\"base64\": \"...\"}",
        ),
        ("{\"outputs\": [\"\"]}", "40: a path is empty"),
        ("{\"outputs\": [\"a\\u0000\\\"\"]}", "40: the path \"a\\0\\\"\" has a NUL in it"),
        ("{\"outputs\": [{}]}", "40: an object without the key \"base64\" is no text"),
        ("{\"outputs\": [{\"base64\": \"\"}]}", "51: a path is empty"),
        ("{\"outputs\": [{\"base64\": \"*\"}]}", "51: this is no base64: Invalid symbol 42, offset 0."),
        ("{\"outputs\": [{\"base46\": \"\"}]}", "41: unknown key \"base46\" (did you mean \"base64\"?)"),
        ("{\"outputs\": [\"a\", \"./a\"]}", "45: \"./a\" is twice an output of the same target"),
        (
            "{\"outputs\": [\"a\", \"b\"]}, {\"outputs\": [\"c\", \"b\"]}",
            "70: \"b\" is an output of two targets: targets[0] (\"a\") and targets[1] (\"c\")",
        ),
        (
            "{\"outputs\": [\"a\"]}, {\"name\": \"a\"}",
            "56: \"a\" is what targets[0] (\"a\") is called or makes already",
        ),
        (
            "{\"outputs\": [\"a\"], \"name\": \"b\"}",
            "57: targets[0] (\"a\") has outputs, the first of which is its name: it has no \"name\"",
        ),
        (
            "{\"outputs\": [\"a\"], \"phony\": true, \"globs\": []}",
            "72: targets[0] (\"a\") is phony, so that it has no \"globs\"",
        ),
        ("{\"phony\": 1}", "37: invalid type: integer `1`, expected true or false"),
        ("{\"command\": [\"a\", \"b\\u0000\"]}", "45: no command can have a NUL in it"),
        (
            "{\"command\": 5}",
            "39: invalid type: integer `5`, expected a string, or a list with each item an argument",
        ),
        ("{\"depfile\": \"\"}", "39: \"\" cannot be the path of a file"),
        (
            "{\"depfile\": [\"a\"]}",
            "39: invalid type: sequence, expected a path: a string or {\"base64\": \"...\"}",
        ),
        ("{\"globs\": [{\"base64\": \"\"}]}", "38: invalid type: map, expected a pattern: a string"),
    ] {
        assert_eq!(wrong(targets), format!("g.json:1:{expected}"), "{targets}");
    }
}

#[test]
fn brackets_without_end_are_refused_at_the_first_one_too_many() {
    let text = "[".repeat(1_000_000);
    assert_eq!(wrong(&text), "g.json:1:27: invalid type: sequence, expected a target: an object");
    let text = "{\"targets\":".repeat(1_000_000);
    assert_eq!(wrong(&text), "g.json:1:28: unknown key \"targets\"");
}

#[test]
fn strings_that_are_not_utf8_are_refused() {
    let message = read_both(b"{\"version\": 1,\n\"targets\": [{\"outputs\": [\"a\xff\"]}]}").map(drop);
    let expected =
        "g.json:2:26: a string is not UTF-8; a path that is not can be given as {\"base64\": \"...\"}";
    assert_eq!(message, Err(expected.into()));
}

#[test]
fn a_long_line_does_not_hide_the_place() {
    let many = format!("{{\"name\":\"{}\"}},", "a".repeat(200_000));
    assert_eq!(
        wrong(&format!("{many}{{\"phony\":0}}")),
        "g.json:1:200048: invalid type: integer `0`, expected true or false"
    );
}

#[test]
fn a_stream_that_breaks_is_told_with_its_name() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable was pulled"))
        }
    }
    let start = &b"{\"version\": 1, \"targets\": [{"[..];
    let error = read(start.chain(Broken), "standard input", &mut Project::new()).expect_err("an error");
    assert_eq!(error.to_string(), "reading 'standard input': the cable was pulled");
}

#[test]
fn full_tables_are_told_like_other_trouble() {
    let mut project = Project::new();
    let mut reader = Reader::new(&mut project);
    let error: serde_json::Error = reader.at_end(upcheck::project::DescribeError::TooMany("files"));
    let located = locate("g.json", &error, Known::whole(b"{}"), reader.about);
    assert_eq!(located.to_string(), "g.json:1:1: there are more files than fit into 32 bits");
}

#[test]
fn a_file_is_read_whatever_its_length() {
    let path = std::env::temp_dir().join(format!("upcheck-graph-{}.json", std::process::id()));
    let long = format!("{}{{\"version\":1,\"targets\":[]}}", " ".repeat(17 << 20));
    for text in ["{\"version\":1,\"targets\":[]}", &long] {
        std::fs::write(&path, text).expect("a file");
        assert_eq!(read_file(&path, &mut Project::new()).expect("a graph"), Summary::default());
    }
    std::fs::remove_file(&path).expect("a file");
    let error = read_file(&path, &mut Project::new()).expect_err("no file");
    let cause = std::io::Error::from_raw_os_error(2);
    assert_eq!(error.to_string(), format!("reading '{}': {cause}", path.display()));
}
