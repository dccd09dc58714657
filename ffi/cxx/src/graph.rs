//! Graphs.

use crate::bridge::ffi::{self, Description, Failure, Targets, Text, Texts};
use crate::failure::{Outcome, attempt, call};
use crate::slices::{array, chars, filled, strings, text};
use crate::types::{File, Target};
use std::ptr::{null, null_mut};
use upcheck_capi::*;

/// A graph: `upcheck::Graph` holds one. NULL inside, where making it failed.
pub(crate) struct Graph(pub(crate) *mut upcheck_graph);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_graph_free(self.0) }
    }
}

const NO_FILE: File = File(UPCHECK_NONE);
const NO_TARGET: Target = Target(UPCHECK_NONE);

pub(crate) fn graph_new(directory: &[u8], failure: &mut Failure) -> Box<Graph> {
    let mut graph = Graph(null_mut());
    // SAFETY: a text and a place of our own.
    attempt(failure, (), || unsafe {
        call(|error| upcheck_graph_new(chars(directory), directory.len(), &raw mut graph.0, error))
    });
    Box::new(graph)
}

/// A list of files of one target.
fn list(files: &[File]) -> (*const u32, usize) {
    (files.as_ptr().cast(), files.len())
}

/// Names and values, one after the other.
fn pairs(texts: &[Text<'_>]) -> Outcome<Vec<upcheck_str>> {
    if texts.len().is_multiple_of(2) {
        Ok(strings(texts))
    } else {
        Err(Failure::invalid("a name has no value"))
    }
}

impl Graph {
    pub(crate) fn native(&self) -> *mut ffi::upcheck_graph {
        self.0.cast()
    }

    pub(crate) fn add_path(&mut self, path: &[u8], failure: &mut Failure) -> File {
        attempt(failure, NO_FILE, || {
            let mut file = UPCHECK_NONE;
            // SAFETY: a handle, a text and a place of our own.
            call(|error| unsafe {
                upcheck_graph_add_path(self.0, chars(path), path.len(), &raw mut file, error)
            })?;
            Ok(File(file))
        })
    }

    /// Adds paths in one of the three ways, each with an end. The file of the first one.
    ///
    /// # Safety
    /// Borrowed paths outlive the graph and do not change.
    unsafe fn add_many(&mut self, paths: &Texts<'_>, flags: u32, files: *mut u32) -> Outcome<File> {
        let n = paths.ends.len();
        let given = paths.for_c(n, "the paths")?;
        let mut first = UPCHECK_NONE;
        // SAFETY: a handle, texts whose ends were looked at, and places of our own.
        call(|error| unsafe {
            upcheck_graph_add_paths(self.0, given.bytes, given.ends, n, flags, &raw mut first, files, error)
        })?;
        Ok(File(first))
    }

    pub(crate) fn add_paths(&mut self, paths: Texts<'_>, files: &mut [File], failure: &mut Failure) {
        attempt(failure, (), || {
            if files.len() != paths.ends.len() {
                return Err(Failure::invalid("there is not one place for each path"));
            }
            // SAFETY: nothing is borrowed, and there is a place for each file.
            unsafe { self.add_many(&paths, 0, files.as_mut_ptr().cast()) }?;
            Ok(())
        });
    }

    pub(crate) fn add_distinct(&mut self, paths: Texts<'_>, failure: &mut Failure) -> File {
        // SAFETY: nothing is borrowed.
        attempt(failure, NO_FILE, || unsafe { self.add_many(&paths, UPCHECK_DISTINCT, null_mut()) })
    }

    /// # Safety
    /// The paths outlive the graph and do not change.
    pub(crate) unsafe fn borrow_distinct(&mut self, paths: Texts<'_>, failure: &mut Failure) -> File {
        // SAFETY: see above.
        attempt(failure, NO_FILE, || unsafe { self.add_many(&paths, UPCHECK_BORROW, null_mut()) })
    }

    pub(crate) fn add(&mut self, given: &Description<'_>, failure: &mut Failure) -> Target {
        attempt(failure, NO_TARGET, || {
            let (values, globs) = (pairs(given.values)?, strings(given.globs));
            let (outputs, n_outputs) = list(given.outputs);
            let (inputs, n_inputs) = list(given.inputs);
            let (implicit, n_implicit) = list(given.implicit);
            let (order_only, n_order_only) = list(given.order_only);
            let (validations, n_validations) = list(given.validations);
            let description = upcheck_description {
                struct_size: size_of::<upcheck_description>(),
                outputs,
                n_outputs,
                inputs,
                n_inputs,
                implicit,
                n_implicit,
                order_only,
                n_order_only,
                validations,
                n_validations,
                command: text(given.command),
                values: values.as_ptr(),
                n_values: values.len() / 2,
                globs: globs.as_ptr(),
                n_globs: globs.len(),
                depfile: text(given.depfile),
                directory: text(given.directory),
                name: text(given.name),
                flags: given.flags,
                policy: given.policy,
            };
            let mut target = UPCHECK_NONE;
            // SAFETY: a handle, a struct and a place of our own; it names slices.
            call(|error| unsafe {
                upcheck_graph_add_target(self.0, &raw const description, &raw mut target, error)
            })?;
            Ok(Target(target))
        })
    }

    pub(crate) fn add_targets(&mut self, given: &Targets<'_>, failure: &mut Failure) -> Target {
        attempt(failure, NO_TARGET, || {
            let n = given.n_targets;
            let one_each = |n_given: usize, what: &str| match n_given == 0 || n_given == n {
                true => Ok(()),
                false => Err(Failure::invalid(format!("there are {n_given} {what} for {n} targets"))),
            };
            one_each(given.flags.len(), "flags")?;
            one_each(given.policies.len(), "policies")?;
            let targets = upcheck_targets {
                struct_size: size_of::<upcheck_targets>(),
                n_targets: n,
                outputs: given.outputs.for_c(n, "outputs")?,
                inputs: given.inputs.for_c(n, "inputs")?,
                implicit: given.implicit.for_c(n, "implicit")?,
                order_only: given.order_only.for_c(n, "order_only")?,
                validations: given.validations.for_c(n, "validations")?,
                commands: given.commands.for_c(n, "commands")?,
                depfiles: given.depfiles.for_c(n, "depfiles")?,
                directories: given.directories.for_c(n, "directories")?,
                names: given.names.for_c(n, "names")?,
                flags: if given.flags.is_empty() { null() } else { given.flags.as_ptr() },
                policies: if given.policies.is_empty() { null() } else { given.policies.as_ptr() },
            };
            let mut first = UPCHECK_NONE;
            // SAFETY: a handle, a struct and a place of our own; the slices it names have the lengths it says.
            call(|error| unsafe {
                upcheck_graph_add_targets(self.0, &raw const targets, &raw mut first, error)
            })?;
            Ok(Target(first))
        })
    }

    pub(crate) fn set_policy(&mut self, policy: i32, failure: &mut Failure) {
        // SAFETY: a handle of our own.
        attempt(failure, (), || call(|error| unsafe { upcheck_graph_set_policy(self.0, policy, error) }));
    }

    pub(crate) fn set_values(&mut self, values: &[Text<'_>], failure: &mut Failure) {
        attempt(failure, (), || {
            let values = pairs(values)?;
            // SAFETY: a handle and texts of our own.
            call(|error| unsafe {
                upcheck_graph_set_values(self.0, values.as_ptr(), values.len() / 2, error)
            })
        });
    }

    pub(crate) fn load_ninja(
        &mut self,
        manifest: &[u8],
        version: u32,
        threads: u32,
        image_folder: &[u8],
        failure: &mut Failure,
    ) {
        let options = upcheck_ninja_options {
            struct_size: size_of::<upcheck_ninja_options>(),
            manifest: text(manifest),
            version,
            threads,
            image_folder: text(image_folder),
        };
        attempt(failure, (), || {
            // SAFETY: a handle and a struct of our own; it names slices.
            call(|error| unsafe { upcheck_graph_load_ninja(self.0, &raw const options, error) })
        });
    }

    pub(crate) fn load_json(&mut self, file: &[u8], failure: &mut Failure) {
        attempt(failure, (), || {
            // SAFETY: a handle and a text of our own.
            call(|error| unsafe { upcheck_graph_load_json(self.0, chars(file), file.len(), error) })
        });
    }

    pub(crate) fn load_json_text(&mut self, json: &[u8], name: &[u8], failure: &mut Failure) {
        attempt(failure, (), || {
            // SAFETY: a handle and texts of our own.
            call(|error| unsafe {
                upcheck_graph_load_json_text(self.0, chars(json), json.len(), chars(name), name.len(), error)
            })
        });
    }

    pub(crate) fn load_compile_commands(&mut self, file: &[u8], flags: u32, failure: &mut Failure) {
        attempt(failure, (), || {
            // SAFETY: a handle and a text of our own.
            call(|error| unsafe {
                upcheck_graph_load_compile_commands(self.0, chars(file), file.len(), flags, error)
            })
        });
    }

    pub(crate) fn n_files(&self) -> usize {
        // SAFETY: a handle of our own.
        unsafe { upcheck_graph_n_files(self.0) }
    }

    pub(crate) fn n_targets(&self) -> usize {
        // SAFETY: a handle of our own.
        unsafe { upcheck_graph_n_targets(self.0) }
    }

    pub(crate) fn path(&self, file: File) -> &[u8] {
        // SAFETY: a handle of our own; the text is there until it changes.
        unsafe {
            let path = upcheck_graph_path(self.0, file.0);
            array(path.ptr, path.len)
        }
    }

    pub(crate) fn name(&self, target: Target) -> &[u8] {
        // SAFETY: a handle of our own; the text is there until it changes.
        unsafe {
            let name = upcheck_graph_name(self.0, target.0);
            array(name.ptr, name.len)
        }
    }

    pub(crate) fn find(&mut self, path: &[u8]) -> File {
        // SAFETY: a handle and a text of our own.
        File(unsafe { upcheck_graph_find(self.0, chars(path), path.len()) })
    }

    pub(crate) fn producer(&self, file: File) -> Target {
        // SAFETY: a handle of our own.
        Target(unsafe { upcheck_graph_producer(self.0, file.0) })
    }

    pub(crate) fn outputs(&self, target: Target) -> &[File] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array is there until the graph changes.
        unsafe {
            let files = upcheck_graph_outputs(self.0, target.0, &raw mut n);
            array(files, n)
        }
    }

    pub(crate) fn inputs(&self, target: Target) -> &[File] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array is there until the graph changes.
        unsafe {
            let files = upcheck_graph_inputs(self.0, target.0, &raw mut n);
            array(files, n)
        }
    }

    pub(crate) fn command(&self, target: Target) -> Vec<u8> {
        // SAFETY: a handle and a buffer of our own.
        filled(|buffer, capacity| unsafe { upcheck_graph_command(self.0, target.0, buffer, capacity) })
    }
}
