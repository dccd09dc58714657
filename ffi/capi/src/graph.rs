//! Graphs: where they come from, and what is in them.

use crate::border::{Taken, answer, call, check_flags, hand_out, handle, need_place, put, slice, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::ninja::NinjaGraph;
use crate::texts::{bytes, fill, upcheck_str};
use std::borrow::Cow;
use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use upcheck::collect::{OneName, OsDisk, os_disk_knowing};
use upcheck::image::ImageFolder;
use upcheck::project::DescribeError;
use upcheck::{FileId, Graph, Project, TargetId};
use upcheck_watch::told::Told;

/// `UPCHECK_NONE`
pub const UPCHECK_NONE: u32 = u32::MAX;
/// `UPCHECK_DISTINCT`
pub const UPCHECK_DISTINCT: u32 = 1;
/// `UPCHECK_BORROW`, of which [`UPCHECK_DISTINCT`] is a part.
pub const UPCHECK_BORROW: u32 = 3;

/// A graph.
pub struct upcheck_graph {
    pub(crate) poisoned: bool,
    /// What no other graph has, nor this one after its files were numbered anew.
    pub(crate) number: u64,
    pub(crate) disk: OsDisk,
    /// What its disks learn, for the ones after them.
    one_name: Arc<OneName>,
    /// The directory that relative paths start from, absolute and without links.
    pub(crate) directory: PathBuf,
    pub(crate) kind: Kind,
    /// What the caller tells of changes; `None` while he has told nothing.
    pub(crate) told: Option<Box<Told>>,
}

handle!(upcheck_graph, "the graph");

/// What a graph was made from.
pub(crate) enum Kind {
    /// Targets that were described, or read from a JSON graph or a compile_commands.json.
    Project(Box<Project>),
    Ninja(Box<NinjaGraph>),
}

impl upcheck_graph {
    fn new(directory: &[u8]) -> Result<Self, Failure> {
        let path = directory_of(directory)?;
        let absolute = upcheck::os_path::canonicalize(path)
            .map_err(|cause| Failure::io("finding", directory, &cause))?;
        // By its absolute path, so that a program that changes its working directory keeps its graphs.
        let one_name = Arc::<OneName>::default();
        let disk = os_disk_knowing(&absolute, one_name.clone())
            .map_err(|cause| Failure::io("opening", directory, &cause))?;
        let mut project = Project::new();
        project.set_base(absolute.as_os_str().as_encoded_bytes());
        let kind = Kind::Project(project.into());
        let number = next_number();
        Ok(Self { poisoned: false, number, disk, one_name, directory: absolute, kind, told: None })
    }

    /// Opens the directory anew, for a call that looks at files: what has its name now is what commands work in. The one
    /// that had it when the graph was made may lie elsewhere by now, with files that nobody builds any more.
    pub(crate) fn reopen(&mut self) -> Result<(), Failure> {
        let name = self.directory.as_os_str().as_encoded_bytes();
        self.disk = os_disk_knowing(&self.directory, self.one_name.clone())
            .map_err(|cause| Failure::io("opening", name, &cause))?;
        Ok(())
    }

    /// From now on what its disks learn is kept in a folder of images.
    pub(crate) fn keep_names(&mut self, folder: PathBuf) -> Result<(), Failure> {
        let place = self.directory.as_os_str().as_encoded_bytes();
        self.one_name = OneName::open(ImageFolder::new(folder), place).into();
        self.reopen()
    }

    pub(crate) fn graph(&self) -> &Graph {
        match &self.kind {
            Kind::Project(project) => project.graph(),
            Kind::Ninja(ninja) => ninja.graph(),
        }
    }

    /// The project, for calls that describe and record.
    pub(crate) fn project(&mut self) -> Result<(&mut Project, &OsDisk), Failure> {
        match &mut self.kind {
            Kind::Project(project) => Ok((project, &self.disk)),
            Kind::Ninja(_) => {
                Err(Failure::invalid("the graph is ninja's, which describes and records its targets itself"))
            }
        }
    }

    /// Refuses numbers that are no file.
    pub(crate) fn check_files<'a>(&self, files: &'a [u32]) -> Result<&'a [FileId], Failure> {
        let n_files = self.graph().files.len();
        match files.iter().find(|&&file| file as usize >= n_files) {
            Some(file) => Err(Failure::invalid(format!("there is no file {file}, only {n_files} files"))),
            None => Ok(bytemuck::cast_slice(files)),
        }
    }

    /// Refuses numbers that are no target.
    pub(crate) fn check_targets<'a>(&self, targets: &'a [u32]) -> Result<&'a [TargetId], Failure> {
        let n_targets = self.graph().n_targets();
        match targets.iter().find(|&&target| target as usize >= n_targets) {
            Some(target) => {
                Err(Failure::invalid(format!("there is no target {target}, only {n_targets} targets")))
            }
            None => Ok(bytemuck::cast_slice(targets)),
        }
    }

    fn target(&self, target: u32) -> Option<TargetId> {
        ((target as usize) < self.graph().n_targets()).then(|| TargetId::new(target as usize))
    }

    fn file(&self, file: u32) -> Option<FileId> {
        ((file as usize) < self.graph().files.len()).then(|| FileId::new(file as usize))
    }
}

