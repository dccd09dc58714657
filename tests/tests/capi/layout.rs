//! Structs and numbers are the same in C and in Rust.

use crate::c::{gcc, succeeded};
use crate::declared::header;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::fs;
use std::mem::offset_of;
use std::process::Command;
use tempfile::TempDir;
use upcheck_capi::*;
use upcheck_tests::tools::c_include;

/// What a program prints for each struct: its size and alignment, and offset and size of each member.
type Layouts = BTreeMap<String, (usize, usize, Vec<(String, usize, usize)>)>;

macro_rules! layouts {
    ($($struct:ident { $($member:ident),+ })+) => {{
        fn size<T, M>(_: impl Fn(&T) -> M) -> usize {
            size_of::<M>()
        }
        let mut layouts = Layouts::new();
        $(
            let members = vec![
                $((stringify!($member).to_owned(), offset_of!($struct, $member), size(|it: &$struct| it.$member))),+
            ];
            layouts.insert(stringify!($struct).to_owned(), (size_of::<$struct>(), align_of::<$struct>(), members));
        )+
        layouts
    }};
}

fn rust() -> Layouts {
    layouts! {
        upcheck_str { ptr, len }
        upcheck_texts { bytes, ends }
        upcheck_lists { files, ends }
        upcheck_description {
            struct_size, outputs, n_outputs, inputs, n_inputs, implicit, n_implicit, order_only, n_order_only, validations,
            n_validations, command, values, n_values, globs, n_globs, depfile, directory, name, flags, policy
        }
        upcheck_targets {
            struct_size, n_targets, outputs, inputs, implicit, order_only, validations, commands, depfiles, directories,
            names, flags, policies
        }
        upcheck_ninja_options { struct_size, manifest, version, threads, image_folder }
        upcheck_check_options { struct_size, flags, threads, requests, n_requests, cancel }
        upcheck_summary {
            struct_size, n_targets, n_stale, n_pending, n_root_causes, n_files, n_directories, n_contents, began, ended
        }
        upcheck_changes { struct_size, since, now, paths, n_paths, flags, spot_checks, young }
        upcheck_told {
            struct_size, n_asked, n_remembered, n_spot_checks, n_directories, n_wrong, basis, believed
        }
        upcheck_question { struct_size, directory, manifest, targets, n_targets, version, flags }
        upcheck_finding { target, reason, file, against, seen, expected, upstream, reserved }
        upcheck_stale { target, verdict, first_finding, n_findings, waits }
        upcheck_cause { file, reason, n_targets }
        upcheck_doubt { target, file }
        upcheck_stat { state, os_code, mtime, ctime, size, inode, device }
    }
}

