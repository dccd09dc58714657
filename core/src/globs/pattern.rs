//! A pattern: read, cut into alternatives without braces, and those into parts between slashes, and matched with paths.

use std::fmt;

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobFault {
    /// It is empty.
    Empty,
    /// It ends with `/`, `.` or `..`, so only a directory could match, and directories do not.
    Directory,
    /// A `..` comes after a part with wildcards.
    ParentOfWildcard,
    /// A `[` without its `]`.
    OpenClass,
    /// A `/` between `[` and `]`, or a `[` with bytes that are not UTF-8.
    BadClass,
    /// A range like `z-a`.
    BackwardRange,
    /// A `{` without its `}`.
    OpenBrace,
    /// A `}` without its `{`.
    StrayBrace,
    /// More alternatives than [`MOST_ALTERNATIVES`], or too many braces in one another.
    TooManyAlternatives,
    /// A `\` with nothing after it.
    StrayEscape,
    /// A NUL, which no path has.
    Nul,
}

/// The most alternatives that the braces of a pattern may stand for.
pub const MOST_ALTERNATIVES: usize = 1000;

const DEEPEST_BRACE: usize = 32;

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
    Wild(Vec<Token>),
    /// `**`: any number of directories.
    Recursive,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Byte(u8),
    Slash,
    AnyChar,
    Star,
    Class { is_negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// The alternatives that a pattern stands for.
    pub(super) fn parse(text: &[u8]) -> Result<Vec<Self>, GlobFault> {
        if text.is_empty() {
            return Err(GlobFault::Empty);
        }
        if text.contains(&0) {
            return Err(GlobFault::Nul);
        }
        let mut reader = Reader { text, at: 0, depth: 0 };
        let alternatives = reader.sequence()?;
        alternatives.iter().map(|tokens| Self::new(tokens)).collect()
    }

    fn new(tokens: &[Token]) -> Result<Self, GlobFault> {
        let mut parts: Vec<Part> = Vec::new();
        let mut is_directory = false;
        for tokens in tokens.split(|token| *token == Token::Slash) {
            let part = Part::new(tokens);
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
            parts.push(Part::Wild(vec![Token::Star]));
        }
        Ok(Self { is_absolute: tokens.first() == Some(&Token::Slash), parts })
    }

    /// Whether it matches a canonical path, cut into names by [`names`].
    pub(super) fn matches(&self, is_absolute: bool, names: &[&[u8]]) -> bool {
        self.is_absolute == is_absolute && match_parts(&self.parts, names)
    }

    /// What a directory has to match so that the pattern matches everything beneath it, but for hidden names; `None`
    /// where that is not what the pattern says.
    pub(super) fn covered(&self) -> Option<&[Part]> {
        match self.parts.as_slice() {
            [covered @ .., Part::Recursive, Part::Wild(last)] if last == &[Token::Star] => Some(covered),
            _ => None,
        }
    }
}

impl Part {
    fn new(tokens: &[Token]) -> Self {
        if tokens == [Token::Star, Token::Star] {
            return Self::Recursive;
        }
        let byte = |token: &Token| match token {
            Token::Byte(byte) => Some(*byte),
            _ => None,
        };
        match tokens.iter().map(byte).collect() {
            Some(name) => Self::Literal(name),
            None => {
                let mut tokens = tokens.to_vec();
                tokens.dedup_by(|a, b| *a == Token::Star && *b == Token::Star);
                Self::Wild(tokens)
            }
        }
    }

    /// Whether it only matches names that begin with a dot; otherwise it only matches others.
    pub(super) fn is_hidden(&self) -> bool {
        match self {
            Self::Literal(name) => name.starts_with(b"."),
            Self::Wild(tokens) => tokens.first() == Some(&Token::Byte(b'.')),
            Self::Recursive => false,
        }
    }

    /// Whether it matches a name; [`Part::Recursive`], whether that is one of the directories it stands for.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            _ if self.is_hidden() != name.starts_with(b".") => false,
            Self::Wild(tokens) => match_name(tokens, name),
            Self::Recursive => true,
        }
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

/// The same for the characters of a name.
fn match_name(tokens: &[Token], name: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    loop {
        let rest = &name[at..];
        let taken = match tokens.get(token) {
            Some(Token::Star) => {
                last = Some((token, at));
                token += 1;
                continue;
            }
            None if rest.is_empty() => return true,
            None | Some(Token::Slash) => None,
            Some(_) if rest.is_empty() => None,
            Some(Token::Byte(byte)) => (rest[0] == *byte).then_some(1),
            Some(Token::AnyChar) => Some(first_char(rest).1),
            Some(Token::Class { is_negated, ranges }) => {
                let (found, length) = first_char(rest);
                let is_in = found.is_some_and(|c| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)));
                (is_in != *is_negated).then_some(length)
            }
        };
        match (taken, last) {
            (Some(length), _) => (token, at) = (token + 1, at + length),
            (None, Some((star, taken))) if taken < name.len() => {
                let taken = taken + first_char(&name[taken..]).1;
                last = Some((star, taken));
                (token, at) = (star + 1, taken);
            }
            _ => return false,
        }
    }
}

