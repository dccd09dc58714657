//! What changes nothing makes nothing stale: touching, copying, switching branches and back.

use crate::{CAT, fresh, made, run, sources, stale};
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;

const TARGET: &str = "-i src/*.ts -o out";

fn sh(space: &Space, script: &str) {
    let output =
        Command::new("sh").args(["-c", script]).current_dir(space.path()).output().expect("sh starts");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn times_alone_change_nothing() {
    let space = sources();
    run(&space, TARGET, CAT).well();
    for script in [
        "touch src/a.ts",
        "touch -d 1999-12-31 src/*.ts",
        "touch -d 2099-12-31 src/*.ts",
        "cp src/a.ts x && mv x src/a.ts",
        "cp -p src/a.ts x && cat x > src/a.ts",
        "mv src src2 && cp -r src2 src",
        "chmod 600 src/a.ts",
        "ln src/a.ts hard && rm hard",
    ] {
        sh(&space, script);
        fresh(&space, TARGET);
    }
}

#[test]
fn any_other_content_does() {
    for script in [
        "echo more >> src/a.ts",
        "echo A > src/a.ts",
        "touch -r src/a.ts t && echo A > src/a.ts && touch -r t src/a.ts",
        "touch -r src/a.ts t && echo A > x && touch -r t x && mv x src/a.ts",
        "echo A > old && touch -d 1999-12-31 old && cp -p old src/a.ts",
        "echo A > x && ln -sf ../x src/a.ts",
    ] {
        let space = sources();
        run(&space, TARGET, CAT).well();
        sh(&space, script);
        assert_eq!(stale(&space, TARGET), "out: input-changed src/a.ts", "{script}");
        sh(&space, "rm -f src/a.ts && echo a > src/a.ts");
        fresh(&space, TARGET);
    }
}

#[test]
fn stashing_and_switching_branches_and_back_change_nothing() {
    if Command::new("git").arg("--version").output().is_err() {
        return not_tested("stashes and branches; this needs git");
    }
    let space = made();
    sh(
        &space,
        "printf '*.o\\n*.d\\napp\\ngen.h\\n.upcheck\\n' > .gitignore && git init -q . && git config user.email a@b \
         && git config user.name a && git add . && git commit -q -m one",
    );
    fresh(&space, "--from graph");
    // What was built is what is in the work tree, which is stashed and comes back.
    sh(&space, "echo 'int edited;' > a.c && echo '#define EDITED' > deep.h");
    run(&space, "--from graph", crate::MAKE).well();
    fresh(&space, "--from graph");
    sh(&space, "git stash -q");
    assert!(stale(&space, "--from graph").starts_with("a.o: input-changed a.c, input-changed deep.h; b.o: "));
    sh(&space, "git stash pop -q");
    fresh(&space, "--from graph");
    sh(
        &space,
        "git commit -q -a -m two && git checkout -q -b other HEAD^ && git rm -q b.c && echo c > res/c \
         && git add . && git commit -q -m three",
    );
    assert!(stale(&space, "--from graph").contains("b.o: input-missing b.c"));
    sh(&space, "git checkout -q -");
    fresh(&space, "--from graph");
    sh(&space, "git checkout -q other && git checkout -q - && touch a.c b.c");
    fresh(&space, "--from graph");
    // Even where everything is checked out anew.
    sh(
        &space,
        "git rm -r -q --cached . && rm -r a.c b.c deep.h gen.in res graph.json && git reset -q --hard",
    );
    fresh(&space, "--from graph");
}
