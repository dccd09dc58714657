//! A pattern: cut into alternatives without braces, and those into parts between slashes. What a part with wildcards
//! matches is what the globset crate says.

use globset::{Candidate, ErrorKind, GlobBuilder, GlobSet};
use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobFault {
    /// It is empty.
    Empty,
    /// It ends with `/`, `.` or `..`, so only a directory could match, and directories do not.
    Directory,
    /// A `..` comes after a part with wildcards.
    ParentOfWildcard,
    /// A `[` without its `]`, or with a `/` before that.
    OpenClass,
    /// A character beyond ASCII between `[` and `]`.
    BadClass,
    /// A range like `z-a`.
    BackwardRange,
    /// A `{` without its `}`.
    OpenBrace,
    /// A `}` without its `{`.
    StrayBrace,
    /// More alternatives than [`MOST_ALTERNATIVES`], or too many braces in one another.
    TooManyAlternatives,
    /// A `\` with nothing after it, or a `/`.
    StrayEscape,
    /// A NUL, which no path has.
    Nul,
    /// Wildcards beside bytes that are not UTF-8.
    NotUtf8,
    /// A part with wildcards that is far longer than a name can be.
    TooLong,
}

/// The most alternatives that the braces of a pattern may stand for.
pub const MOST_ALTERNATIVES: usize = 1000;

const DEEPEST_BRACE: usize = 32;

/// How many bytes a part with wildcards may have. Names have at most 255, and what globset makes of a part takes up to 500
/// times as much.
const LONGEST_WILD: usize = 1024;

/// One alternative of a pattern: canonical, as paths are, with at least one part. Its last part is never
/// [`Part::Recursive`], and no two of those come in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    pub(super) is_absolute: bool,
    pub(super) parts: Vec<Part>,
}

/// What stands between two slashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Literal(Vec<u8>),
    /// Something with wildcards that matches one name.
    Wild(Wild),
    /// `*`: any one name.
    Any,
    /// `**`: any number of directories.
    Recursive,
}

/// A part with wildcards. Two with the same text are the same.
#[derive(Clone, Debug)]
pub(super) struct Wild {
    text: Arc<str>,
    /// With one glob. Unlike a matcher for one, a set has no regular expression where it can do without (`*.c`).
    set: GlobSet,
}

/// The parts that were compiled so far.
pub(super) type Compiled = HashMap<Arc<str>, Wild, RandomState>;

impl Pattern {
    /// The alternatives that a pattern stands for.
    pub(super) fn parse(text: &[u8], compiled: &mut Compiled) -> Result<Vec<Self>, GlobFault> {
        if text.is_empty() {
            return Err(GlobFault::Empty);
        }
        if text.contains(&0) {
            return Err(GlobFault::Nul);
        }
        let alternatives = Braces { text, at: 0, depth: 0 }.sequence()?;
        alternatives.iter().map(|text| Self::new(text, compiled)).collect()
    }

    fn new(text: &[u8], compiled: &mut Compiled) -> Result<Self, GlobFault> {
        let mut parts: Vec<Part> = Vec::new();
        let mut is_directory = false;
        for text in text.split(|byte| *byte == b'/') {
            let part = Part::new(text, compiled)?;
            is_directory =
                matches!(&part, Part::Literal(name) if [&b""[..], b".", b".."].contains(&&name[..]));
            match &part {
                Part::Literal(name) if name.is_empty() || name == b"." => {}
                Part::Literal(name) if name == b".." => match parts.last() {
                    Some(Part::Literal(last)) if last != b".." => drop(parts.pop()),
                    Some(Part::Literal(_)) | None => parts.push(part),
                    Some(_) => return Err(GlobFault::ParentOfWildcard),
                },
                Part::Recursive if parts.last() == Some(&Part::Recursive) => {}
                _ => parts.push(part),
            }
        }
        if is_directory {
            return Err(GlobFault::Directory);
        }
        if parts.last() == Some(&Part::Recursive) {
            parts.push(Part::Any);
        }
        Ok(Self { is_absolute: text.starts_with(b"/"), parts })
    }