/// Has a C program print lines, and returns them.
fn printed(body: &str) -> Vec<Vec<String>> {
    let folder = TempDir::new().expect("a folder");
    let (source, program) = (folder.path().join("print.c"), folder.path().join("print"));
    let text = format!("#include <stdio.h>\n#include <upcheck.h>\nint main(void) {{\n{body}return 0;\n}}\n");
    fs::write(&source, text).expect("a source");
    let mut gcc = gcc();
    succeeded(gcc.arg("-std=c11").arg("-I").arg(c_include()).arg(&source).arg("-o").arg(&program));
    let lines = succeeded(&mut Command::new(program));
    lines.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn structs_have_the_same_sizes_alignments_and_offsets() {
    let mut body = String::new();
    for (name, members) in header().structs {
        let _ = writeln!(body, "printf(\"{name} - %zu %zu\\n\", sizeof({name}), _Alignof({name}));");
        for member in members {
            let _ = writeln!(
                body,
                "printf(\"{name} {member} %zu %zu\\n\", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));"
            );
        }
    }
    let mut c = Layouts::new();
    for line in printed(&body) {
        let number = |at: usize| line[at].parse::<usize>().expect("a number");
        let layout = c.entry(line[0].clone()).or_default();
        match &*line[1] {
            "-" => (layout.0, layout.1) = (number(2), number(3)),
            member => layout.2.push((member.to_owned(), number(2), number(3))),
        }
    }
    assert_eq!(c, rust());
    // Sized structs begin with their size, and no gap is behind their last member, or in between.
    for (name, (size, _, members)) in c {
        let mut end = 0;
        for (member, offset, member_size) in members {
            assert_eq!(offset, end, "a gap before {member} of {name}");
            end = offset + member_size;
        }
        assert_eq!(end, size, "a gap at the end of {name}");
    }
}

fn text(text: *const c_char) -> String {
    // SAFETY: the library's functions that return such a pointer return static texts.
    unsafe { CStr::from_ptr(text) }.to_str().expect("ASCII").to_owned()
}

#[test]
fn enumerators_and_macros_have_the_values_that_rust_has() {
    let header = header();
    let mut body = String::new();
    for name in header.enumerators.iter().chain(&header.macros) {
        let _ = writeln!(body, "printf(\"{name} %lld\\n\", (long long)({name}));");
    }
    let mut values: BTreeMap<String, i64> = printed(&body)
        .into_iter()
        .map(|line| (line[0].clone(), line[1].parse().expect("a number")))
        .collect();
    let mut take = |name: &str| values.remove(name).unwrap_or_else(|| panic!("{name} is not in the header"));

    let version = ["_MAJOR", "_MINOR", "_PATCH"].map(|part| take(&format!("UPCHECK_VERSION{part}")));
    assert_eq!(take("UPCHECK_VERSION"), (version[0] << 24) | (version[1] << 12) | version[2]);
    for (name, value) in [
        ("UPCHECK_NONE", UPCHECK_NONE),
        ("UPCHECK_DISTINCT", UPCHECK_DISTINCT),
        ("UPCHECK_BORROW", UPCHECK_BORROW),
        ("UPCHECK_PHONY", UPCHECK_PHONY),
        ("UPCHECK_HEADERS_UNKNOWN_IS_FINE", UPCHECK_HEADERS_UNKNOWN_IS_FINE),
        ("UPCHECK_BY_TIMES", UPCHECK_BY_TIMES),
        ("UPCHECK_WAIT", UPCHECK_WAIT),
        ("UPCHECK_MADE_IN_ORDER", UPCHECK_MADE_IN_ORDER),
        ("UPCHECK_EVERYTHING", UPCHECK_EVERYTHING),
    ] {
        assert_eq!(take(name), i64::from(value), "{name}");
    }
    for (name, status) in [
        ("UPCHECK_OK", Status::Ok),
        ("UPCHECK_E_INVALID", Status::Invalid),
        ("UPCHECK_E_IO", Status::Io),
        ("UPCHECK_E_FORMAT", Status::Format),
        ("UPCHECK_E_GRAPH", Status::Graph),
        ("UPCHECK_E_CANCELLED", Status::Cancelled),
        ("UPCHECK_E_LIMIT", Status::Limit),
        ("UPCHECK_E_INTERNAL", Status::Internal),
    ] {
        let number = status as i32;
        assert_eq!(take(name), i64::from(number), "{name}");
        let words = name.trim_start_matches("UPCHECK_").trim_start_matches("E_").to_lowercase();
        assert_eq!(text(upcheck_status_name(number)), words);
    }
    for number in [1, -8, i32::MIN, i32::MAX] {
        assert_eq!(text(upcheck_status_name(number)), "");
    }
    // Each reason's name is its enumerator's, and they are numbered without a gap.
    let reasons: Vec<String> = header
        .enumerators
        .iter()
        .skip_while(|name| *name != "UPCHECK_FRESH")
        .take_while(|name| !name.starts_with("UPCHECK_FROM_"))
        .cloned()
        .collect();
    for (number, name) in (0i32..).zip(&reasons) {
        assert_eq!(take(name), i64::from(number), "{name}");
        let words =
            name.trim_start_matches("UPCHECK_").trim_end_matches("_REASON").to_lowercase().replace('_', "-");
        assert_eq!(text(upcheck_reason_name(number)), words);
    }
    let past = i32::try_from(reasons.len()).expect("few");
    for number in [past, -1, i32::MIN, i32::MAX] {
        assert_eq!(text(upcheck_reason_name(number)), "");
    }
    // What these mean to Rust is shown where answers are compared.
    let rest: BTreeMap<_, _> = values.iter().map(|(name, value)| (&**name, *value)).collect();
    let numbered = |prefix: &str, names: &[&str]| -> Vec<(String, i64)> {
        (0..).zip(names).map(|(number, name)| (format!("UPCHECK_{prefix}_{name}"), number)).collect()
    };
    let policies = [
        "DEFAULT",
        "MTIME",
        "DIGEST",
        "MTIME_AND_DIGEST",
        "MTIME_AND_DIGEST_INPUT",
        "MTIME_OR_DIGEST",
        "NEWER",
    ];
    let bases = ["NOTHING", "TOLD", "FIRST", "EVERYTHING", "GAP", "SILENCE", "WRONG", "MOVED", "UNSUPPORTED"];
    let expected: Vec<_> = [
        numbered("POLICY", &policies),
        numbered("STAT", &["UNKNOWN", "MISSING", "PRESENT", "UNREADABLE"]),
        numbered("VERDICT", &["FRESH", "STALE", "PENDING", "UNASKED"]),
        numbered("FROM", &bases),
        numbered("ANSWER", &["NONE", "FRESH", "STALE"]),
    ]
    .concat();
    let expected: BTreeMap<_, _> = expected.iter().map(|(name, value)| (&**name, *value)).collect();
    assert_eq!(rest, expected);
}
