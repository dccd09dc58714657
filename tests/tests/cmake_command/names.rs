//! Questions and answers in CMake's words.

use crate::project::{ALL, Project, set};
use serde_json::Value;
use std::collections::BTreeSet;
use upcheck_tests::schemas;

/// For each kind of build directory, all in one: building it is what takes time.
#[test]
fn questions_and_answers_are_in_cmakes_words() {
    for kind in ALL {
        let project = Project::built(kind);
        let suffix = if kind.is_multi_config() { ":Debug" } else { "" };
        let named = |names: &[&str]| {
            set(&names
                .iter()
                .map(|name| format!("{name}{suffix}"))
                .collect::<Vec<_>>()
                .iter()
                .map(|name| &**name)
                .collect::<Vec<_>>())
        };
        assert_eq!(project.stale_names(&[]), set(&[]), "{kind:?}: just built");
        assert_eq!(project.stale_names(&["--target", "app"]), set(&[]), "{kind:?}");

        // A header of one library, which the program includes, too. An archive is not made of other archives.
        project.touch(&project.source().join("lib/text.h"));
        assert_eq!(project.stale_names(&[]), named(&["text", "app"]), "{kind:?}: not what nothing includes");
        assert_eq!(project.stale_names(&["--target", "text"]), named(&["text"]), "{kind:?}");
        assert_eq!(project.stale_names(&["--target", "bundle"]), set(&[]), "{kind:?}");
        let text = project.upcheck(&["--target", "text"]).answer(1);
        assert!(text.contains("1 target of CMake: text"), "{kind:?}: {text}");
        assert!(text.contains("text.h is newer than"), "{kind:?}: {text}");
        let why = project.upcheck(&["why", "--target", "app"]).answer(1);
        assert!(why.contains("text.h is newer than"), "{kind:?}: {why}");

        let json = project.upcheck(&["--target", "app", "--format", "json"]).answer(1);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(
            schemas::verdicts(&[("report.json#/$defs/answer".into(), json.clone())]),
            [None],
            "{kind:?}"
        );
        assert_eq!(json["from"], "cmake");
        assert_eq!(json["summary"]["manifest_stale"], false);
        let owned = json["summary"]["cmake_targets"].as_array().expect("a list");
        assert!(
            owned.iter().any(|owner| owner["name"] == "app" && owner["stale"] == 2),
            "{kind:?}: {owned:?}"
        );
        let configuration = owned[0].get("configuration").and_then(Value::as_str);
        assert_eq!(configuration, kind.is_multi_config().then_some("Debug"), "{kind:?}");

        let header = project.source().join("lib/text.h").display().to_string();
        let affected =
            project.upcheck(&["--from", "cmake", "affected", &header, "--format", "names"]).answer(1);
        assert_eq!(
            affected.lines().map(str::to_owned).collect::<BTreeSet<_>>(),
            named(&["text", "app"]),
            "{kind:?}"
        );
        let affected =
            project.upcheck(&["--from", "cmake", "affected", &header, "--format", "json"]).answer(1);
        let affected: Value = serde_json::from_str(&affected).expect("JSON");
        assert_eq!(
            schemas::verdicts(&[("affected.json#/$defs/answer".into(), affected.clone())]),
            [None],
            "{kind:?}"
        );
        assert!(
            affected["targets"].as_array().expect("a list").iter().all(|it| it["cmake_target"].is_string())
        );
        let lists = project.source().join("lib/CMakeLists.txt").display().to_string();
        let affected = project.upcheck(&["--from", "cmake", "affected", &lists]).answer(1);
        assert!(affected.starts_with("The description itself would change"), "{kind:?}: {affected}");

        // A target that is none, with what may be meant.
        let trouble = project.upcheck(&["--target", "nett"]).trouble();
        assert!(trouble.contains("'nett'") && trouble.contains("'net'"), "{kind:?}: {trouble}");
        project.build(&[]);
    }
}

#[test]
fn each_configuration_has_its_own_answer() {
    for kind in ALL.into_iter().filter(|kind| kind.is_multi_config()) {
        let project = Project::built(kind);
        assert_eq!(project.stale_names(&["--config", "Debug"]), set(&[]), "{kind:?}: the default was built");
        let release = project.stale_names(&["--config", "Release"]);
        assert!(release.contains("app:Release") && release.contains("text:Release"), "{kind:?}: {release:?}");
        project.build(&["--config", "Release", "--target", "text"]);
        assert_eq!(project.stale_names(&["--config", "Release", "--target", "text"]), set(&[]), "{kind:?}");
        let release = project.stale_names(&["--config", "Release", "--target", "app"]);
        assert_eq!(release, set(&["app:Release", "net:Release"]), "{kind:?}");
        let trouble = project.upcheck(&["--config", "Fast"]).trouble();
        assert!(trouble.contains("'Fast'") && trouble.contains("'Release'"), "{kind:?}: {trouble}");
    }
}

#[test]
fn a_configure_that_is_needed_is_named_with_its_cause() {
    for kind in ALL {
        let project = Project::built(kind);
        let asks_for_it = |what: &str| {
            let text = project.upcheck(&["--from", "cmake"]).answer(1);
            assert!(text.contains("is the manifest, which would be made again"), "{kind:?}: {text}");
            assert!(text.contains(what), "{kind:?}: {what} in {text}");
            let json = project.upcheck(&["--from", "cmake", "--format", "json"]).answer(1);
            let json: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(json["summary"]["manifest_stale"], true, "{kind:?}");
        };
        project.touch(&project.source().join("lib/CMakeLists.txt"));
        asks_for_it("lib/CMakeLists.txt is newer");
        project.configure();
        project.build(&[]);
        project.write("data/c.txt", "c\n");
        asks_for_it("data/c.txt came");
        project.configure();
        project.build(&[]);
        assert_eq!(project.stale_names(&[]), set(&[]), "{kind:?}: the glob was verified");
        std::fs::remove_file(project.source().join("data/c.txt")).expect("a file");
        asks_for_it("data/c.txt");
        // A directory that no glob goes through, and a file that none matches, are nobody's business.
        project.configure();
        project.build(&[]);
        project.write("data/c.bin", "c\n");
        project.write("other/c.txt", "c\n");
        assert_eq!(project.stale_names(&[]), set(&[]), "{kind:?}");
    }
}
