//! How a tree is served: what the kernel asks, and what it is told.

use crate::counts::Asked;
use crate::late::Late;
use crate::tree::{ROOT, Tree, What};
use fuser::{
    AccessFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, Request,
};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How a tree is served.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// How long each answer takes.
    pub latency: Duration,
    /// Whether names come with attributes when a directory is read.
    pub plus: Plus,
    /// For how long the kernel may keep what it was told.
    pub kept: Duration,
    /// Whether the kernel may keep that a name is missing, too.
    pub keeps_missing: bool,
    /// Which names are the same.
    pub names: Names,
    /// Whether the kernel asks for more than one thing of one directory at once.
    pub asks_at_once: bool,
    /// Whether the kernel goes by permissions; otherwise nobody does.
    pub asks_kernel: bool,
}

/// Whether names come with attributes when a directory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plus {
    /// Never.
    Never,
    /// When the kernel thinks that somebody will want them: always for the first names.
    Sometimes,
    /// Always.
    Always,
}

/// Which names are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Those with the same bytes.
    Exact,
    /// Also those that differ in the case of ASCII letters.
    FoldCase,
    /// Also those that differ in dots and spaces at the end; and `LONGNA~1` is a name of what begins so.
    AsWindows,
}

impl Default for Habits {
    /// A good server a millisecond away.
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(1),
            plus: Plus::Sometimes,
            kept: Duration::from_secs(3600),
            keeps_missing: false,
            names: Names::Exact,
            asks_at_once: true,
            asks_kernel: false,
        }
    }
}

impl Names {
    fn are_same(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Self::Exact => a == b,
            Self::FoldCase => a.eq_ignore_ascii_case(b),
            Self::AsWindows => {
                let (a, b) = (without_end(a), without_end(b));
                a.eq_ignore_ascii_case(b) || is_short(a, b)
            }
        }
    }
}

fn without_end(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| !b". ".contains(byte)).map_or(0, |at| at + 1);
    &name[..end]
}

/// Whether `short` is the short name of `long`, as far as tests need them.
fn is_short(short: &[u8], long: &[u8]) -> bool {
    short.len() == 8
        && long.len() > 8
        && short.ends_with(b"~1")
        && short[..6].eq_ignore_ascii_case(&long[..6])
}

/// What the kernel talks to.
pub(crate) struct Served {
    pub(crate) late: Arc<Late>,
    pub(crate) habits: Habits,
}

impl Served {
    fn later(&self, kind: Asked, answer: impl FnOnce(&Tree) + Send + 'static) {
        self.late.take(kind, self.habits.latency, answer);
    }
}

fn number(inode: INodeNo) -> usize {
    usize::try_from(inode.0 - 1).unwrap_or(usize::MAX)
}

fn inode(number: usize) -> INodeNo {
    INodeNo(number as u64 + 1)
}

fn errno(errno: i32) -> Errno {
    Errno::from_i32(errno)
}

fn time(nanoseconds: i64) -> SystemTime {
    let since = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since }
}

fn attributes(tree: &Tree, at: usize) -> Option<FileAttr> {
    let node = tree.node(at)?;
    let (kind, size) = match &node.what {
        What::File(content) => (FileType::RegularFile, content.len()),
        What::Directory(_) => (FileType::Directory, 4096),
        What::Link(to) => (FileType::Symlink, to.len()),
    };
    Some(FileAttr {
        ino: inode(at),
        size: size as u64,
        blocks: 0,
        atime: SystemTime::UNIX_EPOCH,
        mtime: time(node.mtime),
        ctime: time(node.change),
        crtime: SystemTime::UNIX_EPOCH,
        kind,
        perm: node.mode,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    })
}

fn look_up(tree: &Tree, parent: usize, name: &[u8], names: Names) -> Option<usize> {
    let as_it_is = || tree.child(parent, name);
    let otherwise = || tree.children(parent).find(|(child, _)| names.are_same(name, child)).map(|(_, at)| at);
    as_it_is().or_else(|| (names != Names::Exact).then(otherwise).flatten())
}

/// More names than any answer has room for.
const MORE_THAN_ENOUGH: usize = 10_000;

