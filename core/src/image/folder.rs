//! The folder that images are kept in: private to one user, and kept small.

use super::{Image, Tables};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder for images. Nobody but its owner can write into it; else it is not used.
#[derive(Clone, Debug)]
pub struct ImageFolder {
    path: PathBuf,
}

/// Images that were not written for so long are removed.
const MOST_AGE: Duration = Duration::from_secs(60 * 24 * 60 * 60);
/// What somebody began to write so long ago will never be finished.
const MOST_AGE_UNFINISHED: Duration = Duration::from_secs(60 * 60);
/// While there are more bytes than this in the folder, the oldest images are removed.
const MOST_BYTES: u64 = 4 << 30;

const UNFINISHED: &str = "unfinished";

impl ImageFolder {
    /// The folder at `path`, which need not be there: it is made when the first image is written.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The image of that name; `None` if there is none that can be used.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Image> {
        if !is_private_folder(&self.path).ok()? {
            return None;
        }
        let mut options = OpenOptions::new();
        options.read(true);
        do_not_follow(&mut options);
        let file = options.open(self.path.join(name)).ok()?;
        let found = file.metadata().ok()?;
        if !found.is_file() || !is_private(&file, &found).ok()? {
            return None;
        }
        Image::map(&file).ok().flatten()
    }

    /// Puts an image in the place of the one of that name, and removes what is too old or too much. The image's id.
    ///
    /// # Errors
    /// When the folder cannot be made, is not its user's alone, or cannot be written to. What was there is there
    /// then.
    pub fn write(&self, name: &str, tables: &Tables<'_>) -> io::Result<u64> {
        self.make()?;
        // Two processes can be at it at once, and in two containers they can have the same number.
        let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let beside = self.path.join(format!("{name}.{}-{moment}.{UNFINISHED}", std::process::id()));
        let written = write_new(&beside, tables).and_then(|id| {
            fs::rename(&beside, self.path.join(name))?;
            Ok(id)
        });
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        self.prune(SystemTime::now(), MOST_BYTES);
        written
    }

    /// Removes the image of that name, if there is one.
    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }

    fn make(&self) -> io::Result<()> {
        match is_private_folder(&self.path) {
            Ok(true) => return Ok(()),
            Ok(false) => {
                return Err(io::Error::new(
                    ErrorKind::PermissionDenied,
                    "it is not a folder that only its user can write to",
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        make_private(&mut builder);
        builder.create(&self.path)
    }

    /// Nothing depends on it, so nothing that goes wrong here is told.
    fn prune(&self, now: SystemTime, most_bytes: u64) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        let mut images: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in entries.flatten() {
            let Some((name, meta)) = entry.file_name().into_string().ok().zip(entry.metadata().ok()) else {
                continue;
            };
            if !is_ours(&name) || !meta.is_file() {
                continue;
            }
            let modified = meta.modified().unwrap_or(now);
            let age = now.duration_since(modified).unwrap_or_default();
            let most = if name.ends_with(UNFINISHED) { MOST_AGE_UNFINISHED } else { MOST_AGE };
            if age > most {
                let _ = fs::remove_file(entry.path());
            } else {
                images.push((modified, meta.len(), entry.path()));
            }
        }
        for path in too_much(images, most_bytes) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether a file of that name can have been made here: `--image-dir` may name a folder with other things in it.
fn is_ours(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, rest)| {
        stem.len() == 16
            && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
            && (rest.starts_with("image") || rest.starts_with("state"))
    })
}

/// The oldest images, as many as are needed for the others to fit.
fn too_much(mut images: Vec<(SystemTime, u64, PathBuf)>, most: u64) -> Vec<PathBuf> {
    images.sort();
    let mut total: u64 = images.iter().map(|(_, size, _)| size).sum();
    let mut gone = Vec::new();
    // The newest one stays, however large: it was just written.
    for (_, size, path) in images.iter().take(images.len().saturating_sub(2)) {
        if total <= most {
            break;
        }
        total -= size;
        gone.push(path.clone());
    }
    gone
}

fn write_new(path: &Path, tables: &Tables<'_>) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = match options.open(path) {
        // Left behind by a process of the same number that was killed.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    tables.write(&mut file)
}

/// Whether nobody but the user can write there. What is no folder, or a link to one, is not.
#[cfg(unix)]
fn is_private_folder(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    Ok(found.is_dir() && is_its_users(&found))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere asking can fail")]
fn is_private(_: &File, found: &Metadata) -> io::Result<bool> {
    Ok(is_its_users(found))
}

#[cfg(unix)]
fn is_its_users(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

/// Windows tells whose a folder is. What others make there is theirs, and is found to be; whether they may also change what
/// they have not made stands in lists that nobody looks at.
#[cfg(windows)]
fn is_private_folder(path: &Path) -> io::Result<bool> {
    use std::os::windows::fs::OpenOptionsExt;
    use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT};
    // A folder can only be opened with the first of these, and a link itself with the second.
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let folder = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = folder.metadata()?;
    Ok(found.is_dir() && is_private(&folder, &found)?)
}

#[cfg(windows)]
fn is_private(file: &File, _: &Metadata) -> io::Result<bool> {
    super::token::belongs_to_user(file)
}

/// Where nobody can tell, nothing is kept.
#[cfg(not(any(unix, windows)))]
fn is_private_folder(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(not(any(unix, windows)))]
fn is_private(_: &File, _: &Metadata) -> io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn make_private(builder: &mut DirBuilder) {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
}

#[cfg(not(unix))]
fn make_private(_: &mut DirBuilder) {}

#[cfg(unix)]
fn do_not_follow(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
}

#[cfg(windows)]
fn do_not_follow(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt;
    options.custom_flags(windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT);
}

#[cfg(not(any(unix, windows)))]
fn do_not_follow(_: &mut OpenOptions) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::FileTimes;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// A folder with files of these names, ages in days, and sizes.
    fn folder(files: &[(&str, u32, usize)], now: SystemTime) -> (tempfile::TempDir, ImageFolder) {
        let place = tempfile::tempdir().expect("a temporary directory");
        for (name, days, size) in files {
            let path = place.path().join(name);
            fs::write(&path, vec![0; *size]).expect("a file");
            let file = File::options().write(true).open(&path).expect("a file");
            file.set_times(FileTimes::new().set_modified(now - DAY * *days)).expect("a time");
        }
        let folder = ImageFolder::new(place.path().to_owned());
        (place, folder)
    }

    fn left(place: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(place.path()).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_images_go_until_the_others_fit_and_those_just_written_stay() {
        let now = SystemTime::now();
        let all = [
            ("000000000000000a.image", 4, 100),
            ("000000000000000a.state", 3, 10),
            ("000000000000000b.image", 2, 100),
            ("000000000000000b.state", 0, 10),
            ("notes.txt", 100, 1000),
        ];
        let names = all.map(|(name, ..)| name);
        for (most, first) in [(1000, 0), (220, 0), (219, 1), (120, 1), (119, 2), (110, 2), (50, 2), (0, 2)] {
            let (place, folder) = folder(&all, now);
            folder.prune(now, most);
            assert_eq!(left(&place), names[first..], "{most} bytes");
        }
    }

    #[test]
    fn old_images_go_however_few_and_what_is_no_image_stays() {
        let now = SystemTime::now();
        let all = [
            ("0000000000000001.image", 61, 1),
            ("0000000000000002.image", 59, 1),
            ("0000000000000003.image.77.unfinished", 1, 1),
            ("0000000000000004.state.77.unfinished", 0, 1),
            ("0000000000000005.txt", 99, 1),
            ("000000000000006.image", 99, 1),
            ("image", 99, 1),
        ];
        let (place, folder) = folder(&all, now);
        fs::create_dir(place.path().join("0000000000000007.image")).expect("a directory");
        folder.prune(now, MOST_BYTES);
        let expected = [
            "0000000000000002.image",
            "0000000000000004.state.77.unfinished",
            "0000000000000005.txt",
            "0000000000000007.image",
            "000000000000006.image",
            "image",
        ];
        assert_eq!(left(&place), expected);
    }

    #[test]
    fn files_from_the_future_stay() {
        let now = SystemTime::now();
        let (place, folder) = folder(&[("0000000000000001.image", 0, 1)], now);
        folder.prune(now - DAY, MOST_BYTES);
        assert_eq!(left(&place).len(), 1);
    }
}
