//! Whatever is done to files, and told in whatever words: every answer is that of the disk, and nobody is blamed.
//! `UPCHECK_CASES` says how many things are done (3,000), `UPCHECK_SEED` which (1).

use crate::World;
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};
use upcheck_tests::aloud::progress;
use upcheck_watch::told::{Basis, Said};

const DIRECTORIES: [&str; 7] = ["", "d0", "d1", "d0/e", "d0/e/f", "../side", "../side/g"];
const NAMES: [&str; 5] = ["a", "b", "C", "d0", "e"];
/// So many things are done between two questions, at most.
const AT_ONCE: u64 = 8;

/// Random numbers: xorshift.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..10).for_each(|_| _ = dice.roll(2));
        dice
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.roll(all.len() as u64)).expect("a small number")]
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Where a path really is, as the system would tell it: its directory without links.
fn real(world: &World, path: &str) -> Option<String> {
    let full = world.full(path);
    let directory = full.parent()?.canonicalize().ok()?;
    Some(directory.join(full.file_name()?).into_os_string().into_string().expect("a text"))
}

/// Does something, and says to which paths. Nothing, where it could not be done.
fn act(world: &World, dice: &mut Dice) -> Vec<String> {
    let path = join(dice.of(&DIRECTORIES), dice.of(&NAMES));
    let other = join(dice.of(&DIRECTORIES), dice.of(&NAMES));
    let directory = dice.of(&DIRECTORIES[1..]);
    let (full, to) = (world.full(&path), world.full(&other));
    let content = "x".repeat(usize::try_from(dice.roll(4)).expect("a small number"));
    // Before it is done: afterwards the way may be gone.
    let places = |paths: &[&str]| paths.iter().filter_map(|path| real(world, path)).collect::<Vec<_>>();
    let (one, both, whole) = (places(&[&path]), places(&[&path, &other]), places(&[directory]));
    // A name that is given up, and where the link that stands there leads, which a write follows.
    let leads = full.canonicalize().map(|path| path.into_os_string().into_string().expect("a text"));
    let with_target = [&one[..], &leads.into_iter().collect::<Vec<_>>()].concat();
    let done =
        |result: std::io::Result<()>, told: Vec<String>| if result.is_ok() { told } else { Vec::new() };
    match dice.roll(14) {
        0..=3 if full.is_symlink() && !full.exists() => Vec::new(),
        0..=3 => done(fs::write(&full, &content), with_target),
        4 => done(fs::remove_file(&full), one),
        5 => done(fs::rename(&full, &to), both),
        6 => {
            let new = world.full("new");
            fs::write(&new, &content).expect("a file");
            done(fs::rename(new, &full), one)
        }
        // Names of one file: both may have changed.
        7 => done(fs::hard_link(&full, &to), both),
        8 => {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(dice.roll(3) * 1_000);
            let set = |file: File| file.set_times(FileTimes::new().set_modified(time));
            done(File::open(&full).and_then(set), with_target)
        }
        9 => {
            let told = if full.symlink_metadata().is_ok() { Vec::new() } else { one };
            let target =
                [other.as_str(), "d0", "../side", "nowhere"][usize::try_from(dice.roll(4)).expect("small")];
            done(std::os::unix::fs::symlink(world.full(target), &full), told)
        }
        10 => {
            let missing = missing(world, directory);
            let made = fs::create_dir_all(world.full(directory));
            done(made, missing.iter().filter_map(|path| real(world, path)).collect())
        }
        11 => done(fs::remove_dir_all(world.full(directory)), whole),
        12 => {
            let new = dice.of(&DIRECTORIES[1..]);
            let both = places(&[directory, new]);
            done(fs::rename(world.full(directory), world.full(new)), both)
        }
        _ => {
            let away = world.full("../away");
            let moved = fs::rename(world.full(directory), &away);
            let told = done(moved, whole);
            let _ = fs::remove_dir_all(&away).or_else(|_| fs::remove_file(&away));
            told
        }
    }
}

/// Of a directory and those above it the ones that are not there.
fn missing(world: &World, directory: &str) -> Vec<String> {
    let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
    let levels = ends.map(|end| &directory[..end]);
    levels.filter(|level| !world.full(level).exists()).map(str::to_owned).collect()
}

/// The same in other words.
fn in_other_words(world: &World, told: String, dice: &mut Dice) -> String {
    let base = format!("{}/", world.base.display());
    match dice.roll(6) {
        0 => told.to_uppercase(),
        1 => Path::new(&told).parent().expect("a directory").display().to_string(),
        2 => told.replacen('/', "//./", 2),
        3 | 4 => told.strip_prefix(&base).map_or_else(|| told.clone(), str::to_owned),
        _ => told,
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn every_answer_is_the_disks_where_all_that_changed_is_told() {
    let (things, seed) = (number("UPCHECK_CASES", 3_000), number("UPCHECK_SEED", 1));
    let wanted: Vec<String> =
        DIRECTORIES.iter().flat_map(|directory| NAMES.map(|name| join(directory, name))).collect();
    let mut world = World::new(&wanted.iter().map(String::as_str).collect::<Vec<_>>());
    let mut dice = Dice::new(seed);
    let (mut n_done, mut n_questions, mut n_told) = (0, 0, 0);
    let (mut of_disk, mut remembered) = (0, 0);
    let mut open: Vec<String> = Vec::new();
    world.say(Said::Everything);
    let mut log = Vec::new();
    let mut tried = 0;
    while tried < things {
        for _ in 0..=dice.roll(AT_ONCE) {
            tried += 1;
            let told = act(&world, &mut dice);
            n_done += u64::from(!told.is_empty());
            log.extend(told.iter().cloned());
            open.extend(told);
        }
        for _ in 0..=dice.roll(2) {
            match dice.roll(40) {
                0 => {
                    world.say(Said::Everything);
                    open.clear();
                }
                // Nothing is said this time.
                1 => {}
                // Something has got lost.
                2 => {
                    open.clear();
                    world.token += 1;
                    world.tell(&[]);
                }
                _ => {
                    let told: Vec<String> =
                        open.drain(..).map(|path| in_other_words(&world, path, &mut dice)).collect();
                    world.tell(&told.iter().map(String::as_str).collect::<Vec<_>>());
                }
            }
            let (snapshot, counts) = world.ask();
            let wrong = String::from_utf8_lossy(world.told.wrong()).into_owned();
            let last = log.iter().rev().take(30).collect::<Vec<_>>();
            assert_eq!(world.differences(&snapshot), [""; 0], "seed {seed}, thing {tried}: {last:#?}");
            assert_eq!(counts.wrong, 0, "seed {seed}, thing {tried}: {wrong}: {last:#?}");
            n_questions += 1;
            n_told += u64::from(world.told.basis() == Basis::Told);
            (of_disk, remembered) = (of_disk + counts.of_disk, remembered + counts.remembered);
        }
    }
    progress(&format!(
        "{tried} things tried, {n_done} done, {n_questions} questions, {n_told} on what was told; \
         {of_disk} names asked for, {remembered} remembered"
    ));
    // Otherwise nothing was shown.
    assert!(n_done * 5 > tried && n_told * 2 > n_questions && remembered * 4 > of_disk);
}
