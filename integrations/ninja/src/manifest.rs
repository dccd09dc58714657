//! build.ninja: statements become targets of a graph, as they are read.

use crate::error::{Error, SyntaxError};
use crate::lexer::{Lexer, Piece, Token};
use crate::scope::{ROOT, ScopeId, Scopes, Symbol, TargetPaths, TargetScope, TextId};
use crate::source::Source;
use crate::spelling::Spellings;
use crate::version::NinjaVersion;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use upcheck::collect::Disk;
use upcheck::path::Style;
use upcheck::{FileId, Flags, Graph, Meta, TargetDesc, TargetId, path};

/// A manifest and all files it includes.
pub(crate) struct Manifest {
    pub(crate) graph: Graph,
    pub(crate) rules: Rules,
    pub(crate) defaults: Vec<FileId>,
    /// Phony targets that named themselves as an input. The input is dropped, but their file counts as used.
    pub(crate) self_users: BTreeMap<FileId, TargetId>,
    /// Every manifest file, in the order of reading.
    pub(crate) sources: Vec<Source>,
    pub(crate) warnings: Vec<String>,
    /// Files known when the manifest had been read: those that some statement names.
    pub(crate) n_named_files: usize,
}

/// What command lines are made of: variables and rules, and which of them each target uses.
pub(crate) struct Rules {
    scopes: Scopes,
    /// Indexed by target.
    rows: Vec<Row>,
    spellings: Spellings,
}

/// What a target needs beside its place in the graph.
struct Row {
    scope: TargetScope,
    n_explicit_outputs: u32,
}

/// How deep files may include each other. Ninja has no limit, and dies of a file that includes itself.
const DEEPEST_INCLUDE: usize = 200;

impl Manifest {
    /// Reads `path` and whatever it includes. Cost: linear in their size.
    ///
    /// `version`: whose words and limits to use, if somebody said so. It is not known from the log yet, because
    /// the manifest says where that is.
    pub(crate) fn load(disk: &dyn Disk, path: &[u8], version: Option<NinjaVersion>) -> Result<Self, Error> {
        let mut manifest = Self {
            graph: Graph::default(),
            rules: Rules { scopes: Scopes::new(), rows: Vec::new(), spellings: Spellings::default() },
            defaults: Vec::new(),
            self_users: BTreeMap::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
            n_named_files: 0,
        };
        let (text, stamp) = disk.read_stamped(path).map_err(|cause| Error::Read {
            operation: "loading",
            path: path.to_vec(),
            cause,
        })?;
        let mut reader = Reader {
            manifest: &mut manifest,
            disk,
            version,
            pools: HashSet::new(),
            buffers: Buffers::default(),
        };
        reader.pools.insert(b"console".to_vec());
        reader.file(path, text, stamp, ROOT, 0).map_err(Error::Syntax)?;
        manifest.n_named_files = manifest.graph.files.len();
        Ok(manifest)
    }

    /// The value of a top-level variable of the first file, after everything was read.
    pub(crate) fn variable(&mut self, name: &str) -> Vec<u8> {
        let symbol = self.rules.scopes.symbol(name.as_bytes());
        self.rules.scopes.variable(ROOT, symbol).to_vec()
    }
}

impl Rules {
    /// The value of a binding of a target, with `$in` and `$out` escaped for a shell or not.
    pub(crate) fn binding(
        &self,
        graph: &Graph,
        target: TargetId,
        symbol: Symbol,
        escape: bool,
        eager_cycles: bool,
    ) -> Result<Vec<u8>, Error> {
        let mut value = Vec::new();
        self.append_binding(graph, target, symbol, escape, eager_cycles, &mut value)?;
        Ok(value)
    }

