//! What is odd about the stamps of a build, found without running anything.

use crate::command::spaces::{SECOND, T, discovering, manifest, missing_source, program};
use crate::command::{build_log, deps_log};
use crate::{examine_it, number, text};
use serde_json::json;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// 2200-01-01.
const FUTURE: i64 = 7_258_118_400 * SECOND;

#[test]
fn a_fresh_build_is_counted_and_there_is_nothing_to_worry_about() {
    let diagnosis = examine_it(program().path());
    assert_eq!((diagnosis.status, diagnosis.remarks()), (0, vec!["build"]), "{:#}", diagnosis.document);
    let evidence = &diagnosis.finding("build")["evidence"];
    assert_eq!(evidence, &json!({ "targets": 4, "stale": 0, "pending": 0, "files": 9 }));
    assert_eq!(diagnosis.evidence("watches", "directories_of_build"), 1);
}

#[test]
fn something_stale_is_no_warning() {
    let diagnosis = examine_it(missing_source().path());
    assert_eq!(diagnosis.status, 0, "{:#}", diagnosis.document);
    assert!(number(diagnosis.evidence("build", "stale")) > 0);
}

#[test]
fn a_source_from_the_future_is_named_after_a_real_build() {
    for &version in Ninja::USUAL {
        let space = manifest("rule cat\n  command = cat $in > $out\nbuild b: cat a\nbuild c: cat b\n");
        space.write_at("a", "a", FUTURE);
        build(&space, version, &Question::default());
        let diagnosis = examine_it(space.path());
        assert_eq!(diagnosis.warnings(), ["future-stamps"]);
        let finding = diagnosis.finding("future-stamps");
        let [files, sources] = ["files", "sources"].map(|key| &finding["evidence"][key]);
        assert_eq!((files, sources), (&json!(1), &json!(1)));
        assert_eq!(finding["files"][0]["path"], "a");
        assert_eq!(finding["files"][0]["mtime_ns"], FUTURE);
        let ahead = number(&finding["files"][0]["ahead_ns"]);
        assert_eq!(ahead, FUTURE - number(&finding["evidence"]["now_ns"]));
        assert!(text(&finding["advice"]).contains("touch them"));
        assert_eq!(diagnosis.evidence("build", "stale"), 2, "stale after the build");
        // The cure helps.
        space.set_mtime("a", T);
        assert_eq!(examine_it(space.path()).status, 0);
    }
}

#[test]
fn outputs_and_records_from_the_future_are_told_from_sources() {
    let space = program();
    for output in ["prog", "check"] {
        space.set_mtime(output, FUTURE);
    }
    space.write(".ninja_log", build_log(&[("prog", FUTURE, "link a.o b.o -o prog")]));
    let diagnosis = examine_it(space.path());
    let finding = diagnosis.finding("future-stamps");
    let evidence = ["files", "sources", "records"].map(|key| number(&finding["evidence"][key]));
    assert_eq!(evidence, [2, 0, 1]);
    assert!(text(&finding["advice"]).contains("remove these outputs"));
    assert!(text(&finding["message"]).contains("2 files in the future: "));
}

#[test]
fn of_many_files_from_the_future_ten_are_named_those_furthest_ahead_first() {
    let inputs: Vec<_> = (0..25).map(|number| format!("in{number}")).collect();
    let space = manifest(format!("rule t\n  command = t\nbuild out: t {}\n", inputs.join(" ")));
    for (name, order) in inputs.iter().zip(0..) {
        space.write_at(name, "", FUTURE + order * SECOND);
    }
    let diagnosis = examine_it(space.path());
    assert_eq!(diagnosis.evidence("future-stamps", "files"), 25);
    let files = diagnosis.finding("future-stamps")["files"].as_array().expect("a list").clone();
    let names: Vec<_> = files.iter().map(|file| text(&file["path"])).collect();
    assert_eq!(names, ["in24", "in23", "in22", "in21", "in20", "in19", "in18", "in17", "in16", "in15"]);
    let message = text(&diagnosis.finding("future-stamps")["message"]);
    assert!(
        message.starts_with("25 files in the future: in24 by ") && message.ends_with(" and 22 more"),
        "{message}"
    );
}

