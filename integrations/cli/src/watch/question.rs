//! Which questions the daemon answers: checks of ninja builds by ninja's rules, and what tells two of them apart.

use super::quick;
use crate::args::{Args, CheckArgs, Command, Common, From};
use crate::captured::Captured;
use crate::follow;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use upcheck::{os_path, path};
use upcheck_daemon::{Ask, Request, identity};
use upcheck_ninja::NinjaVersion;

/// A check, as it was asked for.
pub(super) struct Asked {
    /// With the build directory's own path, and nothing printed.
    pub(super) common: Common,
    pub(super) check: CheckArgs,
    pub(super) captured: Arc<Captured>,
}

/// What a question is about. All else is about how its answer is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    manifest: PathBuf,
    version: Option<NinjaVersion>,
    targets: Vec<OsString>,
}

impl Question {
    /// Whether it is about the build of another one.
    pub(super) fn is_about(&self, common: &Common) -> bool {
        self.manifest == common.manifest() && self.version == common.ninja_version
    }

    /// Targets by name; none: what the manifest names as its defaults.
    pub(super) fn targets(&self) -> &[OsString] {
        &self.targets
    }
}

impl Asked {
    /// What a request asks; or why it is not for the daemon.
    pub(super) fn read(request: &Request) -> Result<Self, &'static str> {
        let name = OsString::from("upcheck");
        let wrong = "the arguments are wrong";
        let text = |bytes: &Vec<u8>| os_path::path(bytes).map(|text| text.into_owned().into_os_string());
        let arguments: Vec<_> =
            request.arguments.iter().map(text).collect::<Result<_, _>>().map_err(|_| wrong)?;
        let args = Args::try_parse_from(std::iter::once(name).chain(arguments));
        let Args { mut common, check, command } = args.map_err(|_| wrong)?;
        let check = match command {
            None => check,
            Some(Command::Check(its)) if check.is_empty() => its,
            Some(_) => return Err("it answers checks only"),
        };
        if let Some(why) = objection(&common, &check) {
            return Err(why);
        }
        follow::settle(&mut common, &check);
        let nowhere = "there is no such directory";
        let directory = os_path::path(&request.directory).map_err(|_| nowhere)?.join(&common.directory);
        if identity(&directory, quick::manifest_of(common.file.as_deref())) != request.identity {
            return Err("there it is another directory, or another manifest");
        }
        common.directory = os_path::canonicalize(&directory).map_err(|_| nowhere)?;
        let [stdout, stderr] = request.colors;
        let color = |may| match common.color {
            clap::ColorChoice::Auto => may,
            clap::ColorChoice::Always => true,
            clap::ColorChoice::Never => false,
        };
        let colors = [color(stdout), color(stderr)];
        let captured = Arc::new(match request.ask {
            Ask::Wait => Captured::marked(colors),
            _ => Captured::new(colors),
        });
        common.captured = Some(Arc::clone(&captured));
        Ok(Self { common, check, captured })
    }

    /// What it is about.
    pub(super) fn question(&self) -> Question {
        Question {
            manifest: self.common.manifest(),
            version: self.common.ninja_version,
            targets: self.check.targets.clone(),
        }
    }
}

/// Why it does not answer about paths that are another file for another process.
pub(super) const WHERE_ONE_IS: &str = "what a path stands for is different in each process";

/// Whether what a path stands for, from a directory, is different in each process. On Windows what `C:name` is does: each process is
/// somewhere on each drive. On Unix what the system says of the process itself.
pub(super) fn depends_on_process(its: &[u8], base: &[u8]) -> bool {
    if cfg!(windows) {
        let has_drive = matches!(its, [letter, b':', ..] if letter.is_ascii_alphabetic());
        return has_drive && !path::is_absolute(its);
    }
    // Most are below the build directory, and a way up has to be at the beginning.
    if !path::is_absolute(its) && !its.starts_with(b"..") {
        return false;
    }
    let mut full = path::join(base, its);
    path::canonicalize(&mut full);
    [&b"/proc"[..], b"/dev/fd", b"/dev/stdin", b"/dev/stdout", b"/dev/stderr"].iter().any(|own| {
        full.strip_prefix(*own).is_some_and(|behind| behind.is_empty() || behind.starts_with(b"/"))
    })
}

/// Why a check is not for the daemon, as far as what was typed tells.
pub(super) fn objection(common: &Common, check: &CheckArgs) -> Option<&'static str> {
    let is_ninja = matches!(common.from, None | Some(From::Ninja)) && common.origin() == "ninja";
    let is_plain = !check.exact && !check.content && check.explain_plan.is_none() && check.command.is_empty();
    #[cfg(feature = "remote")]
    let is_plain = is_plain && check.remote.remote.is_none();
    // Empty: none.
    let folder = common.image_dir.as_deref().unwrap_or(Path::new(""));
    match () {
        () if !is_ninja || common.policy.is_some() || common.contradiction(&check.command).is_some() => {
            Some("it answers for ninja builds only")
        }
        () if !is_plain => Some("it answers checks by times only"),
        // Joined to another path it would name that one.
        () if common.directory.as_os_str().is_empty() => Some("there is no such directory"),
        () if [Some(&common.directory), common.file.as_ref()]
            .into_iter()
            .flatten()
            .any(|path| cfg!(windows) && depends_on_process(os_path::bytes(path), b"")) =>
        {
            Some(WHERE_ONE_IS)
        }
        () if common.file.as_deref() == Some(Path::new("-")) => {
            Some("the manifest comes from standard input")
        }
        () if common.no_image || common.confirm_all => Some("everything is to be looked at"),
        () if folder.is_relative() && !folder.as_os_str().is_empty() => {
            Some("the folder of images is relative")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_another_file_in_another_process_is_known() {
        for (path, depends) in [
            ("C:name", true),
            ("c:", true),
            ("C:/name", false),
            ("C:\\name", false),
            ("a:b/c", true),
            ("name", false),
        ] {
            assert_eq!(depends_on_process(path.as_bytes(), b"/a/b"), depends && cfg!(windows), "{path}");
        }
        for path in ["/name", "//server/share", "..", "", "/process", "/dev/null", "proc/self", "../proc"] {
            assert!(!depends_on_process(path.as_bytes(), b"/a/b"), "{path}");
        }
        for path in ["/proc/self/cwd/x", "/dev/stdin", "/dev/fd/3", "../../proc/1", "/a/../proc"] {
            assert_eq!(depends_on_process(path.as_bytes(), b"/a/b"), cfg!(unix), "{path}");
        }
    }
}