    /// Appends the value of a binding of a target.
    pub(crate) fn append_binding(
        &self,
        graph: &Graph,
        target: TargetId,
        symbol: Symbol,
        escape: bool,
        eager_cycles: bool,
        to: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let row = &self.rows[target.index()];
        if !self.scopes.may_be_bound(row.scope, symbol) {
            return Ok(());
        }
        let outputs = graph.outputs(target);
        let paths = Paths {
            graph,
            spellings: &self.spellings,
            inputs: graph.explicit_inputs(target),
            outputs: &outputs[..outputs.len().min(row.n_explicit_outputs as usize)],
            escape,
        };
        self.scopes
            .evaluate(row.scope, symbol, &paths, eager_cycles, to)
            .map_err(|cycle| Error::Refused(format!("cycle in rule variables: {}", cycle.0)))
    }

    /// The name of a target's rule.
    pub(crate) fn rule_name(&self, target: TargetId) -> &[u8] {
        self.scopes.rule_name(self.rows[target.index()].scope.rule)
    }
}

/// `$in` and `$out` of a target.
struct Paths<'a> {
    graph: &'a Graph,
    spellings: &'a Spellings,
    inputs: &'a [FileId],
    outputs: &'a [FileId],
    escape: bool,
}

impl Paths<'_> {
    fn list(&self, files: &[FileId], separator: u8, to: &mut Vec<u8>) {
        for (position, &file) in files.iter().enumerate() {
            if position > 0 {
                to.push(separator);
            }
            self.spellings.append(file, self.graph.files.path(file), self.escape, to);
        }
    }
}

impl TargetPaths for Paths<'_> {
    fn inputs(&self, separator: u8, to: &mut Vec<u8>) {
        self.list(self.inputs, separator, to);
    }
    fn outputs(&self, to: &mut Vec<u8>) {
        self.list(self.outputs, b' ', to);
    }
}

type Outcome<T> = Result<T, Box<SyntaxError>>;

struct Reader<'a> {
    manifest: &'a mut Manifest,
    disk: &'a dyn Disk,
    version: Option<NinjaVersion>,
    pools: HashSet<Vec<u8>>,
    buffers: Buffers,
}

/// Kept from statement to statement, so that reading one allocates next to nothing.
#[derive(Default)]
struct Buffers {
    pieces: Vec<Piece>,
    /// The paths of a statement, as runs of `pieces`.
    outputs: Vec<Range<usize>>,
    inputs: Vec<Range<usize>>,
    validations: Vec<Range<usize>>,
    files: Vec<FileId>,
    path: Vec<u8>,
}

