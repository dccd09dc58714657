//! Build directories of CMake: their targets by CMake's names, whichever generator wrote the rules.

use crate::args::Common;
use crate::exit::Exit;
use crate::externals;
use crate::run::{Trouble, bytes_of, print};
use crate::words;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use upcheck::{Graph, TargetId};
use upcheck_cmake::globs::{self, Difference};
use upcheck_cmake::makefiles::Known;
use upcheck_cmake::names::{self, Names};
use upcheck_cmake::reply::{self, Reply};
use upcheck_ninja::Build;

/// A build directory of CMake.
#[derive(Clone, Debug)]
pub(crate) struct Cmake {
    reply: Reply,
    /// The configuration that is asked about, in [`Reply::configurations`].
    configuration: usize,
    /// Whether an option names it. Otherwise it is the one that is built by default, by a manifest that has all of them.
    is_named: bool,
    /// In what the globs differ from when CMake ran; `None` where there are none to look at.
    globs: Option<Difference>,
    /// The same for globs of the module that a ninja build has verified by `upcheck verify-globs`.
    own_globs: Option<Difference>,
    /// Whether the module looks at external projects, and would find nothing.
    externals_are_fresh: bool,
}

/// To which targets of CMake the files of a build belong.
pub(crate) struct Owners<'a> {
    is_multi_config: bool,
    /// With the configuration's name. Several where none was asked for.
    configurations: Vec<(&'a str, Names<'a>)>,
}

/// What CMake calls a target, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    pub(crate) name: &'a str,
    /// `None` where there is only one.
    pub(crate) configuration: Option<&'a str>,
}

impl std::fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = words::bytes(self.name.as_bytes());
        match self.configuration {
            Some(configuration) => write!(f, "{name}:{configuration}"),
            None => f.write_str(&name),
        }
    }
}

/// Where `upcheck_glob(... STRATEGY VERIFY)` keeps globs and their results, and what it has made anew when they differ.
const OWN_GLOBS: &str = "CMakeFiles/upcheck/globs.cmake";
const OWN_STAMP: &[u8] = b"CMakeFiles/upcheck/globs.stamp";
/// The same for globs that CMake verifies.
const STAMP: &[u8] = b"CMakeFiles/cmake.verify_globs";

/// The generator whose rules stand in Makefiles.
const MAKEFILES: &str = "Unix Makefiles";

/// What `-C` names, if that is a build directory of CMake and meant as such: because an option says so, or because
/// nothing else could be meant.
pub(crate) fn read(common: &Common) -> Result<Option<Cmake>, Trouble> {
    let is_there = |name: &str| common.directory.join(name).exists();
    let is_meant = common.names_cmake()
        || (common.from.is_none()
            && common.file.is_none()
            && !common.one.is_given()
            && is_there("CMakeCache.txt")
            && !is_there("build.ninja"));
    if !is_meant {
        return Ok(None);
    }
    let reply = reply::read(&common.directory)?;
    let named = common.named.configuration.as_deref();
    let configuration = names::configuration(&common.directory, &reply, named)?
        .map_err(|error| Trouble(error.to_string()))?;
    let globs = match globs::of(&common.directory, &reply)? {
        Some(globs) if !globs.is_empty() => Some(globs::differences(&globs)?),
        _ => None,
    };
    let own_globs = match common.directory.join(OWN_GLOBS) {
        script if script.exists() => Some(globs::differences(&globs::of_script(&script)?)?),
        _ => None,
    };
    let externals_are_fresh = externals::are_fresh(common)?;
    Ok(Some(Cmake { reply, configuration, is_named: named.is_some(), globs, own_globs, externals_are_fresh }))
}

/// Asks CMake to say what its targets are when it runs next.
pub(crate) fn write_query(common: &Common) -> Result<Exit, Trouble> {
    reply::write_query(&common.directory)?;
    let directory = common.directory.display();
    print(common, |out| {
        writeln!(out, "The query is written. CMake answers it when it runs: cmake {directory}")
    })?;
    Ok(Exit::Fresh)
}

impl Cmake {
    /// Whether the rules stand in Makefiles; otherwise in ninja's manifests.
    pub(crate) fn has_makefiles(&self) -> bool {
        self.reply.generator == MAKEFILES
    }

