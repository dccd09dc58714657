//! What the manifest says, and how.

use crate::{after_build, manifest, same_error, same_errors, space, unbuilt, versions};
use upcheck_tests::answer::{Question, build};

#[test]
fn variables_are_found_where_ninja_finds_them() {
    for text in [
        // Rule variables see the final values of globals, paths and bindings those of their place.
        "v = 1\nrule r\n  command = echo $v $w > $out\nbuild out$v: r\n  w = $v\nv = 2\n",
        // A target with bindings of its own does not see file-level variables before the rule's.
        "command = echo file > $out\nrule r\n  command = echo rule > $out\nbuild a: r\nbuild b: r\n  x = 1\n",
        "description = d\nrestat = 1\ngenerator = 1\nrule r\n  command = echo $restat > $out\nbuild a: r\nbuild b: r\n  x = 1\n",
        // Bindings see the enclosing scope, not each other.
        "x = 0\nrule r\n  command = echo $x $y > $out\nbuild a: r\n  x = 1\n  y = $x\n",
        "rule r\n  command = echo $in- $in_newline ${in}x $out-y > $out\nin- = dash\nout-y = dash2\nbuild a: r in1 in2 | imp || oo\n",
        "rule r\n  command = echo '$a.b' ${a.b} $$ $: a$ b > $out\na = A\na.b = AB\nbuild out: r\n",
        "rule r\n  command = echo $\n    continued $\n   twice > $out\nbuild out: $\n  r $\n  in1\n",
        "rule r\n  command = echo $rspfile_content $rspfile > $out\nrspfile_content = x\nbuild a: r\nbuild b: r\n  y = 1\n",
        "x = a:b|c d\nrule r\n  command = echo '$x' > $out\nbuild out: r\n",
        "rule r\n  command = echo $undefined ${un.defined}> $out\nbuild out: r\n",
        "rule r\n  command = echo $description > $out\n  description = D $in\nbuild out: r in1\n",
        "rule r\n  command = echo $x > $out\n\n  # comment\nx = 1\n# comment\nbuild out: r\n    # comment\n  x = 2\n",
        "v = 1\nbuild a$v b${v}c: r$\n$\n\nrule r\n  command = true\n",
    ] {
        let files = [("build.ninja", text), ("in1", ""), ("in2", ""), ("imp", ""), ("oo", "")];
        unbuilt(&files);
    }
}

#[test]
fn included_files_share_a_scope_and_subninjas_have_their_own() {
    let files = [
        (
            "build.ninja",
            "v = top\nrule r\n  command = echo $v $w > $out\ninclude inc.ninja\nbuild a: r\nsubninja sub.ninja\n\
             build b: r\nw = late\nv = final\n",
        ),
        ("inc.ninja", "v = inc\nw = inc\nbuild i: r\n"),
        (
            "sub.ninja",
            "v = sub\nbuild s: r\nrule r\n  command = echo own $v $w > $out\nbuild s2: r\n  w = mine\n\
             rule phony\n  command = echo not phony > $out\nbuild p: phony\nv = sublate\n",
        ),
    ];
    unbuilt(&files);
    after_build(&files, |_| ());
}

#[test]
fn paths_are_canonical_and_quoted_for_the_shell() {
    let text = "rule r\n  command = touch $out; true $in\nbuild ./a//b/../out: r x/../in1 dir/./f\n\
                build with$ space: r in1 it's\nbuild ..hidden: r in1\nbuild UP+-._/x: r in1\n";
    let mut files = vec![("build.ninja", text), ("in1", ""), ("dir/f", ""), ("it's", "")];
    let with_colon = format!("{text}build q$$: r a$:b\n");
    // Not a name on Windows.
    if cfg!(unix) {
        files[0].1 = &with_colon;
        files.push(("a:b", ""));
    }
    unbuilt(&files);
    after_build(&files, |_| ());
}

