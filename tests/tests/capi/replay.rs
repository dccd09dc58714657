//! A description as a list of calls, which can be made through C and through Rust.

use std::collections::BTreeMap;
use upcheck::project::{DescribeError, Description};
use upcheck::{FileId, Policy, Project, TargetId};
use upcheck_capi::*;
use upcheck_tests::through_c::{CGraph, Failed, call, text};

/// A target, with paths for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) outputs: Vec<Vec<u8>>,
    pub(crate) inputs: Vec<Vec<u8>>,
    pub(crate) implicit: Vec<Vec<u8>>,
    pub(crate) order_only: Vec<Vec<u8>>,
    pub(crate) validations: Vec<Vec<u8>>,
    pub(crate) command: Vec<u8>,
    pub(crate) values: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) globs: Vec<String>,
    pub(crate) depfile: Vec<u8>,
    pub(crate) directory: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) phony: bool,
    pub(crate) policy: i32,
}

/// A call that describes.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Files(Vec<Vec<u8>>),
    Distinct(Vec<Vec<u8>>),
    Targets(Vec<Target>),
    Policy(i32),
    Values(Vec<(Vec<u8>, Vec<u8>)>),
    Json(Vec<u8>),
}

/// A policy by the number that the header gives it.
pub(crate) fn policy(number: i32) -> Option<Policy> {
    [
        None,
        Some(Policy::Mtime),
        Some(Policy::Digest),
        Some(Policy::MtimeAndDigest),
        Some(Policy::MtimeAndDigestInput),
        Some(Policy::MtimeOrDigest),
        Some(Policy::Newer),
    ][usize::try_from(number).expect("a policy")]
}

impl Call {
    /// The same call in Rust.
    pub(crate) fn replay(&self, project: &mut Project) -> Result<(), String> {
        let words = |error: DescribeError| error.to_string();
        match self {
            Self::Files(paths) => {
                paths.iter().try_for_each(|path| project.file(path).map(|_| ())).map_err(words)
            }
            Self::Distinct(paths) => {
                let (bytes, ends) = joined(paths);
                project.add_distinct(&bytes, &ends).map(|_| ()).map_err(words)
            }
            Self::Targets(targets) => {
                targets.iter().try_for_each(|target| target.add(project).map(|_| ())).map_err(words)
            }
            Self::Policy(number) => {
                project.set_policy(policy(*number));
                Ok(())
            }
            Self::Values(values) => {
                project.set_values(values.iter().cloned().collect::<BTreeMap<_, _>>());
                Ok(())
            }
            Self::Json(json) => {
                ::upcheck_graph::read_slice(json, "j", project).map(|_| ()).map_err(|error| error.to_string())
            }
        }
    }
}

impl Target {
    /// Adds it in Rust.
    pub(crate) fn add(&self, project: &mut Project) -> Result<TargetId, DescribeError> {
        let mut files = |paths: &[Vec<u8>]| -> Vec<FileId> {
            paths.iter().map(|path| project.file(path).expect("a path that was taken before")).collect()
        };
        let lists = [&self.outputs, &self.inputs, &self.implicit, &self.order_only, &self.validations]
            .map(|paths| files(paths));
        let values: Vec<(&[u8], &[u8])> =
            self.values.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let globs: Vec<&str> = self.globs.iter().map(String::as_str).collect();
        project.add(&Description {
            outputs: &lists[0],
            explicit: &lists[1],
            implicit: &lists[2],
            order_only: &lists[3],
            validations: &lists[4],
            command: &self.command,
            values: &values,
            globs: &globs,
            depfile: &self.depfile,
            directory: &self.directory,
            name: &self.name,
            phony: self.phony,
            policy: policy(self.policy),
            ..Description::default()
        })
    }

