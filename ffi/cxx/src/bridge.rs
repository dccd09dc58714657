//! What C++ sees of the library. `upcheck.hpp` makes classes of it.
//!
//! A function that can fail has a `failure` as its last parameter, which it fills; what it returns is of no use then.
//! Slices that are returned live as the headers say; nothing here is called once for each item of a result.

use crate::affected::{Affected, affected_by};
use crate::check::{Cancel, cancel_new, check, first_reason};
use crate::graph::{Graph, graph_new};
use crate::records::{Build, Records, build_begin, records_open, records_read};
use crate::report::Report;
use crate::snapshot::{Snapshot, collect};

#[cxx::bridge(namespace = "upcheck::bridge")]
pub(crate) mod ffi {
    /// What went wrong; `status` is 0 as long as nothing did.
    #[derive(Debug, Default)]
    struct Failure {
        status: i32,
        os_code: i32,
        message: String,
    }

    /// Some bytes.
    #[derive(Clone, Copy)]
    struct Text<'a> {
        bytes: &'a [u8],
    }

    /// Many texts in one piece of memory: text k ends at ends\[k\]. Without ends: all are empty.
    #[derive(Clone, Copy)]
    struct Texts<'a> {
        bytes: &'a [u8],
        ends: &'a [u64],
    }

    /// Many lists of files in one piece of memory: list k ends at ends\[k\]. Without ends: all are empty.
    #[derive(Clone, Copy)]
    struct Lists<'a> {
        files: &'a [File],
        ends: &'a [u64],
    }

    /// One target.
    struct Description<'a> {
        outputs: &'a [File],
        inputs: &'a [File],
        implicit: &'a [File],
        order_only: &'a [File],
        validations: &'a [File],
        command: &'a [u8],
        values: &'a [Text<'a>],
        globs: &'a [Text<'a>],
        depfile: &'a [u8],
        directory: &'a [u8],
        name: &'a [u8],
        flags: u32,
        policy: i32,
    }

    /// Many targets.
    struct Targets<'a> {
        n_targets: usize,
        outputs: Lists<'a>,
        inputs: Lists<'a>,
        implicit: Lists<'a>,
        order_only: Lists<'a>,
        validations: Lists<'a>,
        commands: Texts<'a>,
        depfiles: Texts<'a>,
        directories: Texts<'a>,
        names: Texts<'a>,
        flags: &'a [u32],
        policies: &'a [i32],
    }

    /// How to go about a check. `requests` are of no use where all is asked about.
    struct CheckOptions<'a> {
        flags: u32,
        threads: u32,
        is_all: bool,
        requests: &'a [File],
    }

    unsafe extern "C++" {
        include!("upcheck/types.hpp");

        #[namespace = "upcheck"]
        type File = crate::types::File;
        #[namespace = "upcheck"]
        type Target = crate::types::Target;
        #[namespace = "upcheck"]
        type Verdict = crate::types::Verdict;
        #[namespace = "upcheck"]
        type Finding = crate::types::Finding;
        #[namespace = "upcheck"]
        type Cause = crate::types::Cause;
        #[namespace = "upcheck"]
        type Doubt = crate::types::Doubt;
        #[namespace = "upcheck"]
        type Stat = crate::types::Stat;
        #[namespace = "upcheck"]
        type Summary = crate::types::Summary;

        // The handles of the C interface, for programs that use both.
        #[namespace = ""]
        type upcheck_graph;
        #[namespace = ""]
        type upcheck_records;
        #[namespace = ""]
        type upcheck_report;
        #[namespace = ""]
        type upcheck_cancel;
    }

    extern "Rust" {
        type Graph;
        fn graph_new(directory: &[u8], failure: &mut Failure) -> Box<Graph>;
        fn native(self: &Graph) -> *mut upcheck_graph;
        fn add_path(self: &mut Graph, path: &[u8], failure: &mut Failure) -> File;
        fn add_paths(self: &mut Graph, paths: Texts, files: &mut [File], failure: &mut Failure);
        fn add_distinct(self: &mut Graph, paths: Texts, failure: &mut Failure) -> File;
        /// # Safety
        /// The paths outlive the graph and do not change.
        unsafe fn borrow_distinct(self: &mut Graph, paths: Texts, failure: &mut Failure) -> File;
        fn add(self: &mut Graph, description: &Description, failure: &mut Failure) -> Target;
        fn add_targets(self: &mut Graph, targets: &Targets, failure: &mut Failure) -> Target;
        fn set_policy(self: &mut Graph, policy: i32, failure: &mut Failure);
        fn set_values(self: &mut Graph, values: &[Text], failure: &mut Failure);
        fn load_ninja(
            self: &mut Graph,
            manifest: &[u8],
            version: u32,
            threads: u32,
            image_folder: &[u8],
            failure: &mut Failure,
        );
        fn load_json(self: &mut Graph, file: &[u8], failure: &mut Failure);
        fn load_json_text(self: &mut Graph, text: &[u8], name: &[u8], failure: &mut Failure);
        fn load_compile_commands(self: &mut Graph, file: &[u8], flags: u32, failure: &mut Failure);
        fn n_files(self: &Graph) -> usize;
        fn n_targets(self: &Graph) -> usize;
        fn path(self: &Graph, file: File) -> &[u8];
        fn name(self: &Graph, target: Target) -> &[u8];
        fn find(self: &mut Graph, path: &[u8]) -> File;
        fn producer(self: &Graph, file: File) -> Target;
        fn outputs(self: &Graph, target: Target) -> &[File];
        fn inputs(self: &Graph, target: Target) -> &[File];
        fn command(self: &Graph, target: Target) -> Vec<u8>;

        type Records;
        fn records_open(folder: &[u8], failure: &mut Failure) -> Box<Records>;
        fn records_read(folder: &[u8], failure: &mut Failure) -> Box<Records>;
        fn is_there(self: &Records) -> bool;
        fn native(self: &Records) -> *mut upcheck_records;
        fn refresh(self: &mut Records, failure: &mut Failure);
        fn forget(self: &mut Records, names: &[Text], failure: &mut Failure);
        fn compact(self: &mut Records, failure: &mut Failure);

        type Build;
        fn build_begin(
            graph: &mut Graph,
            records: &mut Records,
            targets: &[Target],
            failure: &mut Failure,
        ) -> Box<Build>;
        fn commit(
            self: &mut Build,
            graph: &mut Graph,
            records: &mut Records,
            flags: u32,
            failure: &mut Failure,
        );
        fn doubts(self: &Build) -> &[Doubt];

        type Cancel;
        fn cancel_new() -> Box<Cancel>;
        fn native(self: &Cancel) -> *mut upcheck_cancel;
        fn set(self: &Cancel);

        /// # Safety
        /// Pointers are null or lead to what they say.
        unsafe fn check(
            graph: &mut Graph,
            records: *const Records,
            options: &CheckOptions,
            cancel: *const Cancel,
            failure: &mut Failure,
        ) -> Box<Report>;
        fn first_reason(outputs: &[Text], inputs: &[Text], failure: &mut Failure) -> i32;

        type Report;
        fn native(self: &Report) -> *mut upcheck_report;
        fn summary(self: &Report) -> Summary;
        fn verdicts(self: &Report) -> &[Verdict];
        fn stale(self: &Report) -> &[Target];
        fn findings(self: &Report) -> &[Finding];
        fn causes(self: &Report) -> &[Cause];
        fn explain(self: &Report, graph: &Graph, finding: usize) -> Vec<u8>;
        fn explain_cause(self: &Report, graph: &Graph, cause: usize) -> Vec<u8>;

        type Affected;
        /// # Safety
        /// The pointer is null or leads to records.
        unsafe fn affected_by(
            graph: &mut Graph,
            records: *const Records,
            files: &[Text],
            failure: &mut Failure,
        ) -> Box<Affected>;
        fn targets(self: &Affected) -> &[Target];
        fn unknown(self: &Affected) -> &[usize];

        type Snapshot;
        fn collect(directory: &[u8], paths: Texts, threads: u32, failure: &mut Failure) -> Box<Snapshot>;
        fn stats(self: &Snapshot) -> &[Stat];
        /// Null for a path that was not asked for.
        fn find(self: &Snapshot, path: &[u8]) -> *const Stat;
    }
}
