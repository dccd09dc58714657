//! The rules of a makefile that CMake has written.
//!
//! # What CMake writes
//!
//! ```text
//! # comment
//! include some/progress.make
//! VARIABLE = value, perhaps continued \
//! on the next line
//! % : %,v                             switches a built-in rule off; so does .SUFFIXES:
//! a/target.o: a/flags.make            one input a line, or none
//! a/target.o: /src/target.c
//! <tab>command                        belongs to the last target
//! .PHONY : name
//! ```
//!
//! In names `\ ` is a space and `\#` a `#`, an even number of backslashes before them being halved; other backslashes
//! stand for themselves. `$$` is `$` and `$(EQUALS)` is `=`. A name that make reads as something else, because CMake does
//! not know how to write it, is an error: make fails on it, or does what nobody meant.

use super::names::{Name, Names};
use crate::Error;
use memchr::{memchr, memchr3, memrchr};
use std::ops::Range;

/// What a target's commands do with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Recipe {
    /// There are none.
    None,
    /// They say something.
    Message,
    /// They touch it if it is there: another output of the command that makes its only input.
    Touch,
    /// Anything else: a compiler, or what a user wrote.
    Command,
}

/// A target with those of its inputs that stand in one run of lines.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) target: Name,
    pub(super) inputs: Range<Name>,
    pub(super) recipe: Recipe,
    /// From 1.
    pub(super) line: usize,
}

/// What stands in a makefile, in order.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) names: Names,
    pub(super) rules: Vec<Rule>,
    pub(super) phony: Vec<Name>,
    pub(super) includes: Vec<Name>,
}

impl Rules {
    /// Reads a makefile. Cost: linear; one copy of the names.
    pub(super) fn parse(bytes: &[u8], path: &[u8]) -> Result<Self, Error> {
        let mut rules = Self::default();
        let mut lines = Lines { rest: bytes, line: 0 };
        // Whether a command would have a target to belong to.
        let mut open = false;
        while let Some(line) = lines.next() {
            let number = lines.line;
            if line.first() == Some(&b'\t') {
                lines.skip_continued(line);
                let Some(rule) = rules.rules.last_mut().filter(|_| open) else {
                    return Err(error(path, number, "a command without a target"));
                };
                rule.recipe = rule.recipe.max(recipe(line));
                continue;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            open = false;
            if let Some(name) = line.strip_prefix(b"include ") {
                let name = name.strip_prefix(b"$(CMAKE_BINARY_DIR)/").unwrap_or(name);
                let name = unescaped(name).map_err(|what| error(path, number, what))?;
                let name =
                    name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(&name);
                let name = rules.names.push(name);
                rules.includes.push(name);
            } else if is_assignment(line) {
                lines.skip_continued(line);
            } else {
                open = rules.rule(line, number).map_err(|what| error(path, number, what))?;
            }
        }
        Ok(rules)
    }

    /// Reads `target: input`. Whether commands may follow.
    fn rule(&mut self, line: &[u8], number: usize) -> Result<bool, &'static str> {
        let colon = colon(line).ok_or("neither a rule nor anything else that CMake writes")?;
        let (target, input) = (line[..colon].trim_ascii_end(), &line[colon + 1..]);
        let input = trim_start(input);
        match target {
            // What switches built-in rules off, and how make goes about things.
            b".SUFFIXES" | b".DELETE_ON_ERROR" | b".NOTPARALLEL" | b"$(VERBOSE).SILENT" | b"%" => {
                return Ok(false);
            }
            b".PHONY" => {
                let name = unescaped(input)?;
                let name = self.names.push(&name);
                self.phony.push(name);
                return Ok(false);
            }
            b"" => return Err("a rule without a target"),
            _ => {}
        }
        let is_continued = self.rules.last().is_some_and(|rule| {
            rule.recipe == Recipe::None
                && self.names.last().map(|last| last + 1) == Some(rule.inputs.end)
                && self.names.get(rule.target) == target
        });
        if !is_continued {
            let target = unescaped(target)?;
            let same = self.rules.last().filter(|rule| {
                rule.recipe == Recipe::None
                    && self.names.last().map(|last| last + 1) == Some(rule.inputs.end)
                    && *self.names.get(rule.target) == *target
            });
            if same.is_none() {
                let target = self.names.push(&target);
                let end = self.names.len();
                self.rules.push(Rule { target, inputs: end..end, recipe: Recipe::None, line: number });
            }
        }
        if !input.is_empty() {
            let input = unescaped(input)?;
            self.names.push(&input);
            let end = self.names.len();
            if let Some(rule) = self.rules.last_mut() {
                rule.inputs.end = end;
            }
        }
        Ok(true)
    }

    pub(super) fn inputs(&self, rule: &Rule) -> impl Iterator<Item = &[u8]> + use<'_> {
        rule.inputs.clone().map(|name| self.names.get(name))
    }

    pub(super) fn is_phony(&self, target: &[u8]) -> bool {
        self.phony.iter().any(|&name| self.names.get(name) == target)
    }
}

fn error(path: &[u8], line: usize, message: &str) -> Error {
    Error::Content { path: path.to_vec(), line, message: message.to_owned() }
}

/// Lines without their ends.
struct Lines<'a> {
    rest: &'a [u8],
    /// How many have been read.
    line: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', self.rest);
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        self.line += 1;
        Some(line)
    }

    fn skip_continued(&mut self, mut line: &'a [u8]) {
        while ends_with_backslash(line) {
            let Some(next) = self.next() else { return };
            line = next;
        }
    }
}

fn ends_with_backslash(line: &[u8]) -> bool {
    line.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|&&byte| byte == b' ').count();
    &bytes[blanks..]
}