/// The names that a directory tells from a position on, each with the next position and its node; and how it goes on
/// from there: an error, if there is nothing left but trouble.
fn entries(tree: &Tree, at: usize, from: usize) -> Result<Vec<(usize, Vec<u8>, usize)>, i32> {
    if tree.node(at).is_some_and(|node| node.is_endless) {
        return Ok((from..from + MORE_THAN_ENOUGH).map(|place| (place + 1, b".".to_vec(), at)).collect());
    }
    let dots = [(&b"."[..], at), (b"..", ROOT)];
    let listed = tree.children(at).filter(|&(_, child)| tree.node(child).is_some_and(|node| node.is_listed));
    let all = dots.into_iter().chain(listed).enumerate().skip(from);
    let all = all.map(|(place, (name, child))| (place + 1, name.to_vec(), child));
    match tree.node(at).and_then(|node| node.trouble) {
        Some((names, errno)) if from >= names => Err(errno),
        Some((names, _)) => Ok(all.take(names - from).collect()),
        None => Ok(all.take(MORE_THAN_ENOUGH).collect()),
    }
}

impl Filesystem for Served {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let mut wanted = InitFlags::empty();
        if self.habits.plus != Plus::Never {
            wanted |= InitFlags::FUSE_DO_READDIRPLUS;
        }
        if self.habits.plus == Plus::Sometimes {
            wanted |= InitFlags::FUSE_READDIRPLUS_AUTO;
        }
        if self.habits.asks_at_once {
            wanted |= InitFlags::FUSE_PARALLEL_DIROPS;
        }
        config
            .add_capabilities(wanted)
            .map_err(|lacking| io::Error::other(format!("the kernel has no {lacking:?}")))
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let (Habits { kept, keeps_missing, names, .. }, name) = (self.habits, name.as_bytes().to_vec());
        self.later(Asked::Lookup, move |tree| {
            let found = look_up(tree, number(parent), &name, names);
            match found.and_then(|at| attributes(tree, at)) {
                Some(attributes) => reply.entry(&kept, &attributes, Generation(0)),
                None if keeps_missing => {
                    let mut nothing = attributes(tree, ROOT).expect("a root");
                    nothing.ino = INodeNo(0);
                    reply.entry(&kept, &nothing, Generation(0));
                }
                None => reply.error(Errno::ENOENT),
            }
        });
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let kept = self.habits.kept;
        self.later(Asked::Attributes, move |tree| match attributes(tree, number(ino)) {
            Some(attributes) => reply.attr(&kept, &attributes),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        self.later(Asked::Link, move |tree| match tree.node(number(ino)).map(|node| &node.what) {
            Some(What::Link(to)) => reply.data(to),
            _ => reply.error(Errno::EINVAL),
        });
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.later(Asked::Open, move |tree| match tree.node(number(ino)) {
            Some(_) => reply.opened(FileHandle(0), FopenFlags::empty()),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.later(Asked::Read, move |tree| match tree.node(number(ino)).map(|node| &node.what) {
            Some(What::File(content)) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
                let end = content.len().min(start + size as usize);
                reply.data(&content[start..end]);
            }
            _ => reply.error(Errno::EINVAL),
        });
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.later(Asked::OpenDirectory, move |tree| match tree.node(number(ino)).map(|node| node.trouble) {
            None => reply.error(Errno::ENOENT),
            Some(Some((0, trouble))) => reply.error(errno(trouble)),
            Some(_) => reply.opened(FileHandle(0), FopenFlags::empty()),
        });
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        self.later(Asked::Names, move |tree| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            match entries(tree, number(ino), from) {
                Err(trouble) => reply.error(errno(trouble)),
                Ok(entries) => {
                    for (next, name, child) in entries {
                        let kind = attributes(tree, child).map_or(FileType::RegularFile, |found| found.kind);
                        if reply.add(inode(child), next as u64, kind, OsStr::from_bytes(&name)) {
                            break;
                        }
                    }
                    reply.ok();
                }
            }
        });
    }

    fn readdirplus(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let kept = self.habits.kept;
        self.later(Asked::NamesAndAttributes, move |tree| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            match entries(tree, number(ino), from) {
                Err(trouble) => reply.error(errno(trouble)),
                Ok(entries) => {
                    for (next, name, child) in entries {
                        let Some(found) = attributes(tree, child) else { continue };
                        let name = OsStr::from_bytes(&name);
                        if reply.add(inode(child), next as u64, name, &kept, &found, Generation(0)) {
                            break;
                        }
                    }
                    reply.ok();
                }
            }
        });
    }

    fn releasedir(&self, _: &Request, _: INodeNo, _: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.later(Asked::CloseDirectory, move |_| reply.ok());
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.later(Asked::Other, move |_| reply.ok());
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.later(Asked::Other, move |_| reply.ok());
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        self.later(Asked::Other, move |_| reply.ok());
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.later(Asked::Other, move |_| reply.statfs(0, 0, 0, 0, 0, 512, 255, 0));
    }
}