    /// Whether it matches a canonical path, cut into names by [`names`].
    pub(super) fn matches(&self, is_absolute: bool, names: &[&[u8]]) -> bool {
        self.is_absolute == is_absolute && match_parts(&self.parts, names)
    }

    /// What a directory has to match so that the pattern matches everything beneath it, but for hidden names; `None`
    /// where that is not what the pattern says.
    pub(super) fn covered(&self) -> Option<&[Part]> {
        match self.parts.as_slice() {
            [covered @ .., Part::Recursive, Part::Any] => Some(covered),
            _ => None,
        }
    }
}

impl Part {
    fn new(text: &[u8], compiled: &mut Compiled) -> Result<Self, GlobFault> {
        Ok(match (text, literal(text)) {
            (b"**", _) => Self::Recursive,
            (b"*", _) => Self::Any,
            (_, Some(name)) => Self::Literal(name),
            (_, None) => Self::Wild(Wild::new(text, compiled)?),
        })
    }

    /// Whether it only matches names that begin with a dot; otherwise it only matches others.
    pub(super) fn is_hidden(&self) -> bool {
        match self {
            Self::Literal(name) => name.starts_with(b"."),
            Self::Wild(wild) => wild.text.starts_with('.') || wild.text.starts_with(r"\."),
            Self::Any | Self::Recursive => false,
        }
    }

    /// Whether it matches a name; [`Part::Recursive`], whether that is one of the directories it stands for.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            _ if self.is_hidden() != name.starts_with(b".") => false,
            Self::Wild(wild) => wild.set.is_match_candidate(&Candidate::from_bytes(name)),
            Self::Any | Self::Recursive => true,
        }
    }
}

impl Wild {
    fn new(text: &[u8], compiled: &mut Compiled) -> Result<Self, GlobFault> {
        let text = std::str::from_utf8(text).map_err(|_| GlobFault::NotUtf8)?;
        if let Some(wild) = compiled.get(text) {
            return Ok(wild.clone());
        }
        if text.len() > LONGEST_WILD {
            return Err(GlobFault::TooLong);
        }
        // There, a class holds the bytes of its characters: `[é]` would match half an `é`.
        if items(text.as_bytes()).any(|item| item[0] == b'[' && !item.is_ascii()) {
            return Err(GlobFault::BadClass);
        }
        // A name has no separators, so that it does not matter what may match them; globset has shortcuts for `*` if it may.
        let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
        let set = glob.and_then(|glob| GlobSet::new([glob])).map_err(|error| match error.kind() {
            ErrorKind::UnclosedClass => GlobFault::OpenClass,
            ErrorKind::InvalidRange(..) => GlobFault::BackwardRange,
            ErrorKind::UnopenedAlternates => GlobFault::StrayBrace,
            ErrorKind::UnclosedAlternates => GlobFault::OpenBrace,
            ErrorKind::DanglingEscape => GlobFault::StrayEscape,
            _ => GlobFault::TooLong,
        })?;
        let wild = Self { text: text.into(), set };
        compiled.insert(Arc::clone(&wild.text), wild.clone());
        Ok(wild)
    }
}

impl PartialEq for Wild {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Wild {}

impl Hash for Wild {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// The names of a canonical path, and whether it is absolute.
pub(super) fn names(path: &[u8]) -> (bool, Vec<&[u8]>) {
    let rest = path.strip_prefix(b"/");
    let names = rest.unwrap_or(path).split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    (rest.is_some(), names.collect())
}

/// Whether parts match names, one by one. A part either matches hidden names or others, and [`Part::Recursive`] others, so
/// it is enough to let the last [`Part::Recursive`] take one directory more when something does not match: what the ones
/// before it could take instead, it can take as well.
pub(super) fn match_parts(parts: &[Part], names: &[&[u8]]) -> bool {
    let (mut part, mut name) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    loop {
        match parts.get(part) {
            Some(Part::Recursive) => {
                last = Some((part, name));
                part += 1;
                continue;
            }
            Some(one) if names.get(name).is_some_and(|name| one.matches(name)) => {
                (part, name) = (part + 1, name + 1);
                continue;
            }
            None if name == names.len() => return true,
            _ => {}
        }
        match last {
            Some((recursive, taken)) if names.get(taken).is_some_and(|name| !name.starts_with(b".")) => {
                last = Some((recursive, taken + 1));
                (part, name) = (recursive + 1, taken + 1);
            }
            _ => return false,
        }
    }
}

/// A text without what its `\` are for; `None` where it has wildcards, or an `\` at its end.
fn literal(text: &[u8]) -> Option<Vec<u8>> {
    let byte = |item: &[u8]| match item[0] {
        b'*' | b'?' | b'[' => None,
        b'\\' => item.get(1).copied(),
        byte => Some(byte),
    };
    items(text).map(byte).collect()
}

/// What means something together: a class, a `\` and what is after it, or a byte alone.
fn items(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = match text.first()? {
            b'[' => class_length(text),
            b'\\' => text.len().min(2),
            _ => 1,
        };
        text.split_off(..length)
    })
}

