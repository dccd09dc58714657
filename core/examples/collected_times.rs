//! Prints how all files in a directory look to a collection, a line for each: its time in nanoseconds since 1970, its
//! size, its name. Which files these are is read from standard input; with `alone` nothing is listed, otherwise listings
//! are believed. Tests compare what one platform sees with what another one has written.

use std::io::{Read, Write};
use upcheck::collect::{collect, os_disk};
use upcheck::{FileTable, Plan, Stat};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: collected_times DIRECTORY [alone] <NAMES")?;
    let mut names = Vec::new();
    std::io::stdin().read_to_end(&mut names)?;
    let mut files = FileTable::default();
    for name in names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()) {
        files.intern(name.strip_suffix(b"\r").unwrap_or(name));
    }
    let mut plan = Plan::new(&files, files.ids());
    if std::env::args_os().nth(2).is_some_and(|way| way == "alone") {
        plan = plan.part(|_| true);
    }
    let disk = os_disk(directory.as_ref())?;
    #[cfg(windows)]
    let disk = disk.confirming(upcheck::collect::Confirm::Nothing);
    let snapshot = collect(&disk, &plan, 0);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for file in files.ids() {
        match snapshot.stat(file) {
            Stat::Present(meta) => write!(out, "{} {} ", meta.mtime, meta.size)?,
            other => write!(out, "{other:?} - ")?,
        }
        out.write_all(files.path(file))?;
        writeln!(out)?;
    }
    writeln!(out, "{:?}", snapshot.counts())?;
    Ok(())
}
