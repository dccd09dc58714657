//! The JSON that upcheck prints is what docs/schema says it is, and nothing else is.

mod command;

use command::spaces::{Kind, every_kind};
use command::{Ran, run, upcheck, upcheck_in};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use upcheck_tests::schemas::verdicts;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// Schemas and documents, to be checked all at once: starting Python takes longer than what it does.
#[derive(Default)]
struct Cases(Vec<(String, Value)>);

impl Cases {
    fn add(&mut self, schema: &str, document: Value) {
        self.0.push((schema.to_owned(), document));
    }

    /// Adds all that upcheck prints in a build directory of one kind.
    fn add_answers(&mut self, kind: &Kind) {
        for args in ["", "--exact", "--commands --explain", "all", "a", "a.o", "prog"] {
            let whole = run(&kind.space, &format!("check --format json {args}"));
            let lines = run(&kind.space, &format!("check --format jsonl {args}"));
            self.add_answer("report.json", &whole, &lines, "stale");
        }
        for args in ["a.c config.h", "no-such-file", "build.ninja", "/"] {
            let whole = run(&kind.space, &format!("affected --format json {args}"));
            let lines = run(&kind.space, &format!("affected --format jsonl {args}"));
            self.add_answer("affected.json", &whole, &lines, "targets");
        }
        let names = ["a", "all", "a.o", "prog", "p", "build.ninja", "a.c"].map(OsString::from);
        for name in names.into_iter().chain([OsString::from_vec(b"\xff3".to_vec())]) {
            let whole = upcheck(&kind.space, ["why".into(), "--format=json".into(), name.clone()]);
            let lines = upcheck(&kind.space, ["why".into(), "--format=jsonl".into(), name]);
            self.add_answer("why.json", &whole, &lines, "targets");
        }
    }

    /// Adds all that upcheck prints about targets that are none of ninja's.
    fn add_project(&mut self, project: &Project) {
        let Project { space, options, .. } = project;
        for (command, schema, list) in [
            ("check", "report.json", "stale"),
            ("check --commands", "report.json", "stale"),
            ("check no-such-target", "report.json", "stale"),
            ("why out", "why.json", "targets"),
            ("affected in in% no-such-file graph.json", "affected.json", "targets"),
        ] {
            let ask = |format: &str| upcheck(space, args(&format!("{command} --format {format} {options}")));
            self.add_answer(schema, &ask("json"), &ask("jsonl"), list);
        }
    }

    /// Adds an answer, or why there is none, and its lines, which together must say what the whole answer says.
    fn add_answer(&mut self, schema: &str, whole: &Ran, lines: &Ran, list: &str) {
        let (kind, line) =
            (if whole.status == 2 { "trouble" } else { "answer" }, format!("{schema}#/$defs/line"));
        let whole = parse(&whole.stdout);
        self.add(schema, whole.clone());
        self.add(&format!("{schema}#/$defs/{kind}"), whole.clone());
        let mut lines: Vec<_> = lines.stdout.lines().map(parse).collect();
        lines.iter().for_each(|it| self.add(&line, it.clone()));
        let mut last = lines.pop().expect("a last line");
        if kind == "answer" {
            last[list] = lines.into();
        }
        assert_eq!(without_moments(last), without_moments(whole));
    }