    /// The manifest that has the rules, where ninja has them.
    pub(crate) fn manifest(&self) -> PathBuf {
        match self.is_named {
            true => self.names().manifest().into(),
            false => "build.ninja".into(),
        }
    }

    /// What Makefiles would run commands to find out.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            globs: self.globs.as_ref(),
            fresh: if self.externals_are_fresh { &[externals::LOOK] } else { &[] },
        }
    }

    /// Whether there is anything that ninja would run a command to find out.
    pub(crate) fn has_given(&self) -> bool {
        self.globs.is_some() || self.own_globs.is_some() || self.externals_are_fresh
    }

    /// Tells a ninja build what ninja would run commands to find out.
    pub(crate) fn give(&self, build: &mut Build) {
        let nothing = Difference::default();
        let externals = self.externals_are_fresh.then_some(&nothing);
        let given = [
            (STAMP, self.globs.as_ref()),
            (OWN_STAMP, self.own_globs.as_ref()),
            (externals::LOOK, externals),
        ];
        for (stamp, difference) in given {
            let Some(Difference { added, removed, .. }) = difference else { continue };
            let absolute = [&self.reply.build[..], b"/", stamp].concat();
            // Ninja's manifests have it by either name, or not at all any more.
            let _ = build.give(stamp, added, removed) || build.give(&absolute, added, removed);
        }
    }

    /// What is asked about where targets are named, in words of ninja's manifest or goals of the Makefiles: options name
    /// targets of CMake, arguments these or files. Of each several names, of which one is known there.
    pub(crate) fn requests(&self, common: &Common, arguments: &[OsString]) -> Result<Vec<Request>, Trouble> {
        let names = self.names();
        let mut requests = Vec::new();
        for (name, has_to_be_one) in common
            .named
            .targets
            .iter()
            .map(|name| (name, true))
            .chain(arguments.iter().map(|name| (name, false)))
        {
            let text = String::from_utf8_lossy(&bytes_of(name.clone())).into_owned();
            requests.push(match names.requests(&text) {
                Ok(known_as) => Request { known_as, unknown: None },
                Err(unknown) if has_to_be_one => return Err(Trouble(unknown.to_string())),
                Err(unknown) => {
                    Request { known_as: vec![bytes_of(name.clone())], unknown: Some(unknown.to_string()) }
                }
            });
        }
        Ok(requests)
    }

    /// To which of its targets files belong.
    pub(crate) fn owners(&self) -> Owners<'_> {
        let all = self.reply.configurations.iter().enumerate();
        let asked = all.filter(|(at, _)| !self.is_named || *at == self.configuration);
        let mut configurations: Vec<_> =
            asked.map(|(at, known)| (&*known.name, Names::new(&self.reply, at))).collect();
        // What several configurations have in common belongs to the one that is built by default.
        let default = &*self.reply.configurations[self.configuration].name;
        configurations.sort_by_key(|(name, _)| *name != default);
        Owners { is_multi_config: self.reply.is_multi_config, configurations }
    }

    fn names(&self) -> Names<'_> {
        Names::new(&self.reply, self.configuration)
    }
}

/// Something that is asked about.
pub(crate) struct Request {
    /// What the build may call it.
    pub(crate) known_as: Vec<Vec<u8>>,
    /// Why it is no target of CMake, if it is none.
    pub(crate) unknown: Option<String>,
}

impl Owners<'_> {
    /// The target of CMake that a target is a part of, where there is one.
    pub(crate) fn of(&self, graph: &Graph, target: TargetId) -> Option<Owner<'_>> {
        let paths = || graph.outputs(target).iter().map(|&file| graph.files.path(file));
        self.configurations.iter().find_map(|(configuration, names)| {
            let owner = paths().find_map(|path| names.target(path))?;
            Some(Owner { name: &owner.name, configuration: self.is_multi_config.then_some(*configuration) })
        })
    }
}

/// The names of targets, each once: as CMake has them, where it has one.
pub(crate) fn names_of(
    owners: Option<&Owners<'_>>,
    graph: &Graph,
    targets: impl Iterator<Item = TargetId>,
) -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    let name = |target| match owners.and_then(|owners| owners.of(graph, target)) {
        Some(owner) => owner.to_string().into_bytes(),
        None => graph.name(target).to_vec(),
    };
    targets.map(name).filter(|name| seen.insert(name.clone())).collect()
}