/// The first character, and how many bytes it has; a byte that belongs to none stands alone.
fn first_char(bytes: &[u8]) -> (Option<char>, usize) {
    for length in 1..=bytes.len().min(4) {
        if let Ok(text) = std::str::from_utf8(&bytes[..length]) {
            return (text.chars().next(), length);
        }
    }
    (None, 1)
}

/// Reads a pattern from left to right.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// How many braces are open.
    depth: usize,
}

impl Reader<'_> {
    /// All alternatives up to the end, or up to the `,` or `}` of the brace that is open.
    fn sequence(&mut self) -> Result<Vec<Vec<Token>>, GlobFault> {
        let mut all = vec![Vec::new()];
        while let Some(&byte) = self.text.get(self.at) {
            if self.depth > 0 && (byte == b',' || byte == b'}') {
                break;
            }
            self.at += 1;
            let token = match byte {
                b'{' => {
                    all = product(&all, &self.braces()?)?;
                    continue;
                }
                b'}' => return Err(GlobFault::StrayBrace),
                b'*' => Token::Star,
                b'?' => Token::AnyChar,
                b'/' => Token::Slash,
                b'[' => self.class()?,
                b'\\' => {
                    let escaped = *self.text.get(self.at).ok_or(GlobFault::StrayEscape)?;
                    self.at += 1;
                    if escaped == b'/' { Token::Slash } else { Token::Byte(escaped) }
                }
                byte => Token::Byte(byte),
            };
            for tokens in &mut all {
                tokens.push(token.clone());
            }
        }
        Ok(all)
    }

    /// What stands between braces, after the first.
    fn braces(&mut self) -> Result<Vec<Vec<Token>>, GlobFault> {
        if self.depth == DEEPEST_BRACE {
            return Err(GlobFault::TooManyAlternatives);
        }
        self.depth += 1;
        let mut all = Vec::new();
        loop {
            all.append(&mut self.sequence()?);
            if all.len() > MOST_ALTERNATIVES {
                return Err(GlobFault::TooManyAlternatives);
            }
            let end = *self.text.get(self.at).ok_or(GlobFault::OpenBrace)?;
            self.at += 1;
            if end == b'}' {
                self.depth -= 1;
                return Ok(all);
            }
        }
    }

    /// What stands between brackets, after the first.
    fn class(&mut self) -> Result<Token, GlobFault> {
        let is_negated = matches!(self.text.get(self.at), Some(b'!' | b'^'));
        self.at += usize::from(is_negated);
        let mut ranges = Vec::new();
        // A `]` that comes first stands for itself.
        while self.text.get(self.at) != Some(&b']') || ranges.is_empty() {
            let from = self.class_char()?;
            let is_range = self.text.get(self.at) == Some(&b'-')
                && self.text.get(self.at + 1).is_some_and(|byte| *byte != b']');
            self.at += usize::from(is_range);
            let to = if is_range { self.class_char()? } else { from };
            if to < from {
                return Err(GlobFault::BackwardRange);
            }
            ranges.push((from, to));
        }
        self.at += 1;
        Ok(Token::Class { is_negated, ranges })
    }

    fn class_char(&mut self) -> Result<char, GlobFault> {
        let is_escaped = self.text.get(self.at) == Some(&b'\\');
        self.at += usize::from(is_escaped);
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty()).ok_or(GlobFault::OpenClass)?;
        let (found, length) = first_char(rest);
        self.at += length;
        found.filter(|found| *found != '/').ok_or(GlobFault::BadClass)
    }
}

/// Each of `heads` before each of `tails`.
fn product(heads: &[Vec<Token>], tails: &[Vec<Token>]) -> Result<Vec<Vec<Token>>, GlobFault> {
    if heads.len().saturating_mul(tails.len()) > MOST_ALTERNATIVES {
        return Err(GlobFault::TooManyAlternatives);
    }
    let with =
        |head: &Vec<Token>| tails.iter().map(move |tail| [&head[..], tail].concat()).collect::<Vec<_>>();
    Ok(heads.iter().flat_map(with).collect())
}

impl fmt::Display for GlobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Directory => "it ends like a directory, and only files match",
            Self::ParentOfWildcard => "`..` after a wildcard",
            Self::OpenClass => "`[` without `]`",
            Self::BadClass => "`/`, or bytes that are not UTF-8, between `[` and `]`",
            Self::BackwardRange => "a range that ends before it begins",
            Self::OpenBrace => "`{` without `}`",
            Self::StrayBrace => "`}` without `{`",
            Self::TooManyAlternatives => "more than 1000 alternatives, or too many braces in one another",
            Self::StrayEscape => "`\\` at its end",
            Self::Nul => "a NUL",
        })
    }
}
