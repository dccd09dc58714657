//! A bug in the library is a status, and whatever it left half done can only be freed.

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use upcheck_capi::*;
use upcheck_tests::space::Space;

/// Calls with a place for the error, and returns the status and the message.
fn said(call: impl FnOnce(*mut *mut upcheck_error) -> Status) -> (Status, String) {
    let mut error = null_mut();
    let status = call(&raw mut error);
    // SAFETY: NULL or the error that the call handed out, which nobody has freed.
    unsafe {
        let message = CStr::from_ptr(upcheck_error_message(error)).to_string_lossy().into_owned();
        assert_eq!(upcheck_error_status(error), status);
        upcheck_error_free(error);
        (status, message)
    }
}

struct Handles {
    graph: *mut upcheck_graph,
    records: *mut upcheck_records,
    build: *mut upcheck_build,
    report: *mut upcheck_report,
    target: u32,
}

impl Handles {
    fn new(space: &Space) -> Self {
        let mut all =
            Self { graph: null_mut(), records: null_mut(), build: null_mut(), report: null_mut(), target: 0 };
        let here = space.path().as_os_str().as_encoded_bytes();
        let store = space.path().join("store").into_os_string().into_encoded_bytes();
        let (mut out, mut error) = (0, null_mut());
        // SAFETY: all pointers lead to what they are said to lead to.
        unsafe {
            let error = &raw mut error;
            assert_eq!(
                upcheck_graph_new(here.as_ptr().cast(), here.len(), &raw mut all.graph, error),
                Status::Ok
            );
            assert_eq!(
                upcheck_graph_add_path(all.graph, c"out".as_ptr(), 3, &raw mut out, error),
                Status::Ok
            );
            let mut description: upcheck_description = std::mem::zeroed();
            description.struct_size = size_of::<upcheck_description>();
            (description.outputs, description.n_outputs) = (&raw const out, 1);
            let added =
                upcheck_graph_add_target(all.graph, &raw const description, &raw mut all.target, error);
            assert_eq!(added, Status::Ok);
            let opened =
                upcheck_records_open(store.as_ptr().cast(), store.len(), &raw mut all.records, error);
            assert_eq!(opened, Status::Ok);
            let begun =
                upcheck_begin(all.graph, all.records, &raw const all.target, 1, &raw mut all.build, error);
            assert_eq!(begun, Status::Ok);
            assert_eq!(upcheck_check(all.graph, all.records, null(), &raw mut all.report, error), Status::Ok);
        }
        all
    }

    fn free(self) {
        // SAFETY: none of them was freed.
        unsafe {
            upcheck_report_free(self.report);
            upcheck_build_free(self.build);
            upcheck_records_free(self.records);
            upcheck_graph_free(self.graph);
        }
    }
}

type Call = fn(&Handles, *mut *mut upcheck_error) -> Status;

/// Every call that takes a graph as non-const.
#[rustfmt::skip]
#[allow(clippy::undocumented_unsafe_blocks, reason = "for all: handles are there, and so is what pointers lead to")]
const WITH_GRAPH: &[(&str, Call)] = &[
    ("add_paths", |all, error| unsafe { upcheck_graph_add_paths(all.graph, c"a".as_ptr(), &1, 1, 0, null_mut(), null_mut(), error) }),
    ("add_path", |all, error| unsafe { upcheck_graph_add_path(all.graph, c"a".as_ptr(), 1, &mut 0, error) }),
    ("add_target", |all, error| unsafe { upcheck_graph_add_target(all.graph, &std::mem::zeroed(), null_mut(), error) }),
    ("add_targets", |all, error| unsafe { upcheck_graph_add_targets(all.graph, &std::mem::zeroed(), null_mut(), error) }),
    ("set_policy", |all, error| unsafe { upcheck_graph_set_policy(all.graph, 0, error) }),
    ("set_values", |all, error| unsafe { upcheck_graph_set_values(all.graph, null(), 0, error) }),
    ("load_ninja", |all, error| unsafe { upcheck_graph_load_ninja(all.graph, null(), error) }),
    ("load_json", |all, error| unsafe { upcheck_graph_load_json(all.graph, c"x".as_ptr(), 1, error) }),
    ("load_json_text", |all, error| unsafe { upcheck_graph_load_json_text(all.graph, c"x".as_ptr(), 1, c"x".as_ptr(), 1, error) }),
    ("load_compile_commands", |all, error| unsafe { upcheck_graph_load_compile_commands(all.graph, c"x".as_ptr(), 1, 0, error) }),
    ("check", |all, error| unsafe { upcheck_check(all.graph, null(), null(), &mut null_mut(), error) }),
    ("affected_by", |all, error| unsafe { upcheck_affected_by(all.graph, null(), null(), 0, &mut null_mut(), error) }),
    ("tell", |all, error| unsafe { upcheck_graph_tell(all.graph, &upcheck_changes { struct_size: size_of::<upcheck_changes>(), ..std::mem::zeroed() }, error) }),
    ("begin", |all, error| unsafe { upcheck_begin(all.graph, all.records, null(), 0, &mut null_mut(), error) }),
    ("commit", |all, error| unsafe { upcheck_commit(all.graph, all.records, all.build, 0, error) }),
];