    /// What is wrong with each document; `None` for those that its schema accepts.
    fn verdicts(&self) -> Vec<Option<String>> {
        verdicts(&self.0)
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A report is not taken twice at the same moment.
fn without_moments(mut document: Value) -> Value {
    // That one looks at no files.
    let is_of_files = document["schema"] != "upcheck.affected/1";
    if let Some(summary) = document.get_mut("summary").and_then(Value::as_object_mut).filter(|_| is_of_files)
    {
        summary.remove("snapshot_began_ns").expect("a time");
        summary.remove("snapshot_ended_ns").expect("a time");
        // The first one to be asked makes it. With one, depfiles are looked at; without, they are read.
        let is_ninja = summary.contains_key("image");
        for key in ["image", "files", "stats", "directories"] {
            assert!(summary.remove(key).is_some() || (key == "image" && !is_ninja), "no {key}");
        }
        // What the first one has read is known to the second one.
        summary.remove("contents");
    }
    document
}

/// Targets that options or a graph describe.
struct Project {
    name: &'static str,
    space: Space,
    /// What describes them.
    options: &'static str,
}

/// Arguments in which `%` stands for a byte that is no UTF-8.
fn args(text: &str) -> Vec<OsString> {
    let argument = |argument: &str| {
        let bytes = argument.bytes().map(|byte| if byte == b'%' { 0xff } else { byte });
        OsString::from_vec(bytes.collect())
    };
    text.split_whitespace().map(argument).collect()
}

/// Projects that were built, and what was done to them then: for each reason one.
fn projects() -> Vec<Project> {
    let mut projects = Vec::new();
    let mut add = |name, built: &str, options, act: &dyn Fn(&Space)| {
        let space = Space::new();
        space.write("in", "in\n");
        space.write("deep", "deep\n");
        space.write(
            "graph.json",
            r#"{"version": 1, "targets": [
                {"outputs": ["out", {"base64": "/28="}], "inputs": ["in"], "command": ["cp", "in", "out"], "vars": {"v": "1"}},
                {"outputs": ["two"], "inputs": ["out"], "depfile": "two.d"},
                {"name": "lint", "inputs": ["two"]},
                {"outputs": ["all"], "inputs": ["lint"], "phony": true}]}"#,
        );
        let script = "cp in out; cp in \"$(printf '\\377o')\"; cp out two; echo two: deep > two.d";
        if !built.is_empty() {
            let mut run = args(&format!("run {built} -- sh -c"));
            run.push(script.into());
            let ran = upcheck_in(space.path()).args(run).output().expect("upcheck starts");
            assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
        }
        act(&space);
        projects.push(Project { name, space, options });
    };
    let (graph, one) = ("--from graph", "-i in -o out");
    add("nothing built", "", graph, &|_| {});
    add("fresh", graph, graph, &|_| {});
    add("an edited input", graph, graph, &|space| space.write("in", "ni\n"));
    add("a longer input", graph, graph, &|space| space.write("in", "longer\n"));
    add("an edited output", graph, graph, &|space| space.write("out", "edited"));
    add("a missing output", graph, graph, &|space| space.remove("two"));
    add("a missing input", graph, graph, &|space| space.remove("in"));
    add("another command", graph, graph, &|space| {
        let text = String::from_utf8(space.read("graph.json")).expect("text");
        space.write("graph.json", text.replace("[\"cp\"", "[\"cp\", \"-p\"").replace("{\"v\": \"1\"}", "{}"));
    });
    add("by times", "", one, &|space| {
        space.set_mtime("in", 2_000_000_000);
        space.set_mtime("out", 1_000_000_000);
    });
    add("other inputs", "-i in* -o out", "-i in* -i deep -o out", &|space| {
        space.write("in2", "");
        fs::write(space.path().join(OsString::from_vec(b"in\xff".to_vec())), "").expect("a file");
    });
    add("inputs that are gone", "-i in -i d* -i /dev/null -o out", one, &|_| {});
    add(
        "other values",
        "-i in -o out --value a=1 --value b=%",
        "-i in -o out --value c=%3 --value b=2 --value %=1",
        &|_| {},
    );
    add("another depfile", "-i in -o two --depfile two.d", "-i in -o two --depfile other.d", &|_| {});
    add("interrupted", one, one, &|space| {
        let run = args("run --always -i in -o out -- false");
        assert_eq!(upcheck_in(space.path()).args(run).status().expect("upcheck starts").code(), Some(1));
    });
    add("a check", "--name lint -i in", "--name lint -i in", &|space| space.write("in", "edited"));
    add("odd names", "-i in -o out", "-i in% -o out% -- cp % %", &|_| {});
    add("edited meanwhile", one, one, &|space| {
        let mut run = args("run --always -i in -o out -- sh -c");
        run.push("cp in out; echo >> in".into());
        assert!(upcheck_in(space.path()).args(run).output().expect("upcheck starts").status.success());
    });
    add("a loop of links", one, one, &|space| {
        space.remove("in");
        std::os::unix::fs::symlink("in", space.path().join("in")).expect("a link");
    });
    add("no graph", "", graph, &|space| space.write("graph.json", "{"));
    add("no target", "", "-i in", &|_| {});
    add("a compilation database", "", "--from compile-commands", &|space| {
        let entry = json!([{"directory": space.path(), "file": "in", "output": "out", "arguments": ["cc", "-MD", "-c", "in", "-o", "out"]}]);
        space.write("compile_commands.json", entry.to_string());
    });
    projects
}

