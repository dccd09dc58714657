//! Other people's file systems, behind FUSE and not: folding case or not, with times of 1 ns, 100 ns, 1 s and 2 s.
//!
//! They are made in files and mounted as loop devices, which takes root and programs that have to be installed: `tests/run
//! --long` does that.
#![cfg(target_os = "linux")]

mod look;

use look::{difference, look, table, unix};
use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use upcheck::Stat;
use upcheck_tests::aloud;
use upcheck_tests::space::Space;
use upcheck_tests::tools::run_tool;

/// A second, in nanoseconds.
const S: i64 = 1_000_000_000;

/// What a file system does.
struct Other {
    name: &'static str,
    /// Makes it on the device that is put in the place of `{}`; nothing for one that shows another directory.
    make: &'static str,
    /// Mounts the first `{}` at the second one.
    mount: &'static str,
    folds_case: bool,
    /// What its times are multiples of, in nanoseconds.
    tick: i64,
}

const OTHERS: [Other; 5] = [
    Other { name: "bindfs", make: "", mount: "bindfs {} {}", folds_case: false, tick: 1 },
    Other { name: "ntfs-3g", make: "mkntfs -q -F {}", mount: "ntfs-3g {} {}", folds_case: false, tick: 100 },
    Other {
        name: "lowntfs-3g",
        make: "mkntfs -q -F {}",
        mount: "lowntfs-3g -o ignore_case {} {}",
        folds_case: true,
        tick: 100,
    },
    Other {
        name: "exfat-fuse",
        make: "mkfs.exfat {}",
        mount: "mount.exfat-fuse {} {}",
        folds_case: true,
        tick: 2 * S,
    },
    Other {
        name: "ext4 with small inodes",
        make: "mkfs.ext4 -q -F -I 128 {}",
        mount: "mount -t ext4 {} {}",
        folds_case: false,
        tick: S,
    },
];

/// Runs a command whose arguments hold no spaces; `{}` are put in. What it said, or why not.
fn run(command: &str, put_in: &[&Path]) -> Result<String, String> {
    let mut put_in = put_in.iter();
    let mut words = command.split(' ').map(|word| match word {
        "{}" => put_in.next().expect("enough to put in").as_os_str().to_owned(),
        word => word.into(),
    });
    let output = Command::new(words.next().expect("a program"))
        .args(words)
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .map_err(|error| format!("{command}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A device, or a directory, that can be mounted again and again.
struct Device<'a> {
    other: &'a Other,
    place: PathBuf,
    directory: PathBuf,
}

impl<'a> Device<'a> {
    fn new(other: &'a Other, space: &Space) -> Result<Self, String> {
        let directory = space.path().join("mounted");
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let place = space.path().join("place");
        if other.make.is_empty() {
            std::fs::create_dir(&place).map_err(|error| error.to_string())?;
            return Ok(Self { other, place, directory });
        }
        let image = std::fs::File::create(&place).map_err(|error| error.to_string())?;
        image.set_len(64 << 20).map_err(|error| error.to_string())?;
        let place = PathBuf::from(run("losetup --find --show {}", &[&place])?);
        let device = Self { other, place, directory };
        run(other.make, &[&device.place])?;
        Ok(device)
    }

    /// While it is mounted, with nothing known of it.
    fn mounted<T>(&self, action: impl FnOnce(&Path) -> T) -> Result<T, String> {
        struct Mounted<'a>(&'a Path);
        impl Drop for Mounted<'_> {
            fn drop(&mut self) {
                if let Err(error) = run("umount {}", &[self.0]) {
                    aloud::progress(&error);
                }
            }
        }
        run(self.other.mount, &[&self.place, &self.directory])?;
        let _mounted = Mounted(&self.directory);
        Ok(action(&self.directory))
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if !self.other.make.is_empty()
            && let Err(error) = run("losetup --detach {}", &[&self.place])
        {
            aloud::progress(&error);
        }
    }
}

fn time(n: i64) -> i64 {
    1_600_000_000 * S + n * 7_123_456_789
}

fn check(other: &Other, believes: bool) -> Result<u64, String> {
    let space = Space::new();
    let device = Device::new(other, &space)?;
    let paths: Vec<_> = (0..120).map(|n| format!("Dir{}/Some File {n}.h", n / 40)).collect();
    let plant = |base: &Path| {
        for (path, n) in paths.iter().zip(0..) {
            let path = base.join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(&path, "text").expect("a file");
            // Some heed only those who set both.
            let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(time(n).unsigned_abs());
            let times = FileTimes::new().set_modified(time).set_accessed(time);
            File::open(&path).and_then(|file| file.set_times(times)).expect("a time that can be set");
        }
    };
    match other.make {
        "" => plant(&device.place),
        _ => device.mounted(plant)?,
    }
    let otherwise: Vec<_> = paths.iter().map(|path| path.to_uppercase()).collect();
    let missing: Vec<_> = (0..20).map(|n| format!("Dir1/none{n}")).collect();
    let odd = ["Dir1/Some File 41.h.", "Dir1/Some File 41.h ", "Dir1/SOMEFI~1.H", "Dir1/caf\u{e9}"]
        .map(String::from);
    let all = [&paths[..], &otherwise, &missing, &odd].concat();
    let files = table(&all.iter().map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>());
    let stats = device.mounted(|base| {
        let disk = unix(base);
        let found = look(&if believes { disk.believing() } else { disk }, &files, 0);
        assert_eq!(difference(base, &files, &found), None, "{}", other.name);
        (files.ids().map(|file| found.stat(file)).collect::<Vec<_>>(), found.counts().listings)
    })?;
    for (stat, n) in stats.0.iter().zip(0..).take(paths.len()) {
        let Stat::Present(meta) = stat else { panic!("{}: file {n} is {stat:?}", other.name) };
        let (early, late) = (time(n) - (other.tick - 1), time(n));
        assert!((early..=late).contains(&meta.mtime), "{}: {} for {late}", other.name, meta.mtime);
    }
    let otherwise = &stats.0[paths.len()..2 * paths.len()];
    assert!(
        otherwise.iter().all(|stat| matches!(stat, Stat::Present(_)) == other.folds_case),
        "{}",
        other.name
    );
    assert!(stats.0[2 * paths.len()..][..missing.len()].iter().all(|stat| *stat == Stat::Missing));
    Ok(stats.1)
}

#[test]
#[ignore = "long: installs file systems and mounts them"]
fn other_file_systems_are_answered_as_one_by_one() {
    let _ = run_tool("get-fuse-disks", "");
    for other in &OTHERS {
        for believes in [false, true] {
            match check(other, believes) {
                Ok(listings) => aloud::progress(&format!("{}: {listings} listings", other.name)),
                Err(error) => aloud::not_tested(&error),
            }
        }
    }
}
