//! Describing targets: one at a time, or many in arrays.

use crate::border::{Sized1, Taken, call, check_flags, put, read_sized, slice};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{UPCHECK_NONE, ids, number, too_many, upcheck_graph};
use crate::texts::{Rows, strings, upcheck_lists, upcheck_str, upcheck_texts};
use upcheck::Policy;
use upcheck::project::Description;

/// `UPCHECK_PHONY`
pub const UPCHECK_PHONY: u32 = 1;

/// One target; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_description {
    pub struct_size: usize,
    pub outputs: *const u32,
    pub n_outputs: usize,
    pub inputs: *const u32,
    pub n_inputs: usize,
    pub implicit: *const u32,
    pub n_implicit: usize,
    pub order_only: *const u32,
    pub n_order_only: usize,
    pub validations: *const u32,
    pub n_validations: usize,
    pub command: upcheck_str,
    pub values: *const upcheck_str,
    pub n_values: usize,
    pub globs: *const upcheck_str,
    pub n_globs: usize,
    pub depfile: upcheck_str,
    pub directory: upcheck_str,
    pub name: upcheck_str,
    pub flags: u32,
    pub policy: i32,
}

// SAFETY: pointers and integers, the first of them its size; the last two fill the last eight bytes.
unsafe impl Sized1 for upcheck_description {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Many targets; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_targets {
    pub struct_size: usize,
    pub n_targets: usize,
    pub outputs: upcheck_lists,
    pub inputs: upcheck_lists,
    pub implicit: upcheck_lists,
    pub order_only: upcheck_lists,
    pub validations: upcheck_lists,
    pub commands: upcheck_texts,
    pub depfiles: upcheck_texts,
    pub directories: upcheck_texts,
    pub names: upcheck_texts,
    pub flags: *const u32,
    pub policies: *const i32,
}

// SAFETY: pointers and integers, all of the size of a pointer, the first of them its size.
unsafe impl Sized1 for upcheck_targets {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A policy by its number; `None` for the default one.
pub(crate) fn policy(number: i32) -> Result<Option<Policy>, Failure> {
    Ok(Some(match number {
        0 => return Ok(None),
        1 => Policy::Mtime,
        2 => Policy::Digest,
        3 => Policy::MtimeAndDigest,
        4 => Policy::MtimeAndDigestInput,
        5 => Policy::MtimeOrDigest,
        6 => Policy::Newer,
        _ => return Err(Failure::invalid(format!("there is no policy {number}"))),
    }))
}

/// A path, or several without anything between them, unless there is a NUL in it.
fn without_nul<'a>(path: &'a [u8], what: &str) -> Result<&'a [u8], Failure> {
    match path.contains(&0) {
        true => Err(Failure::invalid(format!("a {what} has a NUL in it"))),
        false => Ok(path),
    }
}

/// A name and a value.
pub(crate) type Pair<'a> = (&'a [u8], &'a [u8]);

/// Names and values.
///
/// # Safety
/// As [`strings`], for `2 * n` texts.
pub(crate) unsafe fn pairs<'a>(texts: *const upcheck_str, n: usize) -> Result<Vec<Pair<'a>>, Failure> {
    let all = n.checked_mul(2).ok_or_else(|| too_many("values"))?;
    // SAFETY: see above.
    let texts = unsafe { strings(texts, all, "values") }?;
    // Records keep things of their own under such names.
    if texts.iter().step_by(2).any(|name| name.contains(&0)) {
        return Err(Failure::invalid("the name of a value has a NUL in it"));
    }
    Ok(texts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_add_target(
    graph: *mut upcheck_graph,
    description: *const upcheck_description,
    target: *mut u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle, struct, arrays and place.
        unsafe {
            let mut graph = Taken::new(graph)?;
            let given =
                read_sized(description, "description")?.ok_or_else(|| Failure::null("description"))?;
            check_flags(given.flags, UPCHECK_PHONY)?;
            let files = |files, n, what| graph.check_files(ids(files, n, what)?);
            let globs: Vec<&[u8]> = strings(given.globs, given.n_globs, "globs")?;
            let globs = globs
                .into_iter()
                .map(|glob| std::str::from_utf8(glob).map_err(|_| Failure::invalid("a glob is not UTF-8")));
            let description = Description {
                outputs: files(given.outputs, given.n_outputs, "outputs")?,
                explicit: files(given.inputs, given.n_inputs, "inputs")?,
                implicit: files(given.implicit, given.n_implicit, "implicit")?,
                order_only: files(given.order_only, given.n_order_only, "order_only")?,
                validations: files(given.validations, given.n_validations, "validations")?,
                command: given.command.bytes("command")?,
                values: &pairs(given.values, given.n_values)?,
                globs: &globs.collect::<Result<Vec<_>, _>>()?,
                depfile: without_nul(given.depfile.bytes("depfile")?, "depfile")?,
                directory: without_nul(given.directory.bytes("directory")?, "directory")?,
                name: given.name.bytes("name")?,
                phony: given.flags & UPCHECK_PHONY != 0,
                restat: false,
                given: None,
                policy: policy(given.policy)?,
            };
            let added = graph.project()?.0.add(&description)?;
            put(target, number(Some(added.index())));
        }
        Ok(())
    })
}