#[test]
fn the_schemas_accept_all_answers_there_are_with_every_reason_among_them() {
    let mut cases = Cases::default();
    every_kind().iter().for_each(|kind| cases.add_answers(kind));
    projects().iter().for_each(|project| cases.add_project(project));
    let bad: Vec<_> =
        cases.verdicts().into_iter().zip(&cases.0).filter_map(|(bad, case)| Some((bad?, case))).collect();
    assert!(bad.is_empty(), "{} of {} are rejected, first: {:#?}", bad.len(), cases.0.len(), bad[0]);

    let mut seen = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for (_, document) in &cases.0 {
        walk(document, &mut |object| {
            keys.extend(object.keys().cloned());
            if let (Some(code), None) = (object.get("code"), object.get("targets")) {
                let why = object.get("why").map_or(String::new(), |why| format!(" {}", text(why)));
                seen.insert(text(code) + &why);
            }
        });
    }
    let every = [
        "command-changed",
        "deps-outdated",
        "deps-unknown depfile-broken",
        "deps-unknown dyndep-broken",
        "deps-unknown dyndep-stale",
        "deps-unknown no-depfile",
        "deps-unknown not-recorded",
        "deps-unknown other-output",
        "input-changed",
        "input-missing",
        "input-newer",
        "inputs-differ",
        "interrupted",
        "manifest-stale",
        "never-built",
        "output-changed",
        "output-missing",
        "phony-missing",
        "unreadable",
        "upstream-stale",
        "value-changed",
    ];
    assert_eq!(Vec::from_iter(seen), every);
    let binary: Vec<_> = keys.iter().filter(|key| key.ends_with("_b64")).collect();
    assert_eq!(
        binary,
        [
            "added_b64",
            "because_b64",
            "command_b64",
            "depfile_b64",
            "name_b64",
            "names_b64",
            "output_b64",
            "outputs_b64",
            "path_b64",
            "recorded_b64",
            "target_b64",
            "value_b64"
        ]
    );
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            visit(object);
            object.values().for_each(|value| walk(value, visit));
        }
        Value::Array(list) => list.iter().for_each(|value| walk(value, visit)),
        _ => {}
    }
}

#[test]
fn the_exact_bytes_of_a_name_can_be_had() {
    let kind = every_kind().into_iter().find(|kind| kind.name == "names that are not UTF-8").expect("a kind");
    let report = parse(&run(&kind.space, "--format json --commands").answer(1));
    let first = &report["stale"][0];
    // printf '\xff1' | base64, and so on
    assert_eq!((&first["target"], &first["target_b64"]), (&"\u{fffd}1".into(), &"/zE=".into()));
    assert_eq!(first["outputs"], json!(["\u{fffd}1", "plain"]));
    assert_eq!(first["outputs_b64"], json!(["/zE=", "cGxhaW4="]));
    assert_eq!(first["reasons"][0]["names_b64"], "ev8=");
    assert_eq!(first["command_b64"], "dCAn/zEnIHBsYWlu");
    assert_eq!(report["stale"][1]["outputs_b64"], json!(["/zI="]));
}