/// Every call that takes records as non-const, and no graph.
#[rustfmt::skip]
#[allow(clippy::undocumented_unsafe_blocks, reason = "for all: handles are there, and so is what pointers lead to")]
const WITH_RECORDS: &[(&str, Call)] = &[
    ("refresh", |all, error| unsafe { upcheck_records_refresh(all.records, error) }),
    ("forget", |all, error| unsafe { upcheck_records_forget(all.records, null(), 0, error) }),
    ("compact", |all, error| unsafe { upcheck_records_compact(all.records, error) }),
];

/// Provokes a panic, whose message belongs to the test.
fn with_bug(call: Call, all: &Handles) {
    testing::panic_in_next_call();
    let (status, message) = said(|error| call(all, error));
    assert_eq!(status, Status::Internal);
    assert!(
        message.starts_with("a bug in upcheck: ") && message.contains("as the test wanted it"),
        "{message}"
    );
    assert!(!testing::take_back(), "no handle was taken");
}

#[test]
fn a_panic_is_a_status_and_the_graph_can_only_be_freed() {
    let space = Space::new();
    for (name, call) in WITH_GRAPH {
        let all = Handles::new(&space);
        with_bug(*call, &all);
        for (other, call) in WITH_GRAPH {
            let (status, message) = said(|error| call(&all, error));
            assert_eq!(status, Status::Internal, "{other} after {name}");
            assert!(message.contains("can only be freed"), "{message}");
        }
        // SAFETY: the handles are there.
        unsafe {
            assert_eq!(upcheck_graph_n_files(all.graph), 0, "after {name}");
            assert_eq!(upcheck_graph_n_targets(all.graph), 0);
            assert_eq!(upcheck_graph_path(all.graph, 0).len, 0);
            assert_eq!(upcheck_graph_find(all.graph, c"out".as_ptr(), 3), UPCHECK_NONE);
            assert_eq!(upcheck_report_explain(all.report, all.graph, 0, null_mut(), 0), 0);
            // What the call did not take as non-const is as good as before.
            assert_eq!(upcheck_report_is_fresh(all.report), 0);
            let mut n = 0;
            upcheck_report_findings(all.report, &raw mut n, null_mut());
            assert!(n > 0);
            assert_eq!(upcheck_records_refresh(all.records, null_mut()), Status::Ok, "after {name}");
        }
        all.free();
    }
}

#[test]
fn a_panic_with_records_leaves_the_graph_as_good_as_before() {
    let space = Space::new();
    for (name, call) in WITH_RECORDS {
        let all = Handles::new(&space);
        with_bug(*call, &all);
        for (other, call) in WITH_RECORDS {
            let (status, _) = said(|error| call(&all, error));
            assert_eq!(status, Status::Internal, "{other} after {name}");
        }
        let mut report = null_mut();
        // SAFETY: the handles are there.
        unsafe {
            let (status, message) =
                said(|error| upcheck_check(all.graph, all.records, null(), &raw mut report, error));
            assert!(status == Status::Internal && message.contains("the records"), "{message}");
            assert!(report.is_null());
            assert_eq!(upcheck_check(all.graph, null(), null(), &raw mut report, null_mut()), Status::Ok);
            upcheck_report_free(report);
            let (status, _) = said(|error| upcheck_commit(all.graph, all.records, all.build, 0, error));
            assert_eq!(status, Status::Internal);
            assert_eq!(upcheck_graph_n_files(all.graph), 1);
        }
        all.free();
    }
}

#[test]
fn a_panic_where_nothing_can_fail_gives_the_answer_for_nothing() {
    let space = Space::new();
    let all = Handles::new(&space);
    testing::panic_in_next_call();
    // SAFETY: the handles are there.
    unsafe {
        assert_eq!(upcheck_graph_find(all.graph, c"out".as_ptr(), 3), UPCHECK_NONE);
        assert_eq!(upcheck_graph_n_files(all.graph), 0);
    }
    all.free();
}
