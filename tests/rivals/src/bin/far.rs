//! What a file system costs that is far away: the same files looked at by upcheck and one after another, in turn.
//!
//! ```text
//! cargo run --release --package upcheck-rivals --bin far
//! cargo run --release --package upcheck-rivals --bin far -- --latency 200 --directories 50 --rounds 5
//! ```
//!
//! The file system is a process's own, behind FUSE: each request takes a set time, or longer, if the process has more to
//! do than the processor can. It is mounted anew each time, so nothing is known of it in advance; the time is that of
//! looking at the files, without the start of a process or the description of a build.

#![expect(clippy::print_stdout, reason = "a program that prints figures")]

#[cfg(target_os = "linux")]
fn main() -> Result<(), String> {
    far::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> Result<(), String> {
    Err("FUSE is part of Linux".into())
}

#[cfg(target_os = "linux")]
mod far {
    use clap::Parser;
    use std::fmt::Write as _;
    use std::time::{Duration, Instant};
    use upcheck::collect::{Disk, PortableDisk, UnixDisk, collect};
    use upcheck::{FileTable, Plan, Stat};
    use upcheck_fuse::{Habits, Mount, Plus, Tree};

    /// What a file system costs that is far away
    #[derive(Parser)]
    struct Args {
        /// How many directories there are
        #[arg(long, default_value_t = 200)]
        directories: usize,
        /// How many files are in each
        #[arg(long, default_value_t = 100)]
        files: usize,
        /// How long a request takes, in microseconds
        #[arg(long, default_value_t = 1000)]
        latency: u64,
        /// How often each runs
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    }

    /// Names, number of threads, and whether each file is asked for by its path, and nothing else.
    const CONTENDERS: [(&str, usize, bool); 4] = [
        ("upcheck", 0, false),
        ("upcheck, one thread", 1, false),
        ("one after another", 1, true),
        ("one after another, two threads", 2, true),
    ];

    pub(super) fn main() -> Result<(), String> {
        let args = Args::parse();
        let mut tree = Tree::new();
        let mut table = FileTable::default();
        for n in 0..args.directories * args.files {
            let path = format!("src/d{}/file{}.c", n / args.files, n % args.files);
            tree.write(&path, b"", 1);
            table.intern(path.as_bytes());
        }
        let plan = Plan::new(&table, table.ids());
        println!(
            "{} files in {} directories, {} µs a request, {} rounds in turn\n",
            table.len(),
            args.directories,
            args.latency,
            args.rounds
        );
        for (plus, name) in
            [(Plus::Sometimes, "names come with attributes"), (Plus::Never, "names come alone")]
        {
            let habits = Habits { latency: Duration::from_micros(args.latency), plus, ..Habits::default() };
            let mut results = vec![Vec::new(); CONTENDERS.len()];
            for _ in 0..args.rounds {
                for (&(_, threads, is_naive), results) in CONTENDERS.iter().zip(&mut results) {
                    let mount = Mount::new(tree.clone(), habits).ok_or("nothing can be measured here")?;
                    results.push(look(&mount, &table, &plan, threads, is_naive)?);
                }
            }
            println!("{}", table_of(name, results));
        }
        Ok(())
    }

    /// How long it took, and how many requests there were, in all and at once.
    type Result1 = (Duration, u64, u64);

    fn look(
        mount: &Mount,
        files: &FileTable,
        plan: &Plan,
        threads: usize,
        is_naive: bool,
    ) -> Result<Result1, String> {
        let disk: Box<dyn Disk> = match is_naive {
            true => Box::new(PortableDisk::new(mount.path()).map_err(|error| error.to_string())?),
            false => Box::new(UnixDisk::new(mount.path()).map_err(|error| error.to_string())?),
        };
        mount.take_counts();
        let began = Instant::now();
        let found = collect(&*disk, plan, threads);
        let took = began.elapsed();
        let counts = mount.take_counts();
        match files.ids().all(|file| matches!(found.stat(file), Stat::Present(_))) {
            true => Ok((took, counts.all(), counts.at_once)),
            false => Err("not all files were found".into()),
        }
    }

    fn table_of(name: &str, results: Vec<Vec<Result1>>) -> String {
        let mut text = format!("| {name} | ms, min | ms, median | requests | at once | times ours |\n");
        text += "|---|---:|---:|---:|---:|---:|\n";
        let mut ours = None;
        for ((contender, ..), mut results) in CONTENDERS.iter().zip(results) {
            results.sort();
            let [least, median] = [results[0].0, results[results.len() / 2].0];
            let ours = *ours.get_or_insert(median);
            let _ = writeln!(
                text,
                "| {contender} | {:.1} | {:.1} | {} | {} | {:.1} |",
                least.as_secs_f64() * 1e3,
                median.as_secs_f64() * 1e3,
                results[0].1,
                results[0].2,
                median.as_secs_f64() / ours.as_secs_f64()
            );
        }
        text
    }
}