impl Reader<'_> {
    fn file(&mut self, path: &[u8], text: Vec<u8>, stamp: Meta, scope: ScopeId, depth: usize) -> Outcome<()> {
        self.manifest.sources.push(Source::read(path, &text, stamp));
        let text = Arc::new(text);
        let id = self.manifest.rules.scopes.open_text(&text);
        self.statements(&mut Lexer::new(path, &text), id, scope, depth)?;
        self.manifest.rules.scopes.close_text(id);
        Ok(())
    }

    fn statements(
        &mut self,
        lexer: &mut Lexer<'_>,
        text: TextId,
        scope: ScopeId,
        depth: usize,
    ) -> Outcome<()> {
        loop {
            match lexer.token() {
                Token::Pool => self.pool(lexer, scope)?,
                Token::Build => self.build(lexer, text, scope)?,
                Token::Rule => self.rule(lexer, scope)?,
                Token::Default => self.default(lexer, scope)?,
                Token::Ident => {
                    lexer.unread();
                    self.variable(lexer, text, scope)?;
                }
                Token::Include => self.include(lexer, scope, scope, depth)?,
                Token::Subninja => {
                    let below = self.manifest.rules.scopes.open(scope);
                    self.include(lexer, scope, below, depth)?;
                }
                Token::Newline => {}
                Token::End => return Ok(()),
                Token::Error => return lexer.bad_token(),
                token => return lexer.error(format!("unexpected {}", token.name())),
            }
        }
    }

    /// `name = value`; leaves the value's pieces in the buffer.
    fn assignment<'t>(&mut self, lexer: &mut Lexer<'t>) -> Outcome<&'t [u8]> {
        let Some(name) = lexer.ident() else { return lexer.error("expected variable name") };
        lexer.expect(Token::Equals)?;
        self.buffers.pieces.clear();
        lexer.value(&mut self.buffers.pieces)?;
        Ok(name)
    }

    /// The value of the pieces in the buffer.
    fn expanded(&mut self, lexer: &Lexer<'_>, scope: ScopeId) -> Vec<u8> {
        let mut value = Vec::new();
        self.manifest.rules.scopes.expand(scope, (0, 0), lexer.text(), &self.buffers.pieces, &mut value);
        value
    }

    fn variable(&mut self, lexer: &mut Lexer<'_>, text: TextId, scope: ScopeId) -> Outcome<()> {
        let name = self.assignment(lexer)?;
        let value = self.manifest.rules.scopes.value(scope, text, &self.buffers.pieces);
        if name == b"ninja_required_version" {
            self.check_required_version(lexer, self.manifest.rules.scopes.bytes(value))?;
        }
        let symbol = self.manifest.rules.scopes.symbol(name);
        self.manifest.rules.scopes.bind(scope, symbol, value);
        Ok(())
    }

    /// Ninja refuses a manifest that asks for a newer one. While nobody has said whose rules hold, that newer one
    /// may well be at work here.
    fn check_required_version(&self, lexer: &Lexer<'_>, required: &[u8]) -> Outcome<()> {
        let Some(version) = self.version else { return Ok(()) };
        let mut numbers = required.split(|&byte| byte == b'.').map(leading_number);
        let asked = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let (major, minor) = version.number();
        if asked <= (i64::from(major), i64::from(minor)) {
            return Ok(());
        }
        let required = String::from_utf8_lossy(required);
        lexer.error(format!(
            "ninja version ({version}) incompatible with build file ninja_required_version version ({required})."
        ))
    }

    fn pool(&mut self, lexer: &mut Lexer<'_>, scope: ScopeId) -> Outcome<()> {
        let Some(name) = lexer.ident() else { return lexer.error("expected pool name") };
        lexer.expect(Token::Newline)?;
        if self.pools.contains(name) {
            return lexer.error(format!("duplicate pool '{}'", name.escape_ascii()));
        }
        let mut has_depth = false;
        while lexer.peek(Token::Indent) {
            let key = self.assignment(lexer)?;
            if key != b"depth" {
                return lexer.error(format!("unexpected variable '{}'", key.escape_ascii()));
            }
            if leading_number(&self.expanded(lexer, scope)) < 0 {
                return lexer.error("invalid pool depth");
            }
            has_depth = true;
        }
        if !has_depth {
            return lexer.error("expected 'depth =' line");
        }
        self.pools.insert(name.to_vec());
        Ok(())
    }

    fn rule(&mut self, lexer: &mut Lexer<'_>, scope: ScopeId) -> Outcome<()> {
        let Some(name) = lexer.ident() else { return lexer.error("expected rule name") };
        lexer.expect(Token::Newline)?;
        if self.manifest.rules.scopes.has_own_rule(scope, name) {
            return lexer.error(format!("duplicate rule '{}'", name.escape_ascii()));
        }
        let mut bindings = Vec::new();
        while lexer.peek(Token::Indent) {
            let key = self.assignment(lexer)?;
            let symbol = self.manifest.rules.scopes.symbol(key);
            if !symbol.is_rule_binding() {
                return lexer.error(format!("unexpected variable '{}'", key.escape_ascii()));
            }
            let parts = self.manifest.rules.scopes.parts(lexer.text(), &self.buffers.pieces);
            bindings.push((symbol, parts));
        }
        let is_empty = |symbol| {
            let last = bindings.iter().rev().find(|(name, _)| *name == symbol);
            last.is_none_or(|(_, parts): &(Symbol, Vec<_>)| parts.is_empty())
        };
        if is_empty(Symbol::RSPFILE) != is_empty(Symbol::RSPFILE_CONTENT) {
            return lexer.error("rspfile and rspfile_content need to be both specified");
        }
        if is_empty(Symbol::COMMAND) {
            return lexer.error("expected 'command =' line");
        }
        // Having looked, ninja has bound them: variables of these names above the target do not show through.
        for symbol in [Symbol::RSPFILE, Symbol::RSPFILE_CONTENT] {
            if bindings.iter().all(|(name, _)| *name != symbol) {
                bindings.push((symbol, Vec::new()));
            }
        }
        self.manifest.rules.scopes.add_rule(scope, name, bindings);
        Ok(())
    }

    fn default(&mut self, lexer: &mut Lexer<'_>, scope: ScopeId) -> Outcome<()> {
        let mut any = false;
        loop {
            self.buffers.pieces.clear();
            lexer.path(&mut self.buffers.pieces)?;
            if self.buffers.pieces.is_empty() {
                break;
            }
            any = true;
            let mut path = self.expanded(lexer, scope);
            if path.is_empty() {
                return lexer.error("empty path");
            }
            path::canonicalize(&mut path);
            match self.manifest.graph.files.lookup(&path) {
                Some(file) => self.manifest.defaults.push(file),
                None => {
                    return lexer.error(format!("unknown target '{}'", String::from_utf8_lossy(&path)));
                }
            }
        }
        if !any {
            return lexer.error("expected target name");
        }
        lexer.expect(Token::Newline)
    }

    fn include(
        &mut self,
        lexer: &mut Lexer<'_>,
        scope: ScopeId,
        inner: ScopeId,
        depth: usize,
    ) -> Outcome<()> {
        self.buffers.pieces.clear();
        lexer.path(&mut self.buffers.pieces)?;
        let path = self.expanded(lexer, scope);
        let shown = String::from_utf8_lossy(&path);
        if depth >= DEEPEST_INCLUDE {
            return lexer
                .error(format!("'{shown}' is included {depth} levels deep: does it include itself?"));
        }
        let (text, stamp) = match self.disk.read_stamped(&path) {
            Ok(read) => read,
            Err(error) => {
                let cause = upcheck::os_message(&error);
                return lexer.error(format!("loading '{shown}': {cause}"));
            }
        };
        self.file(&path, text, stamp, inner, depth + 1)?;
        lexer.expect(Token::Newline)
    }

    fn build(&mut self, lexer: &mut Lexer<'_>, text: TextId, scope: ScopeId) -> Outcome<()> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let result = self.build_with(lexer, text, scope, &mut buffers);
        self.buffers = buffers;
        result
    }

    fn build_with(
        &mut self,
        lexer: &mut Lexer<'_>,
        text: TextId,
        scope: ScopeId,
        buffers: &mut Buffers,
    ) -> Outcome<()> {
        let Buffers { pieces, outputs, inputs, validations, files, path } = buffers;
        pieces.clear();
        outputs.clear();
        inputs.clear();
        validations.clear();
        paths(lexer, pieces, outputs)?;
        let n_explicit_outputs = outputs.len();
        if lexer.peek(Token::Pipe) {
            paths(lexer, pieces, outputs)?;
        }
        if outputs.is_empty() {
            return lexer.error("expected path");
        }
        lexer.expect(Token::Colon)?;
        let Some(rule_name) = lexer.ident() else { return lexer.error("expected build command name") };
        let Some(rule) = self.manifest.rules.scopes.rule(scope, rule_name) else {
            return lexer.error(format!("unknown build rule '{}'", rule_name.escape_ascii()));
        };
        paths(lexer, pieces, inputs)?;
        let n_explicit = inputs.len();
        if lexer.peek(Token::Pipe) {
            paths(lexer, pieces, inputs)?;
        }
        let n_implicit = inputs.len() - n_explicit;
        if lexer.peek(Token::Pipe2) {
            paths(lexer, pieces, inputs)?;
        }
        if lexer.peek(Token::PipeAt) {
            paths(lexer, pieces, validations)?;
        }
        lexer.expect(Token::Newline)?;

        let first_binding = self.manifest.rules.scopes.next_target_binding();
        while lexer.peek(Token::Indent) {
            let name = self.assignment(lexer)?;
            let value = self.manifest.rules.scopes.value(scope, text, &self.buffers.pieces);
            let symbol = self.manifest.rules.scopes.symbol(name);
            self.manifest.rules.scopes.bind_target(symbol, value);
        }
        let bindings = (first_binding, self.manifest.rules.scopes.next_target_binding());
        let target_scope = TargetScope { rule, file: scope, bindings };

        self.check_pool(lexer, target_scope)?;

        files.clear();
        for range in outputs.iter().chain(&*inputs).chain(&*validations) {
            path.clear();
            self.manifest.rules.scopes.expand(scope, bindings, lexer.text(), &pieces[range.clone()], path);
            if path.is_empty() {
                return lexer.error_at(pieces[range.start].range.start, "empty path");
            }
            let backslashes = Style::HERE.canonicalize(path);
            let n_known = self.manifest.graph.files.len();
            let file = self.manifest.graph.files.intern(path);
            if file.index() == n_known {
                self.manifest.rules.spellings.set(file, backslashes);
            }
            files.push(file);
        }
        let (output_files, rest) = files.split_at(outputs.len());
        let (input_files, validation_files) = rest.split_at(inputs.len());
        let (explicit, rest) = input_files.split_at(n_explicit);
        let (implicit, order_only) = rest.split_at(n_implicit);
        let phony = self.manifest.rules.scopes.is_phony(rule);
        let mut desc = TargetDesc {
            outputs: output_files,
            explicit,
            implicit,
            order_only,
            validations: validation_files,
            dyndep: None,
            flags: Flags { phony, ..Flags::default() },
        };
        let cleaned;
        if phony && outputs.len() == 1 && n_explicit_outputs == 1 && n_implicit == 0 {
            let itself = output_files[0];
            if input_files.contains(&itself) {
                cleaned = self.without_itself(itself, input_files, order_only.len());
                (desc.explicit, desc.order_only) = cleaned.0.split_at(cleaned.1);
            }
        }
        desc.dyndep = self.dyndep(lexer, target_scope, &desc, n_explicit_outputs)?;
        self.manifest
            .rules
            .rows
            .push(Row { scope: target_scope, n_explicit_outputs: upcheck::narrow(n_explicit_outputs) });
        if let Err(duplicate) = self.manifest.graph.add_target(desc) {
            let path = String::from_utf8_lossy(self.manifest.graph.files.path(duplicate.file));
            let here = output_files.iter().rposition(|&file| file == duplicate.file).unwrap_or(0);
            let at = pieces[outputs[here].start].range.start;
            let message = if duplicate.same_target && self.version != Some(NinjaVersion::V1_11) {
                format!("{path} is defined as an output multiple times")
            } else {
                format!("multiple rules generate {path}")
            };
            return lexer.error_at(at, message);
        }
        Ok(())
    }

    /// Old CMake versions wrote phony targets that name themselves as an input; ninja drops that input.
    ///
    /// It does not count the order-only inputs again, though: as many of the last ones as there were before
    /// are order-only, or none where there are not as many left. The inputs left, and how many are explicit.
    fn without_itself(
        &mut self,
        itself: FileId,
        inputs: &[FileId],
        n_order_only: usize,
    ) -> (Vec<FileId>, usize) {
        let path = String::from_utf8_lossy(self.manifest.graph.files.path(itself));
        self.manifest.self_users.insert(itself, TargetId::new(self.manifest.graph.n_targets()));
        self.manifest.warnings.push(format!("phony target '{path}' names itself as an input; ignoring"));
        let left: Vec<_> = inputs.iter().copied().filter(|&file| file != itself).collect();
        let n_explicit = left.len().checked_sub(n_order_only).unwrap_or(left.len());
        (left, n_explicit)
    }

    fn check_pool(&mut self, lexer: &Lexer<'_>, scope: TargetScope) -> Outcome<()> {
        if !self.manifest.rules.scopes.may_be_bound(scope, Symbol::POOL) {
            return Ok(());
        }
        let mut pool = Vec::new();
        // Ninja asks before it knows the paths.
        let Manifest { graph, rules, .. } = &*self.manifest;
        let spellings = &rules.spellings;
        let paths = Paths { graph, spellings, inputs: &[], outputs: &[], escape: true };
        self.evaluate_now(lexer, scope, Symbol::POOL, &paths, &mut pool)?;
        if !pool.is_empty() && !self.pools.contains(&pool) {
            return lexer.error(format!("unknown pool name '{}'", String::from_utf8_lossy(&pool)));
        }
        Ok(())
    }

    fn dyndep(
        &mut self,
        lexer: &Lexer<'_>,
        scope: TargetScope,
        desc: &TargetDesc<'_>,
        n_explicit_outputs: usize,
    ) -> Outcome<Option<FileId>> {
        if !self.manifest.rules.scopes.may_be_bound(scope, Symbol::DYNDEP) {
            return Ok(None);
        }
        let mut path = Vec::new();
        let paths = Paths {
            graph: &self.manifest.graph,
            spellings: &self.manifest.rules.spellings,
            inputs: desc.explicit,
            outputs: &desc.outputs[..n_explicit_outputs],
            escape: false,
        };
        self.evaluate_now(lexer, scope, Symbol::DYNDEP, &paths, &mut path)?;
        if path.is_empty() {
            return Ok(None);
        }
        path::canonicalize(&mut path);
        let found = self.manifest.graph.files.lookup(&path);
        let mut inputs = desc.explicit.iter().chain(desc.implicit).chain(desc.order_only);
        match found.filter(|file| inputs.any(|input| input == file)) {
            Some(file) => Ok(Some(file)),
            None => lexer.error(format!("dyndep '{}' is not an input", String::from_utf8_lossy(&path))),
        }
    }

    fn evaluate_now(
        &self,
        lexer: &Lexer<'_>,
        scope: TargetScope,
        symbol: Symbol,
        paths: &Paths<'_>,
        to: &mut Vec<u8>,
    ) -> Outcome<()> {
        match self.manifest.rules.scopes.evaluate(scope, symbol, paths, false, to) {
            Ok(()) => Ok(()),
            Err(cycle) => lexer.error(format!("cycle in rule variables: {}", cycle.0)),
        }
    }
}