/// An output of `output_mtime` beside an input of half a second past [`T`].
fn half_past(output_mtime: i64) -> Space {
    let space = manifest("rule t\n  command = t\nbuild out: t in whole\n");
    space.write_at("in", "", T + SECOND / 2);
    space.write_at("whole", "", T);
    space.write_at("out", "", output_mtime);
    space.write(".ninja_log", build_log(&[("out", T + SECOND, "t")]));
    space
}

#[test]
fn outputs_that_an_archive_truncated_are_a_warning_where_that_makes_them_stale() {
    let misled = examine_it(half_past(T).path());
    assert_eq!(misled.warnings(), ["truncated-stamps"], "{:#}", misled.document);
    assert_eq!(misled.finding("truncated-stamps")["evidence"], json!({ "files": 1, "misled": 1 }));
    assert_eq!(misled.finding("truncated-stamps")["files"], json!([{ "path": "out", "mtime_ns": T }]));

    for harmless in [T + SECOND, T - SECOND] {
        let diagnosis = examine_it(half_past(harmless).path());
        assert_eq!(diagnosis.status, 0);
        assert_eq!(diagnosis.finding("truncated-stamps")["severity"], "info");
        assert_eq!(diagnosis.evidence("truncated-stamps", "misled"), 0);
    }
    assert_eq!(examine_it(half_past(T + SECOND * 3 / 4).path()).remarks(), ["build"]);
    let whole = half_past(T);
    whole.set_mtime("in", T);
    assert_eq!(examine_it(whole.path()).remarks(), ["build"]);
}

#[test]
fn inputs_that_only_a_log_knows_and_that_are_not_there_are_named_with_their_target() {
    let space = discovering();
    let good = examine_it(space.path());
    assert_eq!(good.warnings(), [""; 0], "{:#}", good.document);
    let manifest_text =
        "rule cc\n  command = cc $in\n  deps = gcc\n  depfile = d\nbuild a.o: cc a.c\nbuild b.o: cc b.c\n";
    let space = manifest(manifest_text);
    let log: [(&str, i64, &[&str]); 2] =
        [("a.o", T, &["a.c", "gone.h", "sub/gone.h"]), ("b.o", T, &["gone.h"])];
    space.write(".ninja_deps", deps_log(&log));
    for name in ["a.c", "b.c", "a.o", "b.o"] {
        space.write_at(name, "", T);
    }
    let diagnosis = examine_it(space.path());
    assert_eq!(diagnosis.warnings(), ["phantom-inputs"]);
    let finding = diagnosis.finding("phantom-inputs");
    assert_eq!(finding["evidence"], json!({ "files": 2 }));
    let files = json!([{ "path": "gone.h", "target": "a.o" }, { "path": "sub/gone.h", "target": "a.o" }]);
    assert_eq!(finding["files"], files);
    for name in ["gone.h", "sub/gone.h"] {
        space.write_at(name, "", T);
    }
    assert_eq!(examine_it(space.path()).remarks(), ["build"]);
}

#[test]
fn a_broken_build_is_a_finding_and_the_ground_is_measured_all_the_same() {
    let space = manifest("build\n");
    let diagnosis = examine_it(space.path());
    assert_eq!(diagnosis.warnings(), ["build-broken"]);
    let message = text(&diagnosis.finding("build-broken")["message"]);
    assert!(message.starts_with("the build cannot be checked: build.ninja:1:6: "), "{message}");
    assert!(!diagnosis.evidence("stamps", "kept_ns").is_null());
    let cycle = examine_it(manifest("rule t\n  command = t\nbuild a: t b\nbuild b: t a\n").path());
    assert_eq!(cycle.warnings(), ["build-broken"]);
}

#[test]
fn names_of_files_cannot_steer_the_terminal() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\u{1b}[31m\n");
    space.write_at("b\u{1b}[31m", "", FUTURE);
    let ran = crate::command::run(&space, "doctor").answer(1);
    assert!(ran.contains("b\\u{1b}[31m by ") && !ran.contains('\u{1b}'), "{ran}");
}
