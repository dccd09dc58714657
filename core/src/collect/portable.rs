//! The standard library alone: one lookup by full path per file. The fallback where there is nothing
//! better, and the oracle that every other collector must equal.

use super::{Disk, Kind, Listing, OpenFile, hand_on};
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Stat};
use std::fs::{File, FileType, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The disk below a base directory.
pub struct PortableDisk {
    base: PathBuf,
}

impl PortableDisk {
    /// Takes `base` as the place that relative paths start from.
    ///
    /// # Errors
    /// When it is not a directory.
    pub fn new(base: &Path) -> std::io::Result<Self> {
        let base = std::fs::canonicalize(base)?;
        if !base.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self { base })
    }

    fn full(&self, directory: &[u8], name: &[u8]) -> PathBuf {
        let separator: &[u8] = if directory.is_empty() || directory == b"/" { b"" } else { b"/" };
        self.base.join(os_path(&[directory, separator, name].concat()))
    }
}

impl Disk for PortableDisk {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        for (name, stat) in visit.names().zip(stats) {
            counts.stats += 1;
            *stat = match std::fs::metadata(self.full(visit.directory(), name)) {
                Ok(found) => Stat::Present(meta(&found)),
                Err(error) => match (error.kind(), error.raw_os_error()) {
                    (ErrorKind::NotFound | ErrorKind::NotADirectory, _) => Stat::Missing,
                    (_, errno) => Stat::Unreadable(errno.unwrap_or(0)),
                },
            };
        }
        true
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        let mut file = File::open(self.base.join(os_path(path)))?;
        let stamp = meta(&file.metadata()?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        let mut file = File::open(self.base.join(os_path(path)))?;
        let stamp = meta(&file.metadata()?);
        hand_on(&mut file, sink)?;
        Ok(stamp)
    }

    fn open<'a>(&'a self, path: &[u8]) -> std::io::Result<Box<dyn OpenFile + 'a>> {
        let path = self.base.join(os_path(path));
        // Opening what is neither could wait for ever, and a directory cannot be opened everywhere.
        let file =
            if std::fs::metadata(&path)?.is_file() { Some(Mutex::new(File::open(&path)?)) } else { None };
        Ok(Box::new(PortableFile { path, file }))
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> std::io::Result<()> {
        list(&self.base.join(os_path(path)), listing)
    }

    #[cfg(not(unix))]
    fn fields(&self) -> crate::snapshot::Fields {
        crate::snapshot::Fields { ctime: false, inode: false, device: false }
    }

    fn kind(&self, path: &[u8]) -> std::io::Result<Kind> {
        Ok(kind(std::fs::metadata(self.base.join(os_path(path)))?.file_type()))
    }
}

struct PortableFile {
    path: PathBuf,
    /// `None` for what is no file.
    file: Option<Mutex<File>>,
}

impl OpenFile for PortableFile {
    fn look(&self) -> std::io::Result<(Kind, Meta)> {
        let found = match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).metadata()?,
            None => std::fs::metadata(&self.path)?,
        };
        Ok((kind(found.file_type()), meta(&found)))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(file) = &self.file else { return Err(ErrorKind::InvalidInput.into()) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        let mut done = 0;
        while done < buffer.len() {
            match file.read(&mut buffer[done..]) {
                Ok(0) => break,
                Ok(length) => done += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn list(&self, listing: &mut Listing) -> std::io::Result<()> {
        list(&self.path, listing)
    }
}

fn list(path: &Path, listing: &mut Listing) -> std::io::Result<()> {
    listing.clear();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let kind = match entry.file_type() {
            Ok(found) => kind(found),
            // It is gone already.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => Kind::Unknown,
        };
        listing.push(entry.file_name().as_encoded_bytes(), kind);
    }
    Ok(())
}

fn kind(found: FileType) -> Kind {
    if found.is_file() {
        Kind::File
    } else if found.is_dir() {
        Kind::Directory
    } else if found.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

#[cfg(unix)]
fn meta(found: &Metadata) -> Meta {
    use std::os::unix::fs::MetadataExt;
    Meta {
        mtime: found.modified().map_or(0, Meta::mtime_at),
        ctime: Meta::mtime_from(found.ctime(), found.ctime_nsec()),
        size: found.len(),
        inode: found.ino(),
        device: found.dev(),
    }
}

#[cfg(not(unix))]
fn meta(found: &Metadata) -> Meta {
    Meta { mtime: found.modified().map_or(0, Meta::mtime_at), size: found.len(), ..Meta::default() }
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end]);
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    // What is not UTF-8 names no file, and must not be taken for one with another name: nor does this.
    crate::os_path::path(bytes).map_or_else(|_| "\0".into(), std::borrow::Cow::into_owned)
}