/// Many targets, as the caller has them.
struct Many<'a> {
    n: usize,
    outputs: Rows<'a, u32>,
    inputs: Rows<'a, u32>,
    implicit: Rows<'a, u32>,
    order_only: Rows<'a, u32>,
    validations: Rows<'a, u32>,
    commands: Rows<'a, u8>,
    depfiles: Rows<'a, u8>,
    directories: Rows<'a, u8>,
    names: Rows<'a, u8>,
    flags: &'a [u32],
    policies: &'a [i32],
}

impl Many<'_> {
    /// # Safety
    /// See `upcheck.h`.
    unsafe fn new(given: &upcheck_targets) -> Result<Self, Failure> {
        let n = given.n_targets;
        let n_if = |is_null: bool| if is_null { 0 } else { n };
        // SAFETY: the caller's arrays.
        unsafe {
            Ok(Self {
                n,
                outputs: given.outputs.rows(n, "outputs")?,
                inputs: given.inputs.rows(n, "inputs")?,
                implicit: given.implicit.rows(n, "implicit")?,
                order_only: given.order_only.rows(n, "order_only")?,
                validations: given.validations.rows(n, "validations")?,
                commands: given.commands.rows(n, "commands")?,
                depfiles: given.depfiles.rows(n, "depfiles")?,
                directories: given.directories.rows(n, "directories")?,
                names: given.names.rows(n, "names")?,
                flags: slice(given.flags, n_if(given.flags.is_null()), "flags")?,
                policies: slice(given.policies, n_if(given.policies.is_null()), "policies")?,
            })
        }
    }

    fn files(&self) -> [&Rows<'_, u32>; 5] {
        [&self.outputs, &self.inputs, &self.implicit, &self.order_only, &self.validations]
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_add_targets(
    graph: *mut upcheck_graph,
    targets: *const upcheck_targets,
    first: *mut u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle, struct and arrays.
        let (mut graph, many) = unsafe {
            let graph = Taken::new(graph)?;
            let given = read_sized(targets, "targets")?.ok_or_else(|| Failure::null("targets"))?;
            (graph, Many::new(&given)?)
        };
        // All at once: what is out of range is refused before anything is added.
        for rows in many.files() {
            graph.check_files(rows.values())?;
        }
        without_nul(many.depfiles.values(), "depfile")?;
        without_nul(many.directories.values(), "directory")?;
        many.flags.iter().try_for_each(|&flags| check_flags(flags, UPCHECK_PHONY))?;
        let policies = many.policies.iter().map(|&number| policy(number)).collect::<Result<Vec<_>, _>>()?;
        let (project, _) = graph.project()?;
        let mut first_target = UPCHECK_NONE;
        for at in 0..many.n {
            let added = project.add(&Description {
                outputs: bytemuck::cast_slice(many.outputs.row(at)),
                explicit: bytemuck::cast_slice(many.inputs.row(at)),
                implicit: bytemuck::cast_slice(many.implicit.row(at)),
                order_only: bytemuck::cast_slice(many.order_only.row(at)),
                validations: bytemuck::cast_slice(many.validations.row(at)),
                command: many.commands.row(at),
                depfile: many.depfiles.row(at),
                directory: many.directories.row(at),
                name: many.names.row(at),
                phony: many.flags.get(at).is_some_and(|flags| flags & UPCHECK_PHONY != 0),
                policy: policies.get(at).copied().flatten(),
                ..Description::default()
            })?;
            if at == 0 {
                first_target = number(Some(added.index()));
            }
        }
        // SAFETY: NULL or a place, says the caller.
        unsafe { put(first, first_target) };
        Ok(())
    })
}
