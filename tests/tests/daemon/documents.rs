//! What is printed for programs, against its schema.

use crate::command::spaces::{changed_header, program};
use crate::{User, kill};
use serde_json::{Value, json};
use upcheck_tests::schemas::verdicts;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_schemas_accept_what_is_printed_and_reject_what_is_damaged() {
    let (user, space) = (User::new(), changed_header());
    let status = |expected: i32| {
        let ran = user.run(&space, "watch status --format json");
        assert_eq!(ran.status, expected, "{}", ran.stdout);
        parse(&ran.stdout)
    };
    let missing = status(1);
    user.run(&space, "watch start").answer(0);
    let unasked = status(0);
    user.run(&space, "--exact").answer(1);
    let first = parse(&user.run(&space, "--format json").answer(1));
    let second = parse(&user.run(&space, "--format json").answer(1));
    user.run(&program(), "").answer(0);
    let asked = status(0);
    let verified = parse(&user.run(&space, "check --verify-watch --format json").answer(1));
    let pid = user.pid();
    user.signal("STOP");
    let hung = status(2);
    kill("CONT", pid);
    assert_eq!([&first["summary"]["watched"], &second["summary"]["watched"]], ["everything", "memory"]);
    assert_eq!(asked["builds"][0]["from_memory"], 1, "{asked}");

    let mut cases: Vec<(String, Value)> = Vec::new();
    for document in [&missing, &unasked, &asked, &hung] {
        cases.push(("watch.json".into(), document.clone()));
    }
    assert_eq!(verified["summary"]["verified"], "same");
    for document in [&first, &second, &verified] {
        cases.push(("report.json".into(), document.clone()));
    }
    let n_good = cases.len();
    let mut damaged = |schema: &str, document: &Value, change: &dyn Fn(&mut Value)| {
        let mut document = document.clone();
        change(&mut document);
        cases.push((schema.into(), document));
    };
    for key in asked.as_object().expect("an object").keys() {
        damaged("watch.json", &asked, &|it| drop(it.as_object_mut().map(|it| it.remove(key))));
    }
    damaged("watch.json", &asked, &|it| it["more"] = json!(1));
    damaged("watch.json", &asked, &|it| it["waiting"] = json!(true));
    damaged("watch.json", &asked, &|it| it["builds"][0]["files"] = json!("4"));
    damaged("watch.json", &asked, &|it| it["watched"]["files"] = json!(-1));
    damaged("watch.json", &missing, &|it| it["pid"] = json!(7));
    damaged("report.json", &second, &|it| it["summary"]["watched"] = json!("else"));
    damaged("report.json", &verified, &|it| it["summary"]["verified"] = json!(true));
    for (at, (verdict, (schema, document))) in verdicts(&cases).iter().zip(&cases).enumerate() {
        assert_eq!(verdict.is_none(), at < n_good, "{schema}: {verdict:?}\n{document}");
    }
}