#[test]
fn syntax_errors_are_errors() {
    for text in [
        "build",
        "build out",
        "build out:",
        "build out: nothing",
        "build out: nothing\n",
        "build : cat in\n",
        "rule\n",
        "rule r\n",
        "rule r\n  command\n",
        "rule r\n  command = x\n  other = y\n",
        "rule r\n  command = x\n  rspfile = y\n",
        "rule r\n  command = x\nrule r\n  command = y\n",
        "rule r\n  command = x\nbuild o: r\nbuild o: r\n",
        "rule r\n  command = x\nbuild o o: r\n",
        "rule r\n  command = x\nbuild o | o: r\n",
        "rule r\n  command = x\nbuild $empty: r\n",
        "rule r\n  command = x\nbuild o: r $empty\n",
        "rule r\n  command = x\n  pool = none\nbuild o: r\n",
        "rule r\n  command = x\n  dyndep = dd\nbuild o: r\n",
        "pool p\n",
        "pool p\n  depth = -1\n",
        "pool p\n  depth = 1\npool p\n  depth = 1\n",
        "pool console\n  depth = 1\n",
        "default nothing\n",
        "default\n",
        "default $empty\n",
        "x = $\n",
        "x = $",
        "x = ${\n",
        "x = ${a b}\n",
        "x = $%\n",
        "x 1\n",
        "x = 1",
        "= 1\n",
        "\tx = 1\n",
        "rule r\n\tcommand = x\n",
        "  x = 1\n",
        "include gone.ninja\n",
        "subninja gone.ninja\n",
        "include\n",
        "# no end",
        "|| a\n",
        "rule r\n  command = $command\nbuild o: r\n",
        "rule r\n  command = $depfile\n  depfile = $description\n  description = $depfile\nbuild o: r\n",
    ] {
        // Windows has other words for what is wrong with an empty path, and ours come from another function of it.
        if cfg!(windows) && text == "include\n" {
            continue;
        }
        same_errors(&[("build.ninja", text)]);
    }
}

#[test]
fn a_rule_variable_used_twice_is_a_cycle_for_1_11_only() {
    let text = "rule r\n  command = echo $description $description > $out\n  description = d\nbuild o: r\n";
    unbuilt(&[("build.ninja", text)]);
}

#[test]
fn odd_but_legal_manifests_are_accepted() {
    for text in [
        "",
        "\n\n",
        "# only a comment\n",
        "x = 1\n",
        "rule r\r\n  command = touch $out\r\nbuild out: r\r\n",
        "rule r\n  command = touch $out\nbuild out: r\n\0 build nonsense\n",
        "ninja_required_version = 1.5\nrule r\n  command = touch $out\nbuild out: r\n",
        "rule r\n  command = touch $out\nbuild out: r\n   \nbuild out2: r\n  \n",
        "pool p\n  depth = 3x\nrule r\n  command = touch $out\n  pool = p\nbuild out: r\n  pool = console\n",
        "rule r\n  command = touch $out\nbuild out: r |\nbuild o2: r ||\nbuild o3: r | ||\nbuild o4: r |@\n",
        "rule build.x\n  command = touch $out\nbuild default: build.x\ndefault default\n",
    ] {
        unbuilt(&[("build.ninja", text)]);
    }
}

#[test]
fn a_newer_required_version_is_refused() {
    same_errors(&[("build.ninja", "ninja_required_version = 1.99\n$bad")]);
    same_errors(&[("build.ninja", "ninja_required_version = 2.0\n")]);
}

#[test]
fn cycles_are_errors_and_named_the_same_way() {
    for text in [
        "build a: cat a\n",
        "build a: cat b\nbuild b: cat a\ndefault a\n",
        "build x: cat a\nbuild a b: cat c\nbuild c: cat b\n",
        "build x: cat a\nbuild a: phony b\nbuild b: phony c\nbuild c: phony a\n",
        "build x: cat a\nbuild a: cat in || b\nbuild b: cat a\n",
        "build x: cat in |@ a\nbuild a: cat b\nbuild b: cat a\n",
    ] {
        same_errors(&[("build.ninja", &manifest(text)), ("in", "")]);
    }
    let depfile = "rule cc\n  command = echo 'a: b' > a.d; touch $out\n  depfile = a.d\nbuild a: cc\n\
                   rule t\n  command = touch $out\nbuild b: t a\n";
    for &version in versions() {
        let space = space(&[("build.ninja", depfile)]);
        build(&space, version, &Question::default());
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn a_graph_in_which_everything_is_used_has_no_roots() {
    same_errors(&[("build.ninja", &manifest("build a: cat b\nbuild b: cat a\n"))]);
}