/// Reads paths up to something that is none. Each becomes a run of pieces.
fn paths(lexer: &mut Lexer<'_>, pieces: &mut Vec<Piece>, runs: &mut Vec<Range<usize>>) -> Outcome<()> {
    loop {
        let start = pieces.len();
        lexer.path(pieces)?;
        if pieces.len() == start {
            return Ok(());
        }
        runs.push(start..pieces.len());
    }
}

/// The number a text begins with, as C's `atoi` reads it.
pub(crate) fn leading_number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let value = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use crate::{Build, Options};
    use upcheck::collect::MemoryDisk;

    fn disk(files: &[(&str, &str)]) -> MemoryDisk {
        let mut disk = MemoryDisk::new();
        for (path, text) in files {
            disk.write(path, text.as_bytes());
        }
        disk
    }

    /// The names of all targets with their command lines.
    fn commands(disk: &MemoryDisk) -> Vec<String> {
        let build = Build::load(disk, &Options::default()).expect("loads");
        let command = |target| {
            let command = build.command(target).expect("no cycle");
            format!("{}: {}", build.graph().name(target).escape_ascii(), command.escape_ascii())
        };
        build.graph().targets().map(command).collect()
    }

    fn error(files: &[(&str, &str)]) -> String {
        match Build::load(&disk(files), &Options::default()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    /// Long enough for long values to stay in it.
    fn long(text: &str) -> String {
        format!("#{}\n{text}", "x".repeat(70_000))
    }

    const MAIN: &str = "rule r
  command = $top | $own | $over | $in
top = first
subninja a.ninja
top = second
include b.ninja
subninja a2.ninja
build main: r x
  own = $top
";

    fn scopes(enlarge: impl Fn(&str) -> String) -> Vec<String> {
        let words = "one:two|three four ".repeat(10);
        let own = format!("{words}$$ $\n    {words}$\r\n  end\r\n");
        let a = format!("over = {words}\nbuild ${{top}}a: r y\n  own = {words}\nover = later {words}\n");
        let a2 = format!("over = $top{words}\nbuild a2: r y\n  own = {own}include c.ninja\n");
        let b = format!("top = third {words}\nbuild b$ b: r\n");
        let texts = [("build.ninja", MAIN), ("a.ninja", &a), ("a2.ninja", &a2), ("b.ninja", &b)];
        let mut all: Vec<_> = texts.map(|(path, text)| (path, enlarge(text))).into();
        all.push(("c.ninja", "over = of c\nbuild c: r\n own = of c\n".into()));
        commands(&disk(&all.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>()))
    }

    #[test]
    fn values_are_the_same_whether_they_stay_in_the_text_or_are_copied() {
        let copied = scopes(str::to_owned);
        assert_eq!(scopes(long), copied);
        assert!(copied[0].starts_with("firsta: third one:two|three four one"), "{}", copied[0]);
        assert!(copied[0].contains(" | later one:two"), "{}", copied[0]);
        assert!(copied[2].contains("four $ one:two"), "{}", copied[2]);
        assert!(copied[2].ends_with("end | of c | y"), "{}", copied[2]);
    }

    #[test]
    fn a_file_may_be_included_more_than_once() {
        let text = "rule r\n command = $v\nv = 1\nsubninja s.ninja\nv = 2\nn = 2\nsubninja s.ninja\nv = 3\n";
        let long_sub = long(&format!("own = $v {}\nbuild o$n: r\n v = $own\n", "w ".repeat(50)));
        let found = commands(&disk(&[("build.ninja", text), ("s.ninja", &long_sub)]));
        assert!(found[0].starts_with("o: 1 w w") && found[1].starts_with("o2: 2 w w"), "{found:?}");
    }

    #[test]
    fn the_first_error_in_the_order_of_reading_counts() {
        let main = "subninja a.ninja\nbad line\n";
        assert!(error(&[("build.ninja", main), ("a.ninja", "x = 1\nalso bad\n")]).starts_with("a.ninja:2:"));
        assert!(error(&[("build.ninja", main), ("a.ninja", "x = 1\n")]).starts_with("build.ninja:2:"));
        let twice = "rule r\n command = r\nsubninja $d/a.ninja\nd = s\nsubninja $d/a.ninja\nbuild o: r\n";
        let found = error(&[("build.ninja", twice), ("/a.ninja", ""), ("s/a.ninja", "build o: r\n")]);
        assert!(found.starts_with("build.ninja:6:7: multiple rules generate o"), "{found}");
    }

    #[test]
    fn a_nul_ends_the_text_wherever_it_is() {
        for text in ["v = a b\0c\n", "v = a b", "v = \0\n", "v = a $\n  b\0"] {
            for text in [text.to_owned(), long(text)] {
                let found = error(&[("build.ninja", &text)]);
                assert!(found.contains("unexpected EOF"), "{}: {found}", text.escape_debug());
            }
        }
        assert_eq!(error(&[("build.ninja", "v = a\n\0bad line\n")]), "");
    }
}