/// What a command line does, as far as it tells.
fn recipe(line: &[u8]) -> Recipe {
    if line.starts_with(b"\t@$(CMAKE_COMMAND) -E touch_nocreate ") {
        Recipe::Touch
    } else if line.starts_with(b"\t@$(CMAKE_COMMAND) -E cmake_echo_color ") {
        Recipe::Message
    } else {
        Recipe::Command
    }
}

/// `NAME = value`, which CMake writes with blanks around the sign.
fn is_assignment(line: &[u8]) -> bool {
    let Some(equals) = memchr(b'=', line) else { return false };
    let name = line[..equals].trim_ascii_end();
    let name = name.strip_prefix(b"$(VERBOSE)").unwrap_or(name);
    name.len() < equals && !name.is_empty() && !name.iter().any(|byte| b" \t:\\".contains(byte))
}

/// Where the targets end: the first colon. It has to be followed by a blank or nothing, or make reads something else.
fn colon(line: &[u8]) -> Option<usize> {
    let colon = memchr(b':', line)?;
    matches!(line.get(colon + 1), None | Some(b' ')).then_some(colon)
}

/// A single name as make reads it.
fn unescaped(name: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>, &'static str> {
    if name.is_empty() {
        return Err("a name is missing");
    }
    // Patterns, a home directory, a library to be searched for, a member of an archive.
    if name.iter().any(|byte| b"*?[%:;=\t".contains(byte))
        || name.starts_with(b"~")
        || name.starts_with(b"-l")
        || name.ends_with(b")") && memrchr(b'(', name).is_some_and(|at| at > 0 && name[at - 1] != b'$')
    {
        return Err("a name with a sign that make gives another meaning");
    }
    if memchr3(b'\\', b'$', b'#', name).is_none() {
        if memchr(b' ', name).is_some() {
            return Err("more than one name");
        }
        return Ok(name.into());
    }
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b' ' => return Err("more than one name"),
            b'#' => return Err("make takes a part of the name for a comment"),
            b'$' => {
                if let Some(after) = rest.strip_prefix(b"$") {
                    plain.push(b'$');
                    rest = after;
                } else if let Some(after) = rest.strip_prefix(b"(EQUALS)") {
                    plain.push(b'=');
                    rest = after;
                } else {
                    return Err("a variable that CMake does not use in names");
                }
            }
            b'\\' => {
                let more = rest.iter().take_while(|&&byte| byte == b'\\').count();
                let n = more + 1;
                let quoted = rest.get(more).filter(|byte| b" #".contains(byte));
                let Some(&quoted) = quoted else {
                    plain.extend(std::iter::repeat_n(b'\\', n));
                    rest = &rest[more..];
                    continue;
                };
                plain.extend(std::iter::repeat_n(b'\\', n / 2));
                rest = &rest[more..];
                if n % 2 == 1 {
                    plain.push(quoted);
                    rest = &rest[1..];
                }
            }
            _ => plain.push(byte),
        }
    }
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> Vec<String> {
        let rules = Rules::parse(bytes, b"build.make").expect("a makefile of CMake's");
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let show = |rule: &Rule| {
            let inputs: Vec<_> = rules.inputs(rule).map(text).collect();
            format!("{}={} {:?}", text(rules.names.get(rule.target)), inputs.join(","), rule.recipe)
        };
        rules.rules.iter().map(show).collect()
    }

    fn refused(bytes: &[u8]) -> String {
        Rules::parse(bytes, b"build.make").expect_err("an error").to_string()
    }

    #[test]
    fn lines_of_one_target_are_one_rule() {
        let text = b"# c\n.SUFFIXES:\n% : %,v\nA = b: c\nX = \\\n\"a b\" \\\n\"c\"\na.o: f\na.o: g\n\tcc\n\nb:\n\tcp\nc: a.o\n\
            \t@$(CMAKE_COMMAND) -E touch_nocreate c\nd: e\n.PHONY : d\ninclude p.make\n$(VERBOSE)MAKESILENT = -s\n";
        assert_eq!(shown(text), ["a.o=f,g Command", "b= Command", "c=a.o Touch", "d=e None"]);
    }

    #[test]
    fn names_are_read_as_make_reads_them() {
        let text = br"a\ b.o: c\#d$$e$(EQUALS)f\g\\h\\\ i
a\ b.o: k";
        assert_eq!(shown(text), [r"a b.o=c#d$e=f\g\\h\ i,k None"]);
    }

    #[test]
    fn commands_may_be_continued() {
        assert_eq!(shown(b"a: b\n\techo \\\nx: y \\\n  z\nc: d\n"), ["a=b Command", "c=d None"]);
    }

    #[test]
    fn what_cmake_does_not_write_is_an_error_with_its_line() {
        assert_eq!(refused(b"\n\tcc\n"), "build.make:2: a command without a target");
        assert_eq!(refused(b"a b: c\n"), "build.make:1: more than one name");
        assert_eq!(refused(b"a: b c\n"), "build.make:1: more than one name");
        assert_eq!(refused(b"a: $(b)\n"), "build.make:1: a variable that CMake does not use in names");
        assert_eq!(refused(b"a: b#c\n"), "build.make:1: make takes a part of the name for a comment");
        assert_eq!(refused(b"a%.o: b\n"), "build.make:1: a name with a sign that make gives another meaning");
        assert_eq!(refused(b"a: b(c)\n"), "build.make:1: a name with a sign that make gives another meaning");
        assert_eq!(refused(b"a: b=c\n"), "build.make:1: a name with a sign that make gives another meaning");
        assert_eq!(refused(b"a::b: c\n"), "build.make:1: neither a rule nor anything else that CMake writes");
        assert_eq!(refused(b"ifdef X\n"), "build.make:1: neither a rule nor anything else that CMake writes");
    }
}
