//! Where everything is: the programs, built as optimised as this one, and the generated builds.

use crate::timing::Measure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Says that everything in a folder is generated, and how.
const STAMP: &str = "generated-by-upcheck-rivals";

const VARIABLES: [&str; 5] = ["NINJA_STATUS", "NINJAFLAGS", "MAKEFLAGS", "MFLAGS", "UPCHECK_CACHE_DIR"];

pub(crate) struct Workshop {
    base: PathBuf,
    pub(crate) upcheck: PathBuf,
    pub(crate) floor: PathBuf,
    pub(crate) measure: Measure,
    /// Whether figures mean anything.
    pub(crate) optimised: bool,
    /// Whether this upcheck can keep an image of a build.
    pub(crate) has_images: bool,
}

impl Workshop {
    /// `base`: the folder for everything that is generated. `as_built`: whether the programs are there already.
    pub(crate) fn open(base: Option<PathBuf>, as_built: bool) -> Result<Self, String> {
        let programs = std::env::current_exe().map_err(|error| error.to_string())?;
        let programs = programs.parent().ok_or("this program is in no folder")?;
        let optimised = programs.ends_with("release");
        if !as_built {
            build(optimised, &["--package", "upcheck-cli"])?;
            build(optimised, &["--package", "upcheck-rivals", "--bin", "floor", "--bin", "measure"])?;
        }
        let base = base.unwrap_or_else(|| programs.join("rivals-builds"));
        let base = prepare(&base).map_err(|error| format!("{}: {error}", base.display()))?;
        let place = base.join("run");
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let _ = PLACE.set(place);
        let upcheck = programs.join("upcheck");
        let has_images = help(&upcheck)?.contains("--image-dir");
        let measure = Measure { program: programs.join("measure") };
        Ok(Self { base, upcheck, floor: programs.join("floor"), measure, optimised, has_images })
    }

    /// The folder of a generated build, which is made unless it is there. `wanted` says all that decides about its
    /// content.
    pub(crate) fn tree(
        &self,
        name: &str,
        wanted: &str,
        generate: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let dir = self.base.join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", dir.display());
        let stamp = self.base.join(format!("{name}.made"));
        if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && dir.is_dir() {
            return Ok(dir);
        }
        self.remove_tree(name)?;
        fs::create_dir_all(&dir).map_err(failed)?;
        generate(&dir)?;
        fs::write(&stamp, wanted).map_err(failed)?;
        Ok(dir)
    }

    pub(crate) fn remove_tree(&self, name: &str) -> Result<(), String> {
        let dir = self.base.join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", dir.display());
        let stamp = self.base.join(format!("{name}.made"));
        if stamp.exists() {
            fs::remove_file(stamp).map_err(failed)?;
        }
        if dir.exists() { fs::remove_dir_all(&dir).map_err(failed) } else { Ok(()) }
    }

    /// A place for the image of a build.
    pub(crate) fn image_dir(&self, name: &str) -> PathBuf {
        self.base.join("images").join(name)
    }

    /// A place for a list of files.
    pub(crate) fn list(&self, name: &str) -> PathBuf {
        self.base.join("lists").join(name)
    }
}

/// Takes variables that would change what contenders do out of their environment, and gives them a daemon of their own.
pub(crate) fn clean(command: &mut Command) -> &mut Command {
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    if let Some(place) = PLACE.get() {
        command.env("XDG_RUNTIME_DIR", place);
    }
    command
}

/// Where the daemon of contenders is found.
static PLACE: OnceLock<PathBuf> = OnceLock::new();

impl Drop for Workshop {
    fn drop(&mut self) {
        // Where none runs, nothing happens.
        let mut stop = Command::new(&self.upcheck);
        stop.args(["watch", "stop"]).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = clean(&mut stop).status();
    }
}

/// Builds programs into the folder that this one is in.
fn build(optimised: bool, what: &[&str]) -> Result<(), String> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.current_dir(upcheck_tests::tools::root()).args(["build", "--quiet"]).args(what);
    build.args(optimised.then_some("--release"));
    let status = build.status().map_err(|error| format!("running cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo build {} failed", what.join(" "))) }
}

/// Makes a folder this program's own, without images and lists of earlier runs: another version left them.
fn prepare(base: &Path) -> std::io::Result<PathBuf> {
    let stamp = base.join(STAMP);
    if !stamp.exists() && base.exists() && fs::read_dir(base)?.next().is_some() {
        return Err(std::io::Error::other("is neither empty nor made by this program"));
    }
    fs::create_dir_all(base)?;
    fs::write(&stamp, "everything here can be deleted\n")?;
    let base = fs::canonicalize(base)?;
    for folder in ["images", "lists"] {
        let folder = base.join(folder);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
    }
    Ok(base)
}

fn help(upcheck: &Path) -> Result<String, String> {
    let output = Command::new(upcheck).args(["check", "--help"]).output();
    let output = output.map_err(|error| format!("{}: {error}", upcheck.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
