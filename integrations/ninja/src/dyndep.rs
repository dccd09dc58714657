//! Dyndep files: more inputs and outputs of targets, known only once something was built.
//!
//! ```text
//! ninja_dyndep_version = 1
//! build OUTPUT | implicit outputs : dyndep | implicit inputs
//!   restat = 1
//! ```
//!
//! The words are those of build.ninja; variables are all empty. Every target that waits for the file must be
//! in it, and no other.

use crate::error::SyntaxError;
use crate::lexer::{Lexer, Piece, Token};
use crate::manifest::leading_number;
use std::collections::HashMap;
use upcheck::{DyndepEntry, FileId, Graph, TargetId, path};

/// Reads the dyndep file `file` and fits it to the targets that wait for it. New paths are added to the graph.
///
/// # Errors
/// What is wrong, in ninja's words.
pub(crate) fn parse(graph: &mut Graph, file: FileId, text: &[u8]) -> Result<Vec<DyndepEntry>, String> {
    let file_path = graph.files.path(file).to_vec();
    let mut lexer = Lexer::new(&file_path, text);
    let entries = Parser { graph, lexer: &mut lexer }.file().map_err(|error| error.to_string())?;
    let position: HashMap<TargetId, usize> =
        entries.iter().enumerate().map(|(position, entry)| (entry.target, position)).collect();
    let shown = String::from_utf8_lossy(&file_path);
    let name = |target| String::from_utf8_lossy(graph.name(target)).into_owned();
    for target in graph.targets().filter(|&target| graph.dyndep(target) == Some(file)) {
        if !position.contains_key(&target) {
            return Err(format!("'{}' not mentioned in its dyndep file '{shown}'", name(target)));
        }
    }
    for entry in &entries {
        if graph.dyndep(entry.target) != Some(file) {
            return Err(format!(
                "dyndep file '{shown}' mentions output '{}' whose build statement does not have a dyndep \
                 binding for the file",
                name(entry.target)
            ));
        }
    }
    Ok(entries)
}

struct Parser<'a, 't> {
    graph: &'a mut Graph,
    lexer: &'a mut Lexer<'t>,
}

type Outcome<T> = Result<T, Box<SyntaxError>>;

const EXPECTED_VERSION: &str = "expected 'ninja_dyndep_version = ...'";

impl Parser<'_, '_> {
    fn file(&mut self) -> Outcome<Vec<DyndepEntry>> {
        let mut entries: Vec<DyndepEntry> = Vec::new();
        let mut has_version = false;
        loop {
            match self.lexer.token() {
                Token::Build if !has_version => return self.lexer.error(EXPECTED_VERSION),
                Token::Build => {
                    let target = self.target(&entries)?;
                    let entry = self.rest(target)?;
                    entries.push(entry);
                }
                Token::Ident if !has_version => {
                    self.lexer.unread();
                    self.version()?;
                    has_version = true;
                }
                Token::Error => return self.lexer.bad_token(),
                Token::End if !has_version => return self.lexer.error(EXPECTED_VERSION),
                Token::End => return Ok(entries),
                Token::Newline => {}
                token => return self.lexer.error(format!("unexpected {}", token.name())),
            }
        }
    }

    fn version(&mut self) -> Outcome<()> {
        let (name, value) = self.assignment()?;
        if name != b"ninja_dyndep_version" {
            return self.lexer.error(EXPECTED_VERSION);
        }
        let mut numbers = value.split(|&byte| byte == b'.').map(leading_number);
        if (numbers.next(), numbers.next().unwrap_or(0)) != (Some(1), 0) {
            let value = String::from_utf8_lossy(&value);
            return self.lexer.error(format!("unsupported 'ninja_dyndep_version = {value}'"));
        }
        Ok(())
    }

    fn assignment(&mut self) -> Outcome<(Vec<u8>, Vec<u8>)> {
        let Some(name) = self.lexer.ident() else { return self.lexer.error("expected variable name") };
        self.lexer.expect(Token::Equals)?;
        let mut pieces = Vec::new();
        self.lexer.value(&mut pieces)?;
        Ok((name.to_vec(), self.literal(&pieces)))
    }

    /// The one explicit output, which must have a target already.
    fn target(&mut self, entries: &[DyndepEntry]) -> Outcome<TargetId> {
        let mut pieces = Vec::new();
        self.lexer.path(&mut pieces)?;
        if pieces.is_empty() {
            return self.lexer.error("expected path");
        }
        let path = self.canonical(&pieces)?;
        let known = self.graph.files.lookup(&path).and_then(|file| self.graph.producer(file));
        let shown = String::from_utf8_lossy(&path);
        let Some(target) = known else {
            return self.lexer.error(format!("no build statement exists for '{shown}'"));
        };
        if entries.iter().any(|entry| entry.target == target) {
            return self.lexer.error(format!("multiple statements for '{shown}'"));
        }
        if self.has_path()? {
            return self.lexer.error("explicit outputs not supported");
        }
        Ok(target)
    }

    fn rest(&mut self, target: TargetId) -> Outcome<DyndepEntry> {
        let outputs = self.implicit_paths()?;
        self.lexer.expect(Token::Colon)?;
        if self.lexer.ident() != Some(b"dyndep") {
            return self.lexer.error("expected build command name 'dyndep'");
        }
        if self.has_path()? {
            return self.lexer.error("explicit inputs not supported");
        }
        let inputs = self.implicit_paths()?;
        if self.lexer.peek(Token::Pipe2) {
            return self.lexer.error("order-only inputs not supported");
        }
        self.lexer.expect(Token::Newline)?;
        let mut restat = false;
        if self.lexer.peek(Token::Indent) {
            let (name, value) = self.assignment()?;
            if name != b"restat" {
                return self.lexer.error("binding is not 'restat'");
            }
            restat = !value.is_empty();
        }
        let inputs = self.intern(inputs)?;
        let outputs = self.intern(outputs)?;
        Ok(DyndepEntry { target, outputs, inputs, restat })
    }

    fn has_path(&mut self) -> Outcome<bool> {
        let mut pieces = Vec::new();
        self.lexer.path(&mut pieces)?;
        Ok(!pieces.is_empty())
    }

    fn implicit_paths(&mut self) -> Outcome<Vec<Vec<Piece>>> {
        let mut paths = Vec::new();
        if self.lexer.peek(Token::Pipe) {
            loop {
                let mut pieces = Vec::new();
                self.lexer.path(&mut pieces)?;
                if pieces.is_empty() {
                    break;
                }
                paths.push(pieces);
            }
        }
        Ok(paths)
    }

    fn intern(&mut self, paths: Vec<Vec<Piece>>) -> Outcome<Vec<FileId>> {
        let mut files = Vec::with_capacity(paths.len());
        for pieces in &paths {
            let path = self.canonical(pieces)?;
            files.push(self.graph.files.intern(&path));
        }
        Ok(files)
    }

    fn canonical(&self, pieces: &[Piece]) -> Outcome<Vec<u8>> {
        let mut path = self.literal(pieces);
        if path.is_empty() {
            return self.lexer.error("empty path");
        }
        path::canonicalize(&mut path);
        Ok(path)
    }

    /// What pieces amount to where no variable is bound.
    fn literal(&self, pieces: &[Piece]) -> Vec<u8> {
        let text = self.lexer.text();
        let literals = pieces.iter().filter(|piece| !piece.is_variable);
        literals.flat_map(|piece| text[piece.range.clone()].iter().copied()).collect()
    }
}