#[test]
fn the_schemas_reject_answers_that_are_damaged() {
    let find = |name: &str| every_kind().into_iter().find(|kind| kind.name == name).expect("a kind").space;
    let report = parse(&run(&find("a newer header"), "--format json --commands").answer(1));
    let fresh = parse(&run(&find("fresh"), "--format json").answer(0));
    let unreadable = parse(&run(&find("loops of links"), "--format json").answer(1));
    let binary = parse(&run(&find("names that are not UTF-8"), "--format json").answer(1));
    let why = parse(&run(&find("a newer header"), "why all --format json").answer(1));
    let trouble = parse(&run(&find("a syntax error"), "--format json").stdout);
    let why_trouble = parse(&run(&find("a syntax error"), "why a --format json").stdout);

    let mut cases = Cases::default();
    let mut add = |schema: &str, document: &Value, damage: &dyn Fn(&mut Value)| {
        let mut damaged = document.clone();
        damage(&mut damaged);
        assert_ne!(&damaged, document, "the damage does nothing");
        cases.add(schema, damaged);
    };
    let drop_key = |value: &mut Value, key: &str| {
        value.as_object_mut().and_then(|object| object.remove(key)).expect("the key is there");
    };
    for key in ["schema", "from", "verdict", "stale", "root_causes", "summary", "errors"] {
        add("report.json", &report, &|it| drop_key(it, key));
    }
    for key in fresh["summary"].as_object().expect("an object").keys() {
        add("report.json", &fresh, &|it| drop_key(&mut it["summary"], key));
        add("report.json", &fresh, &|it| it["summary"][key] = json!({}));
    }
    for key in ["code", "path", "mtime_ns", "compared_with", "output_mtime_ns", "output"] {
        add("report.json", &report, &|it| drop_key(&mut it["stale"][0]["reasons"][0], key));
        add("report.json", &report, &|it| it["stale"][0]["reasons"][0][key] = json!(null));
    }
    for key in ["target", "outputs", "verdict", "reasons"] {
        add("report.json", &report, &|it| drop_key(&mut it["stale"][0], key));
    }
    for key in ["errno", "detail"] {
        add("report.json", &unreadable, &|it| drop_key(&mut it["stale"][0]["reasons"][0], key));
    }
    add("report.json", &report, &|it| it["schema"] = json!("upcheck.report/2"));
    add("report.json", &report, &|it| it["verdict"] = json!("pending"));
    add("report.json", &report, &|it| it["verdict"] = json!("fresh"));
    add("report.json", &fresh, &|it| it["verdict"] = json!("stale"));
    add("report.json", &report, &|it| it["new"] = json!(1));
    add("report.json", &report, &|it| it["stale"][0]["new"] = json!(1));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["new"] = json!(1));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["errno"] = json!(40));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["code"] = json!("input-older"));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["code"] = json!("output-missing"));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["mtime_ns"] = json!("1700000000"));
    add("report.json", &report, &|it| it["stale"][0]["reasons"][0]["mtime_ns"] = json!(1.5));
    add("report.json", &report, &|it| it["stale"][0]["reasons"] = json!([]));
    add("report.json", &report, &|it| it["stale"][0]["outputs"] = json!([]));
    add("report.json", &report, &|it| it["stale"][0]["verdict"] = json!("fresh"));
    add("report.json", &report, &|it| it["root_causes"][0]["targets"] = json!(0));
    add("report.json", &report, &|it| it["root_causes"][0]["code"] = json!("upstream-stale"));
    add("report.json", &report, &|it| it["summary"]["stale"] = json!(-1));
    add("report.json", &binary, &|it| it["stale"][0]["target_b64"] = json!("not base64!"));
    add("report.json", &report, &|it| drop_key(it, "stale"));
    add("report.json#/$defs/line", &report, &|it| it["stale"] = json!([]));
    add("report.json#/$defs/line", &report["stale"][0], &|it| it["verdict"] = json!("fresh"));
    for key in ["schema", "from", "verdict", "requests", "targets"] {
        add("why.json", &why, &|it| drop_key(it, key));
    }
    add("why.json", &why, &|it| it["requests"] = json!([]));
    add("why.json", &why, &|it| it["requests"][0]["verdict"] = json!("missing"));
    add("why.json", &why, &|it| it["targets"][0]["phony"] = json!("yes"));
    add("why.json", &why, &|it| it["targets"][0]["verdict"] = json!("fresh"));
    add("why.json", &why, &|it| it["targets"][1]["reasons"] = json!([]));
    add("why.json", &why, &|it| it["targets"][1]["reasons"][0]["new"] = json!(1));
    add("why.json#/$defs/line", &why, &|it| it["new"] = json!(1));

    for (schema, document) in [("report.json", &trouble), ("why.json", &why_trouble)] {
        for key in ["schema", "from", "errors"] {
            add(schema, document, &|it| drop_key(it, key));
        }
        add(schema, document, &|it| it["verdict"] = json!(null));
        add(schema, document, &|it| it["verdict"] = json!("stale"));
        add(schema, document, &|it| it["errors"] = json!([]));
        add(schema, document, &|it| it["errors"][0]["message"] = json!(""));
        add(schema, document, &|it| it["errors"][0]["path"] = json!("a"));
        add(&format!("{schema}#/$defs/answer"), document, &|it| it["errors"] = json!([]));
    }

    let accepted: Vec<_> =
        cases.verdicts().into_iter().zip(&cases.0).filter(|(bad, _)| bad.is_none()).collect();
    assert!(accepted.is_empty(), "{} are accepted, first: {:#?}", accepted.len(), accepted[0]);
}

