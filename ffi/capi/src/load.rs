//! Graphs that a build tool has written.

use crate::border::{Sized1, Taken, call, check_flags, read_sized};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{Kind, absolute, need_empty, next_number, path_of, upcheck_graph};
use crate::ninja::NinjaGraph;
use crate::texts::{bytes, upcheck_str};
use ::upcheck_graph::{self as reader, CompileOptions};
use std::ffi::c_char;
use std::io::BufReader;
use upcheck::collect::Disk;
use upcheck_ninja::{NinjaVersion, Options};

/// `UPCHECK_HEADERS_UNKNOWN_IS_FINE`
pub const UPCHECK_HEADERS_UNKNOWN_IS_FINE: u32 = 1;

/// How to read a ninja build directory; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_ninja_options {
    pub struct_size: usize,
    pub manifest: upcheck_str,
    pub version: u32,
    pub threads: u32,
    pub image_folder: upcheck_str,
}

// SAFETY: pointers and integers without gaps, the first of them its size.
unsafe impl Sized1 for upcheck_ninja_options {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_load_ninja(
    graph: *mut upcheck_graph,
    options: *const upcheck_ninja_options,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle.
        let mut graph = unsafe { Taken::new(graph) }?;
        need_empty(graph.project()?.0)?;
        graph.reopen()?;
        let mut read = Options::default();
        let mut image_folder = None;
        // SAFETY: the caller's struct and texts.
        if let Some(given) = unsafe { read_sized(options, "options") }? {
            // SAFETY: the caller's texts.
            let (manifest, folder) =
                unsafe { (given.manifest.bytes("manifest")?, given.image_folder.bytes("image_folder")?) };
            if !manifest.is_empty() {
                path_of(manifest)?;
                read.manifest = manifest.to_vec();
            }
            read.version = match given.version {
                0 => None,
                11 => Some(NinjaVersion::V1_11),
                12 => Some(NinjaVersion::V1_12),
                13 => Some(NinjaVersion::V1_13),
                other => return Err(Failure::invalid(format!("the rules of ninja 1.{other} are not known"))),
            };
            read.threads = given.threads as usize;
            if !folder.is_empty() {
                image_folder = Some(absolute(folder)?);
            }
        }
        if let Some(folder) = &image_folder {
            graph.keep_names(folder.clone())?;
        }
        let place = graph.directory.as_os_str().as_encoded_bytes().to_vec();
        graph.kind = Kind::Ninja(NinjaGraph::load(&graph.disk, place, read, image_folder)?.into());
        graph.number = next_number();
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_load_json(
    graph: *mut upcheck_graph,
    file: *const c_char,
    len: usize,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle and text.
        let (mut graph, file) = unsafe { (Taken::new(graph)?, bytes(file, len, "file")?) };
        let path = graph.directory.join(path_of(file)?);
        let name = String::from_utf8_lossy(file).into_owned();
        let opened = std::fs::File::open(path).map_err(|cause| Failure::io("reading", file, &cause))?;
        reader::read(BufReader::new(opened), &name, graph.project()?.0)?;
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_load_json_text(
    graph: *mut upcheck_graph,
    text: *const c_char,
    len: usize,
    name: *const c_char,
    name_len: usize,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle and texts.
        let (mut graph, text, name) =
            unsafe { (Taken::new(graph)?, bytes(text, len, "text")?, bytes(name, name_len, "name")?) };
        let name = String::from_utf8_lossy(name).into_owned();
        reader::read_slice(text, &name, graph.project()?.0)?;
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_load_compile_commands(
    graph: *mut upcheck_graph,
    file: *const c_char,
    len: usize,
    flags: u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        check_flags(flags, UPCHECK_HEADERS_UNKNOWN_IS_FINE)?;
        // SAFETY: the caller's handle and text.
        let (mut graph, file) = unsafe { (Taken::new(graph)?, bytes(file, len, "file")?) };
        graph.reopen()?;
        let (project, disk) = graph.project()?;
        path_of(file)?;
        let text = disk.read(file).map_err(|cause| Failure::io("reading", file, &cause))?;
        let name = String::from_utf8_lossy(file).into_owned();
        let options =
            CompileOptions { headers_unknown_is_fine: flags & UPCHECK_HEADERS_UNKNOWN_IS_FINE != 0 };
        reader::read_compile_commands(&text, &name, b"", disk, project, options)?;
        Ok(())
    })
}