    /// Adds it through C, whatever numbers its files have. What C says, and the number of the target.
    pub(crate) fn add_through_c(
        &self,
        graph: &CGraph,
        numbers: &[Vec<u32>; 5],
        flags: u32,
    ) -> (Result<(), Failed>, u32) {
        let pairs: Vec<upcheck_str> =
            self.values.iter().flat_map(|(name, value)| [text(name), text(value)]).collect();
        let globs: Vec<upcheck_str> = self.globs.iter().map(|glob| text(glob.as_bytes())).collect();
        let [outputs, inputs, implicit, order_only, validations] = numbers;
        let description = upcheck_description {
            struct_size: size_of::<upcheck_description>(),
            outputs: outputs.as_ptr(),
            n_outputs: outputs.len(),
            inputs: inputs.as_ptr(),
            n_inputs: inputs.len(),
            implicit: implicit.as_ptr(),
            n_implicit: implicit.len(),
            order_only: order_only.as_ptr(),
            n_order_only: order_only.len(),
            validations: validations.as_ptr(),
            n_validations: validations.len(),
            command: text(&self.command),
            values: pairs.as_ptr(),
            n_values: self.values.len(),
            globs: globs.as_ptr(),
            n_globs: globs.len(),
            depfile: text(&self.depfile),
            directory: text(&self.directory),
            name: text(&self.name),
            flags,
            policy: self.policy,
        };
        let mut target = 4711;
        // SAFETY: the graph is there, and what the struct leads to.
        let said = call(|error| unsafe {
            upcheck_graph_add_target(graph.0, &raw const description, &raw mut target, error)
        });
        (said, target)
    }
}

/// Texts behind each other, and where each ends.
pub(crate) fn joined(texts: &[Vec<u8>]) -> (Vec<u8>, Vec<u64>) {
    let mut end = 0;
    let ends = texts.iter().map(|text| {
        end += u64::try_from(text.len()).expect("short");
        end
    });
    let ends = ends.collect();
    (texts.concat(), ends)
}

/// Lists of numbers behind each other, and where each ends.
pub(crate) fn joined_lists(lists: &[Vec<u32>]) -> (Vec<u32>, Vec<u64>) {
    let mut end = 0;
    let ends = lists.iter().map(|list| {
        end += u64::try_from(list.len()).expect("short");
        end
    });
    let ends = ends.collect();
    (lists.concat(), ends)
}

/// Adds many targets through C in one call. What C says, and the number of the first one.
pub(crate) fn add_many_through_c(
    graph: &CGraph,
    targets: &[Target],
    numbers: &[[Vec<u32>; 5]],
    flags: &[u32],
) -> (Result<(), Failed>, u32) {
    let lists: [(Vec<u32>, Vec<u64>); 5] = std::array::from_fn(|role| {
        joined_lists(&numbers.iter().map(|lists| lists[role].clone()).collect::<Vec<_>>())
    });
    let texts: [(Vec<u8>, Vec<u64>); 4] = std::array::from_fn(|which| {
        let of = |target: &Target| {
            [&target.command, &target.depfile, &target.directory, &target.name][which].clone()
        };
        joined(&targets.iter().map(of).collect::<Vec<_>>())
    });
    let policies: Vec<i32> = targets.iter().map(|target| target.policy).collect();
    let list = |role: usize| upcheck_lists { files: lists[role].0.as_ptr(), ends: lists[role].1.as_ptr() };
    // What all have empty may be left out altogether.
    let row = |which: usize| match texts[which].0.is_empty() {
        true => upcheck_texts { bytes: std::ptr::null(), ends: std::ptr::null() },
        false => upcheck_texts { bytes: texts[which].0.as_ptr().cast(), ends: texts[which].1.as_ptr() },
    };
    let many = upcheck_targets {
        struct_size: size_of::<upcheck_targets>(),
        n_targets: targets.len(),
        outputs: list(0),
        inputs: list(1),
        implicit: list(2),
        order_only: list(3),
        validations: list(4),
        commands: row(0),
        depfiles: row(1),
        directories: row(2),
        names: row(3),
        flags: if flags.iter().all(|flags| *flags == 0) { std::ptr::null() } else { flags.as_ptr() },
        policies: if policies.iter().all(|it| *it == 0) { std::ptr::null() } else { policies.as_ptr() },
    };
    let mut first = 4711;
    // SAFETY: the graph is there, and what the struct leads to.
    let said =
        call(|error| unsafe { upcheck_graph_add_targets(graph.0, &raw const many, &raw mut first, error) });
    (said, first)
}