#[test]
fn the_schemas_describe_every_key_and_allow_no_others() {
    let names = [
        "report.json",
        "why.json",
        "doctor.json",
        "graph.json",
        "bench-fs.json",
        "remote-show.json",
        "watch.json",
    ];
    for name in names {
        let text = fs::read_to_string(root().join("docs/schema").join(name)).expect("a schema");
        let mut n_keys = 0;
        walk(&parse(&text), &mut |object| {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
            // The halves of a condition are no objects of their own.
            if !object.contains_key("type") {
                return;
            }
            assert_eq!(object.get("additionalProperties"), Some(&false.into()), "{name}: {object:?}");
            for (key, property) in properties {
                n_keys += 1;
                let described = property.get("description").or_else(|| property.get("$ref"));
                assert!(described.is_some(), "{name}: {key} is not described");
            }
        });
        assert!(n_keys > 15, "{n_keys} keys");
    }
}

#[test]
fn the_schemas_reject_damaged_answers_about_projects() {
    let projects = projects();
    let find = |name: &str| projects.iter().find(|project| project.name == name).expect("a project");
    let ask = |name: &str, command: &str| {
        let Project { space, options, .. } = find(name);
        parse(&upcheck(space, args(&format!("{command} --format json {options}"))).stdout)
    };
    let edited = ask("an edited input", "check");
    let differ = ask("other inputs", "check");
    let values = ask("other values", "check");
    let interrupted = ask("interrupted", "check");
    let affected = ask("fresh", "affected in no-such-file");
    let nothing = ask("fresh", "affected no-such-file");
    let by_description = ask("fresh", "affected graph.json");

    let mut good = Cases::default();
    let mut cases = Cases::default();
    let mut add = |schema: &str, document: &Value, damage: &dyn Fn(&mut Value)| {
        good.add(schema, document.clone());
        let mut damaged = document.clone();
        damage(&mut damaged);
        assert_ne!(&damaged, document, "the damage does nothing");
        cases.add(schema, damaged);
    };
    let drop_key = |value: &mut Value, key: &str| {
        value.as_object_mut().and_then(|object| object.remove(key)).expect("the key is there");
    };
    let first = |document: &Value| document["stale"][0]["reasons"][0].clone();
    assert_eq!(text(&first(&edited)["code"]), "input-changed");
    for document in [&edited, &differ, &values, &interrupted] {
        for key in first(document).as_object().expect("an object").keys().filter(|key| !key.ends_with("_b64"))
        {
            add("report.json", document, &|it| drop_key(&mut it["stale"][0]["reasons"][0], key));
            add("report.json", document, &|it| it["stale"][0]["reasons"][0][key] = json!(true));
        }
        add("report.json", document, &|it| it["stale"][0]["reasons"][0]["new"] = json!(1));
        for key in document["summary"].as_object().expect("an object").keys() {
            add("report.json", document, &|it| drop_key(&mut it["summary"], key));
            add("report.json", document, &|it| it["summary"][key] = json!({}));
        }
        for (key, value) in [("exact", json!(false)), ("image", json!("none")), ("log_version", json!(null))]
        {
            add("report.json", document, &|it| it["summary"][key] = value.clone());
        }
        add("report.json", document, &|it| it["from"] = json!("ninja"));
        add("report.json", document, &|it| it["from"] = json!("make"));
    }
    let reason = |it: &mut Value, key: &str, value: Value| it["stale"][0]["reasons"][0][key] = value;
    for key in ["mtime_ns", "size"] {
        add("report.json", &edited, &|it| drop_key(&mut it["stale"][0]["reasons"][0]["now"], key));
        add("report.json", &edited, &|it| it["stale"][0]["reasons"][0]["recorded"][key] = json!("1"));
    }
    add("report.json", &edited, &|it| it["stale"][0]["reasons"][0]["now"]["size"] = json!(-1));
    add("report.json", &edited, &|it| it["stale"][0]["reasons"][0]["now"]["blake3"] = json!("abc"));
    add("report.json", &edited, &|it| it["stale"][0]["reasons"][0]["now"]["new"] = json!(1));
    add("report.json", &edited, &|it| reason(it, "unsteady", json!(false)));
    add("report.json", &edited, &|it| reason(it, "code", json!("input-newer")));
    add("report.json", &edited, &|it| it["root_causes"][0]["code"] = json!("upstream-stale"));
    add("report.json", &differ, &|it| {
        reason(it, "added", json!([]));
        reason(it, "removed", json!([]));
    });
    add("report.json", &differ, &|it| reason(it, "added_b64", json!(["*"])));
    add("report.json", &values, &|it| reason(it, "value", json!(1)));
    add("report.json", &interrupted, &|it| reason(it, "began_ns", json!("now")));

    for key in ["schema", "from", "verdict", "targets", "unknown", "summary"] {
        add("affected.json", &affected, &|it| drop_key(it, key));
        add("affected.json", &affected, &|it| it[key] = json!(1));
    }
    for key in ["target", "outputs", "because", "distance"] {
        add("affected.json", &affected, &|it| drop_key(&mut it["targets"][0], key));
        add("affected.json", &affected, &|it| it["targets"][0][key] = json!(null));
    }
    for key in ["targets", "unknown", "description"] {
        add("affected.json", &affected, &|it| drop_key(&mut it["summary"], key));
    }
    add("affected.json", &affected, &|it| it["verdict"] = json!("fresh"));
    add("affected.json", &affected, &|it| it["targets"] = json!([]));
    add("affected.json", &affected, &|it| it["targets"][0]["distance"] = json!(-1));
    add("affected.json", &affected, &|it| it["targets"][0]["verdict"] = json!("stale"));
    add("affected.json", &affected, &|it| it["unknown"][0] = json!("path"));
    add("affected.json", &affected, &|it| it["unknown"][0]["path"] = json!(""));
    add("affected.json", &nothing, &|it| it["verdict"] = json!("stale"));
    add("affected.json", &nothing, &|it| it["summary"]["description"] = json!(true));
    add("affected.json", &by_description, &|it| it["verdict"] = json!("fresh"));
    add("affected.json", &by_description, &|it| it["summary"]["description"] = json!(false));
    add("affected.json#/$defs/line", &affected["targets"][0], &|it| {
        it["schema"] = json!("upcheck.affected/1")
    });
    add("affected.json", &ask("no graph", "affected x"), &|it| it["verdict"] = json!("stale"));

    // These two take a file that changes while it is looked at, and a clock that stands still.
    let mut unsteady = edited.clone();
    unsteady["stale"][0]["reasons"][0]["unsteady"] = json!(true);
    unsteady["stale"][0]["reasons"][0]["now"] = json!(null);
    add("report.json", &unsteady, &|it| it["stale"][0]["reasons"][0]["unsteady"] = json!(null));
    let mut racy = edited.clone();
    racy["stale"][0]["reasons"] = json!([{ "code": "racy", "path": "in" }]);
    racy["root_causes"][0]["code"] = json!("racy");
    add("report.json", &racy, &|it| it["stale"][0]["reasons"][0]["now"] = json!(null));

    let bad: Vec<_> =
        good.verdicts().into_iter().zip(&good.0).filter_map(|(bad, case)| Some((bad?, case))).collect();
    assert!(bad.is_empty(), "{} are rejected, first: {:#?}", bad.len(), bad[0]);
    let accepted: Vec<_> =
        cases.verdicts().into_iter().zip(&cases.0).filter(|(bad, _)| bad.is_none()).collect();
    assert!(accepted.is_empty(), "{} are accepted, first: {:#?}", accepted.len(), accepted[0]);
}
