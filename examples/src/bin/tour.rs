//! Shows the `upcheck` command at work on a sample build. Needs neither ninja nor a compiler: the sample is made
//! to look as if it had just been built.
//!
//! ```text
//! cargo run --package upcheck-examples --bin tour
//! ```
//!
//! `UPCHECK` may name a command that is built already.
#![expect(clippy::print_stdout, reason = "a demonstration prints")]

use std::error::Error;
use std::fmt::Write;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use upcheck_ninja::NinjaVersion;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("examples/ has a parent")?;
    let sample = root.join("target/sample");
    Sample::make(&sample)?;
    println!(
        "A sample build of {} sources is in target/sample, as if ninja had just built it.\n",
        SOURCES.len()
    );

    upcheck(root, &[])?;
    println!("A header is edited, and an object deleted:\n");
    println!("$ touch target/sample/include/config.h; rm target/sample/obj/log.o\n");
    set_time(&sample.join("include/config.h"), SystemTime::now())?;
    fs::remove_file(sample.join("obj/log.o"))?;
    upcheck(root, &[])?;
    upcheck(root, &["why", "app"])?;
    upcheck(root, &["-q", "libtext.a"])?;
    upcheck(root, &["--format", "jsonl", "libtext.a"])?;
    Ok(())
}

/// Runs the command on the sample, and shows what was typed and how it ended.
fn upcheck(root: &Path, arguments: &[&str]) -> Outcome<()> {
    println!("$ {}", [&["upcheck", "-C", "target/sample"], arguments].concat().join(" "));
    let mut command = match std::env::var_os("UPCHECK") {
        Some(built) => Command::new(built),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["run", "--quiet", "--package", "upcheck-cli", "--"]);
            cargo
        }
    };
    let status = command.current_dir(root).args(["-C", "target/sample"]).args(arguments).status()?;
    println!("[exit status {}]\n", status.code().unwrap_or(2));
    Ok(())
}

/// Sources, the library each goes into, and the headers it includes.
const SOURCES: &[(&str, &str, &[&str])] = &[
    ("main", "", &["config", "text", "net"]),
    ("options", "", &["config", "text"]),
    ("log", "", &["config"]),
    ("utf8", "text", &["text"]),
    ("split", "text", &["text"]),
    ("format", "text", &["text", "config"]),
    ("socket", "net", &["net", "config"]),
    ("http", "net", &["net", "text", "config"]),
    ("cookie", "net", &["net"]),
];

struct Sample {
    dir: PathBuf,
    /// When the sources were written; the build ran a minute later.
    written: SystemTime,
    log: String,
}

impl Sample {
    fn make(dir: &Path) -> Outcome<()> {
        if dir.exists() {
            fs::remove_dir_all(dir)?;
        }
        let written = SystemTime::now() - Duration::from_secs(3_600);
        let mut sample = Self { dir: dir.to_owned(), written, log: "# ninja log v7\n".into() };
        let mut manifest = String::from(
            "rule cc\n  command = cc -Iinclude -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n\
             rule ar\n  command = ar rcs $out $in\n\
             rule link\n  command = cc $in -o $out\n\n",
        );
        for header in ["config", "text", "net"] {
            sample.source(&format!("include/{header}.h"))?;
        }
        for (name, _, headers) in SOURCES {
            let (source, object) = (format!("src/{name}.c"), format!("obj/{name}.o"));
            sample.source(&source)?;
            let mut depfile = format!("{object}: {source}");
            for header in *headers {
                write!(depfile, " include/{header}.h")?;
            }
            sample.write(&format!("{object}.d"), &depfile, written)?;
            sample.output(&object, &format!("cc -Iinclude -MD -MF {object}.d -c {source} -o {object}"))?;
            writeln!(manifest, "build {object}: cc {source}")?;
        }
        for library in ["text", "net"] {
            let objects = objects(library);
            sample.output(&format!("lib{library}.a"), &format!("ar rcs lib{library}.a {objects}"))?;
            writeln!(manifest, "build lib{library}.a: ar {objects}")?;
        }
        let inputs = format!("{} libnet.a libtext.a", objects(""));
        sample.output("app", &format!("cc {inputs} -o app"))?;
        writeln!(manifest, "build app: link {inputs}\nbuild all: phony app\ndefault all")?;
        sample.write("build.ninja", &manifest, written)?;
        let log = std::mem::take(&mut sample.log);
        sample.write(".ninja_log", &log, written)
    }

    fn source(&self, path: &str) -> Outcome<()> {
        self.write(path, "", self.written)
    }

    /// An output, and the line that ninja would have left about it.
    fn output(&mut self, path: &str, command: &str) -> Outcome<()> {
        let built = self.written + Duration::from_secs(60);
        self.write(path, "", built)?;
        let mtime = built.duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
        let hash = NinjaVersion::V1_13.hash_command(command.as_bytes());
        writeln!(self.log, "0\t1\t{mtime}\t{path}\t{hash:x}")?;
        Ok(())
    }

    fn write(&self, path: &str, content: &str, time: SystemTime) -> Outcome<()> {
        let full = self.dir.join(path);
        fs::create_dir_all(full.parent().ok_or("a file has a directory")?)?;
        fs::write(&full, content)?;
        set_time(&full, time)
    }
}

fn objects(library: &str) -> String {
    let ours = SOURCES.iter().filter(|(_, of, _)| *of == library);
    ours.map(|(name, ..)| format!("obj/{name}.o")).collect::<Vec<_>>().join(" ")
}

fn set_time(path: &Path, time: SystemTime) -> Outcome<()> {
    File::options().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))?;
    Ok(())
}
