//! The JSON of the doctor is what docs/schema/doctor.json says it is, and nothing else is.

use crate::command::spaces::{SECOND, T, manifest, program};
use crate::command::{Ran, build_log, deps_log, upcheck, upcheck_in};
use crate::oddities::odd;
use crate::{Diagnosis, examine, examine_it};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use upcheck_tests::schemas::verdicts;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, root};

const SCHEMA: &str = "doctor.json";

/// A build with all that is odd about stamps, names that are not UTF-8 among them.
fn odd_build() -> Space {
    let space = manifest(
        b"rule cc\n  command = cc $in\n  deps = gcc\n  depfile = d\nbuild out: cc in\nbuild x: cc \xff\n",
    );
    space.write_at("in", "", T + SECOND / 2);
    space.write_at("out", "", T);
    space.write(".ninja_log", build_log(&[("out", T + SECOND, "cc in"), ("x", i64::MAX, "cc")]));
    space.write(".ninja_deps", deps_log(&[("out", T, &["in", "gone.h"])]));
    let name = OsString::from_vec(b"\xff".to_vec());
    fs::write(space.path().join(&name), "").expect("a file");
    upcheck_tests::space::set_mtime(&space.path().join(name), i64::MAX / 4 * 3);
    space
}

/// A build of which some stays stale.
fn perpetual() -> Diagnosis {
    let space = manifest(
        "rule t\n  command = true\nrule cat\n  command = cat in > $out\nbuild always: phony\n\
         build a: t in | always\nbuild b: cat in\nbuild c: cat in\n",
    );
    space.write_at("in", "", T);
    let ninja = Ninja::V1_13.path().to_str().expect("text");
    examine(space.path(), ["--", ninja, "a", "b"])
}

/// Diagnoses with every code there is among them.
fn every_diagnosis() -> Vec<Diagnosis> {
    let leftover = Space::new();
    leftover.write(".upcheck-doctor-12-1700000000000000000/lock", "");
    leftover.write("limit", "0");
    let watches = leftover.path().join("limit").display().to_string();
    let mut all = vec![
        examine_it(leftover.path()),
        odd(&leftover, &[("ODD_WATCHES", watches.as_str())]),
        examine_it(program().path()),
        examine_it(odd_build().path()),
        examine_it(manifest("build\n").path()),
        examine(program().path(), ["--", "false"]),
        examine(program().path(), ["--", "sh", "-c", "kill -9 $$"]),
        perpetual(),
        odd(&Space::new(), &[("ODD_GRAIN", "2000000000")]),
        odd(&Space::new(), &[("ODD_CLOCK", "1000")]),
    ];
    for oddity in [
        "folders-still",
        "folders-restless",
        "new-inodes",
        "ctime-copies",
        "unset",
        "stuck",
        "fold",
        "no-mkdir",
    ] {
        all.push(odd(&Space::new(), &[("ODD", oddity)]));
    }
    all
}