/// A number for a graph, or for a new numbering of its files.
pub(crate) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A directory of the caller: the working directory, where he names none.
pub(crate) fn directory_of(bytes: &[u8]) -> Result<Cow<'_, Path>, Failure> {
    if bytes.is_empty() { Ok(Path::new(".").into()) } else { path_of(bytes) }
}

/// A path of the caller as the system's functions want it.
pub(crate) fn path_of(bytes: &[u8]) -> Result<Cow<'_, Path>, Failure> {
    if bytes.is_empty() {
        return Err(Failure::invalid("a path is empty"));
    }
    if bytes.contains(&0) {
        let shown = String::from_utf8_lossy(bytes);
        return Err(Failure::invalid(format!("the path {shown:?} has a NUL in it")));
    }
    upcheck::os_path::path(bytes).map_err(|cause| Failure::io("finding", bytes, &cause))
}

/// A folder of the caller for good: a program that changes its working directory keeps what is in it.
pub(crate) fn absolute(folder: &[u8]) -> Result<PathBuf, Failure> {
    std::path::absolute(path_of(folder)?).map_err(|cause| Failure::io("finding", folder, &cause))
}

/// An id for callers.
pub(crate) fn number(id: Option<usize>) -> u32 {
    id.and_then(|id| u32::try_from(id).ok()).unwrap_or(UPCHECK_NONE)
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_new(
    directory: *const c_char,
    len: usize,
    graph: *mut *mut upcheck_graph,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(graph, "graph")?;
        // SAFETY: the caller's text, and a place that is not NULL.
        unsafe {
            let new = upcheck_graph::new(bytes(directory, len, "directory")?)?;
            hand_out(graph, new);
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_free(graph: *mut upcheck_graph) {
    // SAFETY: NULL or a graph that was not freed, says the caller.
    unsafe { take_back(graph) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_add_paths(
    graph: *mut upcheck_graph,
    bytes: *const c_char,
    ends: *const u64,
    n: usize,
    flags: u32,
    first: *mut u32,
    files: *mut u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        check_flags(flags, UPCHECK_BORROW)?;
        if flags == UPCHECK_BORROW & !UPCHECK_DISTINCT {
            return Err(Failure::invalid("borrowed paths are distinct ones"));
        }
        // SAFETY: the caller's handle and arrays.
        let (mut graph, rows) =
            unsafe { (Taken::new(graph)?, crate::texts::upcheck_texts { bytes, ends }.rows(n, "paths")?) };
        if rows.ends().len() != n {
            return Err(Failure::null("the ends of the paths"));
        }
        let (project, _) = graph.project()?;
        let start = match flags {
            0 => number((n > 0).then(|| project.graph().files.len())),
            UPCHECK_DISTINCT => number(Some(project.add_distinct(rows.values(), rows.ends())?.index())),
            _ => {
                // SAFETY: the caller says that they outlive the graph and do not change.
                let (values, ends) = unsafe { (forever(rows.values()), forever(rows.ends())) };
                number(Some(project.borrow_distinct(values, ends)?.index()))
            }
        };
        if flags != 0 {
            if !files.is_null() {
                for at in 0..n {
                    // SAFETY: the caller's array of n.
                    unsafe { put(files.wrapping_add(at), start.wrapping_add(number(Some(at)))) };
                }
            }
            // SAFETY: NULL or a place, says the caller.
            unsafe { put(first, if n == 0 { UPCHECK_NONE } else { start }) };
            return Ok(());
        }
        // Kept apart until all are there: a path that is refused leaves the caller's array as it is.
        let mut first_file = UPCHECK_NONE;
        let mut found = Vec::with_capacity(if files.is_null() { 0 } else { n });
        for at in 0..n {
            let file = number(Some(project.file(rows.row(at))?.index()));
            if at == 0 {
                first_file = file;
            }
            if !files.is_null() {
                found.push(file);
            }
        }
        // SAFETY: the caller's array of n, which may not be aligned, and NULL or a place, says the caller.
        unsafe {
            if !found.is_empty() {
                let bytes: &[u8] = bytemuck::cast_slice(&found);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), files.cast::<u8>(), bytes.len());
            }
            put(first, first_file);
        }
        Ok(())
    })
}

/// A slice of the caller for as long as the graph is there.
///
/// # Safety
/// The slice outlives everything that the result is put into, and does not change meanwhile.
unsafe fn forever<T>(slice: &[T]) -> &'static [T] {
    // SAFETY: see above.
    unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_add_path(
    graph: *mut upcheck_graph,
    path: *const c_char,
    len: usize,
    file: *mut u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(file, "file")?;
        // SAFETY: the caller's handle, text and place.
        unsafe {
            let mut graph = Taken::new(graph)?;
            let added = graph.project()?.0.file(bytes(path, len, "path")?)?;
            put(file, number(Some(added.index())));
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_set_policy(
    graph: *mut upcheck_graph,
    policy: i32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle.
        let mut graph = unsafe { Taken::new(graph) }?;
        graph.project()?.0.set_policy(crate::describe::policy(policy)?);
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_set_values(
    graph: *mut upcheck_graph,
    values: *const upcheck_str,
    n_values: usize,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle and texts.
        let (mut graph, values) = unsafe { (Taken::new(graph)?, crate::describe::pairs(values, n_values)?) };
        let values = values.into_iter().map(|(name, value)| (name.to_vec(), value.to_vec()));
        graph.project()?.0.set_values(values.collect());
        Ok(())
    })
}

/// Reads what a graph says; `otherwise` where there is no graph, or it is not to be used.
///
/// # Safety
/// NULL, or a graph that nobody changes meanwhile.
unsafe fn look<'a, T>(
    graph: *const upcheck_graph,
    otherwise: T,
    body: impl FnOnce(&'a upcheck_graph) -> Option<T>,
) -> T
where
    T: Copy,
{
    // SAFETY: see above.
    answer(otherwise, || unsafe { crate::border::shared(graph) }.ok().and_then(body).unwrap_or(otherwise))
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_n_files(graph: *const upcheck_graph) -> usize {
    // SAFETY: the caller's handle.
    unsafe { look(graph, 0, |graph| Some(graph.graph().files.len())) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_n_targets(graph: *const upcheck_graph) -> usize {
    // SAFETY: the caller's handle.
    unsafe { look(graph, 0, |graph| Some(graph.graph().n_targets())) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_path(graph: *const upcheck_graph, file: u32) -> upcheck_str {
    let path = |graph: &upcheck_graph| Some(upcheck_str::new(graph.graph().files.path(graph.file(file)?)));
    // SAFETY: the caller's handle.
    unsafe { look(graph, upcheck_str::EMPTY, path) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_name(graph: *const upcheck_graph, target: u32) -> upcheck_str {
    let name = |graph: &upcheck_graph| Some(upcheck_str::new(graph.graph().name(graph.target(target)?)));
    // SAFETY: the caller's handle.
    unsafe { look(graph, upcheck_str::EMPTY, name) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_find(
    graph: *mut upcheck_graph,
    path: *const c_char,
    len: usize,
) -> u32 {
    answer(UPCHECK_NONE, || {
        // SAFETY: the caller's handle and text.
        let (Ok(mut graph), Ok(path)) = (unsafe { Taken::new(graph) }, unsafe { bytes(path, len, "path") })
        else {
            return UPCHECK_NONE;
        };
        if path.is_empty() {
            return UPCHECK_NONE;
        }
        let found = match &mut graph.kind {
            Kind::Project(project) => project.find(path),
            Kind::Ninja(ninja) => ninja.find(path),
        };
        number(found.map(FileId::index))
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_producer(graph: *const upcheck_graph, file: u32) -> u32 {
    let producer = |graph: &upcheck_graph| {
        let producer = graph.graph().producer(graph.file(file)?)?;
        Some(number(Some(producer.index())))
    };
    // SAFETY: the caller's handle.
    unsafe { look(graph, UPCHECK_NONE, producer) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_outputs(
    graph: *const upcheck_graph,
    target: u32,
    n: *mut usize,
) -> *const u32 {
    let outputs = |graph: &upcheck_graph| Some(array(graph.graph().outputs(graph.target(target)?)));
    // SAFETY: the caller's handle and place.
    unsafe { hand_array(look(graph, NO_ARRAY, outputs), n) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_inputs(
    graph: *const upcheck_graph,
    target: u32,
    n: *mut usize,
) -> *const u32 {
    let inputs = |graph: &upcheck_graph| Some(array(graph.graph().ordering_inputs(graph.target(target)?)));
    // SAFETY: the caller's handle and place.
    unsafe { hand_array(look(graph, NO_ARRAY, inputs), n) }
}

const NO_ARRAY: (*const u32, usize) = (std::ptr::null(), 0);

fn array(files: &[FileId]) -> (*const u32, usize) {
    let files: &[u32] = bytemuck::cast_slice(files);
    (files.as_ptr(), files.len())
}

/// # Safety
/// `n` is NULL or can be written.
unsafe fn hand_array((values, length): (*const u32, usize), n: *mut usize) -> *const u32 {
    // SAFETY: see above.
    unsafe { put(n, length) };
    values
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_command(
    graph: *const upcheck_graph,
    target: u32,
    buffer: *mut c_char,
    capacity: usize,
) -> usize {
    answer(0, || {
        // SAFETY: the caller's handle.
        let graph = unsafe { crate::border::shared(graph) }.ok();
        let command = graph.and_then(|graph| {
            let target = graph.target(target)?;
            Some(match &graph.kind {
                Kind::Project(project) => project.command(target).to_vec(),
                Kind::Ninja(ninja) => ninja.command(target),
            })
        });
        // SAFETY: the caller's buffer.
        unsafe { fill(&command.unwrap_or_default(), buffer, capacity) }
    })
}

/// Refuses what only an empty graph takes.
pub(crate) fn need_empty(project: &Project) -> Result<(), Failure> {
    match project.graph().n_targets() == 0 && project.graph().files.is_empty() {
        true => Ok(()),
        false => Err(Failure::invalid("the graph is not empty")),
    }
}

/// The array of a caller, with NULL refused even where nothing is in it.
pub(crate) fn too_many(what: &'static str) -> Failure {
    DescribeError::TooMany(what).into()
}

/// # Safety
/// As [`slice`].
pub(crate) unsafe fn ids<'a>(ids: *const u32, n: usize, what: &str) -> Result<&'a [u32], Failure> {
    // SAFETY: see above.
    unsafe { slice(ids, n, what) }
}