/// How long the class is that a text begins with; all of it where it does not end.
fn class_length(text: &[u8]) -> usize {
    // A `]` that comes first stands for itself.
    let first = 1 + usize::from(matches!(text.get(1), Some(b'!' | b'^')));
    let end = text.iter().skip(first + 1).position(|byte| *byte == b']');
    end.map_or(text.len(), |end| first + 1 + end + 1)
}

/// Writes out what braces stand for, from left to right. It is done here and not by globset because an alternative may have
/// slashes and dots, which are not its business, and names without wildcards, which need no listing.
struct Braces<'a> {
    text: &'a [u8],
    at: usize,
    /// How many braces are open.
    depth: usize,
}

impl Braces<'_> {
    /// All alternatives up to the end, or up to the `,` or `}` of the brace that is open.
    fn sequence(&mut self) -> Result<Vec<Vec<u8>>, GlobFault> {
        let mut all = vec![Vec::new()];
        while let Some(item) = items(&self.text[self.at..]).next() {
            match item {
                b"," | b"}" if self.depth > 0 => break,
                b"}" => return Err(GlobFault::StrayBrace),
                b"{" => all = product(&all, &self.braces()?)?,
                item => {
                    self.at += item.len();
                    all.iter_mut().for_each(|text| text.extend_from_slice(item));
                }
            }
        }
        Ok(all)
    }

    /// What stands between braces.
    fn braces(&mut self) -> Result<Vec<Vec<u8>>, GlobFault> {
        if self.depth == DEEPEST_BRACE {
            return Err(GlobFault::TooManyAlternatives);
        }
        self.depth += 1;
        let mut all = Vec::new();
        // At first the `{`, then each `,`.
        while self.text.get(self.at) != Some(&b'}') {
            self.at += 1;
            all.append(&mut self.sequence()?);
            if all.len() > MOST_ALTERNATIVES {
                return Err(GlobFault::TooManyAlternatives);
            }
            if self.at == self.text.len() {
                return Err(GlobFault::OpenBrace);
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(all)
    }
}

/// Each of `heads` before each of `tails`.
fn product(heads: &[Vec<u8>], tails: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, GlobFault> {
    if heads.len().saturating_mul(tails.len()) > MOST_ALTERNATIVES {
        return Err(GlobFault::TooManyAlternatives);
    }
    let with = |head: &Vec<u8>| tails.iter().map(move |tail| [&head[..], tail].concat()).collect::<Vec<_>>();
    Ok(heads.iter().flat_map(with).collect())
}

impl fmt::Display for GlobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Directory => "it ends like a directory, and only files match",
            Self::ParentOfWildcard => "`..` after a wildcard",
            Self::OpenClass => "`[` without `]`, or with `/` before it",
            Self::BadClass => "a character beyond ASCII between `[` and `]`",
            Self::BackwardRange => "a range that ends before it begins",
            Self::OpenBrace => "`{` without `}`",
            Self::StrayBrace => "`}` without `{`",
            Self::TooManyAlternatives => "more than 1000 alternatives, or too many braces in one another",
            Self::StrayEscape => "`\\` at its end, or before `/`",
            Self::Nul => "a NUL",
            Self::NotUtf8 => "wildcards beside bytes that are not UTF-8",
            Self::TooLong => "more than 1024 bytes with wildcards between slashes",
        })
    }
}