fn schema() -> Value {
    let text = fs::read_to_string(root().join("docs/schema").join(SCHEMA)).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_schema_accepts_all_diagnoses_there_are_with_every_code_among_them() {
    let mut cases = Vec::new();
    let mut codes = BTreeSet::new();
    for diagnosis in every_diagnosis() {
        codes.extend(diagnosis.findings().iter().map(|finding| finding["code"].to_string()));
        let line = |document: &Value| (format!("{SCHEMA}#/$defs/line"), document.clone());
        cases.extend(diagnosis.findings().iter().map(line));
        let mut last = diagnosis.document.clone();
        last.as_object_mut().expect("an object").remove("findings");
        cases.push(line(&last));
        cases.push((SCHEMA.into(), diagnosis.document));
    }
    let space = Space::new();
    for args in [&["doctor", "nowhere"][..], &["doctor", "--", "true"]] {
        for format in ["--format=json", "--format=jsonl"] {
            let ran = upcheck(&space, args[..1].iter().chain([&format]).chain(&args[1..]));
            let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            cases.extend(
                ["", "#/$defs/trouble", "#/$defs/line"]
                    .map(|part| (format!("{SCHEMA}{part}"), document.clone())),
            );
        }
    }
    let verdicts = verdicts(&cases);
    let bad: Vec<_> = verdicts.into_iter().zip(&cases).filter_map(|(bad, case)| Some((bad?, case))).collect();
    assert!(bad.is_empty(), "{} of {} are rejected, first: {:#?}", bad.len(), cases.len(), bad[0]);
    let schema = schema();
    let known = schema["$defs"]["finding"]["properties"]["code"]["enum"].as_array().expect("a list");
    assert_eq!(codes, known.iter().map(Value::to_string).collect());
}

#[test]
fn the_page_about_the_doctor_has_every_code_and_no_others() {
    let page = fs::read_to_string(root().join("docs/DOCTOR.md")).expect("a page");
    let (codes, _reasons) = page.split_once("## What stays stale").expect("a heading");
    let rows = codes.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let schema = schema();
    let known = schema["$defs"]["finding"]["properties"]["code"]["enum"].as_array().expect("a list");
    let known: BTreeSet<_> = known.iter().map(|code| code.as_str().expect("a code")).collect();
    assert_eq!(rows.collect::<BTreeSet<_>>(), known);
}

#[test]
fn lines_are_lines_of_the_schema() {
    let space = odd_build();
    let output =
        upcheck_in(space.path()).args(["doctor", "--format", "jsonl"]).output().expect("upcheck starts");
    let ran = Ran::new(output).answer(1);
    let cases: Vec<_> = ran
        .lines()
        .map(|line| (format!("{SCHEMA}#/$defs/line"), serde_json::from_str(line).expect("JSON")))
        .collect();
    assert!(cases.len() > 8);
    assert_eq!(verdicts(&cases), vec![None; cases.len()]);
}

#[test]
fn the_exact_bytes_of_a_name_can_be_had() {
    let diagnosis = examine_it(odd_build().path());
    let file = &diagnosis.finding("future-stamps")["files"][0];
    assert_eq!((&file["path"], &file["path_b64"]), (&"\u{fffd}".into(), &"/w==".into()));
    let space = Space::new();
    let name = OsString::from_vec(b"\xff".to_vec());
    fs::create_dir(space.path().join(&name)).expect("a directory");
    assert_eq!(examine(space.path(), [name]).document["directory_b64"], "Li//");
}

#[test]
fn the_schema_rejects_diagnoses_that_are_damaged() {
    let good = examine_it(program().path()).document;
    let bad = examine_it(odd_build().path()).document;
    let stale = perpetual().document;
    let mut cases = Vec::new();
    let mut add = |document: &Value, damage: &dyn Fn(&mut Value)| {
        let mut damaged = document.clone();
        damage(&mut damaged);
        assert_ne!(&damaged, document, "the damage does nothing");
        cases.push((SCHEMA.to_owned(), damaged));
    };
    let drop_key = |value: &mut Value, key: &str| {
        value.as_object_mut().and_then(|object| object.remove(key)).expect("the key is there");
    };
    for key in ["schema", "from", "verdict", "directory", "findings", "summary"] {
        add(&good, &|it| drop_key(it, key));
    }
    add(&good, &|it| it["verdict"] = json!("attention"));
    add(&good, &|it| it["verdict"] = json!("fresh"));
    add(&bad, &|it| it["verdict"] = json!("good"));
    add(&good, &|it| it["schema"] = json!("upcheck.doctor/2"));
    add(&good, &|it| it["new"] = json!(1));
    add(&good, &|it| it["findings"] = json!([]));
    add(&good, &|it| it["summary"]["warnings"] = json!(-1));
    add(&good, &|it| drop_key(&mut it["summary"], "infos"));
    for document in [&good, &bad, &stale] {
        let findings = document["findings"].as_array().expect("a list");
        for (at, finding) in findings.iter().enumerate() {
            for key in ["code", "severity", "message", "evidence"] {
                add(document, &|it| drop_key(&mut it["findings"][at], key));
                add(document, &|it| it["findings"][at][key] = json!(null));
            }
            if finding["severity"] == "warning" {
                add(document, &|it| drop_key(&mut it["findings"][at], "advice"));
            }
            for key in finding["evidence"].as_object().expect("an object").keys() {
                add(document, &|it| drop_key(&mut it["findings"][at]["evidence"], key));
                add(document, &|it| it["findings"][at]["evidence"][key] = json!([]));
            }
            add(document, &|it| it["findings"][at]["evidence"]["new"] = json!(1));
            add(document, &|it| it["findings"][at]["new"] = json!(1));
            add(document, &|it| it["findings"][at]["files"] = json!([]));
            // Evidence of another code.
            let foreign = if finding["code"] == "command" { "misled" } else { "exit_status" };
            add(document, &|it| it["findings"][at]["evidence"][foreign] = json!(1));
        }
    }
    let future = |it: &mut Value| {
        let findings = it["findings"].as_array_mut().expect("a list");
        findings.iter_mut().find(|finding| finding["code"] == "future-stamps").expect("it is there").take()
    };
    add(&bad, &|it| drop(future(it)));
    let verdicts = verdicts(&cases);
    let accepted: Vec<_> = verdicts.into_iter().zip(&cases).filter(|(bad, _)| bad.is_none()).collect();
    assert!(accepted.is_empty(), "{} are accepted, first: {:#?}", accepted.len(), accepted[0]);
}
