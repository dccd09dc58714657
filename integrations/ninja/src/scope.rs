//! Variables: where they are bound, and how a string with `$` in it becomes bytes.
//!
//! Every file that is not merely included has a scope; `subninja` files have their parent's above them. A
//! target with indented bindings has a scope of its own below its file's; one without them uses the file's.
//!
//! Top-level and indented values, and paths, are evaluated where they stand. A rule's bindings are evaluated
//! when they are used, which is after everything was read: they see the final values. A variable of a target
//! is looked up in this order: `in`, `out`, `in_newline`; the target's own scope; the rule; the scopes above.
//! So a file-level variable hides the rule's for targets without bindings of their own.

use crate::lexer::Piece;
use rapidhash::RapidHashMap;
use std::sync::Arc;

/// A variable's name as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

/// The names that mean something to ninja; the position is the number. Those up to `msvc_deps_prefix` may be
/// bound by a rule.
const KNOWN: [&str; 14] = [
    "command",
    "depfile",
    "deps",
    "dyndep",
    "generator",
    "pool",
    "restat",
    "rspfile",
    "rspfile_content",
    "description",
    "msvc_deps_prefix",
    "in",
    "in_newline",
    "out",
];

impl Symbol {
    pub(crate) const COMMAND: Self = Self(0);
    pub(crate) const DEPFILE: Self = Self(1);
    pub(crate) const DEPS: Self = Self(2);
    pub(crate) const DYNDEP: Self = Self(3);
    pub(crate) const GENERATOR: Self = Self(4);
    pub(crate) const POOL: Self = Self(5);
    pub(crate) const RESTAT: Self = Self(6);
    pub(crate) const RSPFILE: Self = Self(7);
    pub(crate) const RSPFILE_CONTENT: Self = Self(8);
    const MSVC_DEPS_PREFIX: Self = Self(10);
    const IN: Self = Self(11);
    const IN_NEWLINE: Self = Self(12);
    const OUT: Self = Self(13);
}

impl Symbol {
    /// Whether a rule may bind it.
    pub(crate) fn is_rule_binding(self) -> bool {
        self.0 <= Self::MSVC_DEPS_PREFIX.0
    }
}

/// Where a value stands: in a manifest file, if it is there as it is, else in [`Scopes::values`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    text: Option<TextId>,
    start: usize,
    end: usize,
}

/// A manifest file's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextId(u32);

/// A text, kept once a value stands in it.
struct Text {
    bytes: Arc<Vec<u8>>,
    is_used: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeId(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleId(usize);

/// The scope of the first file.
pub(crate) const ROOT: ScopeId = ScopeId(0);

#[derive(Default)]
struct FileScope {
    parent: Option<ScopeId>,
    bindings: RapidHashMap<Symbol, Value>,
    rules: RapidHashMap<Box<[u8]>, RuleId>,
}

/// A rule: its bindings, not yet evaluated.
pub(crate) struct Rule {
    pub(crate) name: Box<[u8]>,
    pub(crate) phony: bool,
    /// Few, so searched in order; the last one of a name counts.
    bindings: Vec<(Symbol, Vec<Part>)>,
}

/// A stretch of a rule's binding.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(Box<[u8]>),
    Variable(Symbol),
}

/// Where a target's variables are looked up.
#[derive(Clone, Copy)]
pub(crate) struct TargetScope {
    pub(crate) rule: RuleId,
    pub(crate) file: ScopeId,
    /// Its own bindings in [`Scopes::target_bindings`]; empty: it uses the file's scope as its own.
    pub(crate) bindings: (u32, u32),
}

/// How a target's `$in` and `$out` are written.
pub(crate) trait TargetPaths {
    /// Appends the explicit inputs, separated by `separator`.
    fn inputs(&self, separator: u8, to: &mut Vec<u8>);
    /// Appends the explicit outputs, separated by spaces.
    fn outputs(&self, to: &mut Vec<u8>);
}

/// The rule's variables expand to each other without end. The names along the way.
pub(crate) struct RuleCycle(pub(crate) String);

pub(crate) struct Scopes {
    symbols: RapidHashMap<Box<[u8]>, Symbol>,
    names: Vec<Box<[u8]>>,
    files: Vec<FileScope>,
    pub(crate) rules: Vec<Rule>,
    target_bindings: Vec<(Symbol, Value)>,
    texts: Vec<Text>,
    values: Vec<u8>,
    /// The value that was made last.
    expanded: Vec<u8>,
    /// Whether a symbol is bound in any scope, so that most look-ups end before they begin.
    bound: Vec<bool>,
}

impl Scopes {
    pub(crate) fn new() -> Self {
        let mut scopes = Self {
            symbols: RapidHashMap::default(),
            names: Vec::new(),
            files: vec![FileScope::default()],
            rules: Vec::new(),
            target_bindings: Vec::new(),
            texts: Vec::new(),
            values: Vec::new(),
            expanded: Vec::new(),
            bound: Vec::new(),
        };
        for name in KNOWN {
            scopes.symbol(name.as_bytes());
        }
        let phony = Rule { name: (*b"phony").into(), phony: true, bindings: Vec::new() };
        scopes.rules.push(phony);
        scopes.files[0].rules.insert((*b"phony").into(), RuleId(0));
        scopes
    }

    pub(crate) fn symbol(&mut self, name: &[u8]) -> Symbol {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let symbol = Symbol(upcheck::narrow(self.names.len()));
        self.names.push(name.into());
        self.symbols.insert(name.into(), symbol);
        self.bound.push(false);
        symbol
    }

    // ---- files and rules ----------------------------------------------------------------------------

    /// A new scope below `parent`.
    pub(crate) fn open(&mut self, parent: ScopeId) -> ScopeId {
        self.files.push(FileScope { parent: Some(parent), ..FileScope::default() });
        ScopeId(self.files.len() - 1)
    }

    pub(crate) fn rule(&self, mut scope: ScopeId, name: &[u8]) -> Option<RuleId> {
        loop {
            let file = &self.files[scope.0];
            if let Some(&rule) = file.rules.get(name) {
                return Some(rule);
            }
            scope = file.parent?;
        }
    }

    pub(crate) fn has_own_rule(&self, scope: ScopeId, name: &[u8]) -> bool {
        self.files[scope.0].rules.contains_key(name)
    }

    pub(crate) fn add_rule(&mut self, scope: ScopeId, name: &[u8], bindings: Vec<(Symbol, Vec<Part>)>) {
        let id = RuleId(self.rules.len());
        self.rules.push(Rule { name: name.into(), phony: false, bindings });
        self.files[scope.0].rules.insert(name.into(), id);
    }

    pub(crate) fn is_phony(&self, rule: RuleId) -> bool {
        self.rules[rule.0].phony
    }

    pub(crate) fn rule_name(&self, rule: RuleId) -> &[u8] {
        &self.rules[rule.0].name
    }

    /// Makes a rule's parts of the pieces of a text.
    pub(crate) fn parts(&mut self, text: &[u8], pieces: &[Piece]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        for piece in pieces {
            let bytes = &text[piece.range.clone()];
            if !piece.is_variable {
                literal.extend_from_slice(bytes);
                continue;
            }
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal).into()));
            }
            parts.push(Part::Variable(self.symbol(bytes)));
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal.into()));
        }
        parts
    }

    // ---- bindings -----------------------------------------------------------------------------------

    /// A text that values may stand in until it is closed.
    pub(crate) fn open_text(&mut self, bytes: &Arc<Vec<u8>>) -> TextId {
        self.texts.push(Text { bytes: bytes.clone(), is_used: false });
        TextId(upcheck::narrow(self.texts.len() - 1))
    }

    pub(crate) fn close_text(&mut self, text: TextId) {
        let text = &mut self.texts[text.0 as usize];
        if !text.is_used {
            text.bytes = Arc::default();
        }
    }

    /// The value of pieces of a text that are evaluated where they stand.
    pub(crate) fn value(&mut self, scope: ScopeId, text: TextId, pieces: &[Piece]) -> Value {
        /// Below this, copying costs little, and keeping the whole text for what is in it may cost more.
        const SHORT_VALUE: usize = 64;
        const SHORT_TEXT: usize = 64 << 10;
        let Text { bytes, is_used } = &mut self.texts[text.0 as usize];
        if let [Piece { is_variable: false, range }] = pieces
            && range.len() >= SHORT_VALUE
            && bytes.len() >= SHORT_TEXT
        {
            *is_used = true;
            return Value { text: Some(text), start: range.start, end: range.end };
        }
        let bytes = bytes.clone();
        let mut value = std::mem::take(&mut self.expanded);
        value.clear();
        self.expand(scope, (0, 0), &bytes, pieces, &mut value);
        let start = self.values.len();
        self.values.extend_from_slice(&value);
        self.expanded = value;
        Value { text: None, start, end: self.values.len() }
    }

    pub(crate) fn bytes(&self, value: Value) -> &[u8] {
        let text = match value.text {
            Some(text) => &self.texts[text.0 as usize].bytes,
            None => &self.values,
        };
        &text[value.start..value.end]
    }

    pub(crate) fn bind(&mut self, scope: ScopeId, symbol: Symbol, value: Value) {
        self.bound[symbol.0 as usize] = true;
        self.files[scope.0].bindings.insert(symbol, value);
    }

    /// Adds to the bindings of the target that is being read; see [`Scopes::next_target_binding`].
    pub(crate) fn bind_target(&mut self, symbol: Symbol, value: Value) {
        self.bound[symbol.0 as usize] = true;
        self.target_bindings.push((symbol, value));
    }

    pub(crate) fn next_target_binding(&self) -> u32 {
        upcheck::narrow(self.target_bindings.len())
    }

    /// The value of a variable in a file's scope, or above it.
    pub(crate) fn variable(&self, scope: ScopeId, symbol: Symbol) -> &[u8] {
        self.variable_from(Some(scope), symbol)
    }

    fn variable_from(&self, mut scope: Option<ScopeId>, symbol: Symbol) -> &[u8] {
        if !self.bound[symbol.0 as usize] {
            return b"";
        }
        while let Some(id) = scope {
            let file = &self.files[id.0];
            if let Some(value) = file.bindings.get(&symbol) {
                return self.bytes(*value);
            }
            scope = file.parent;
        }
        b""
    }

    /// Appends the value of pieces that are evaluated where they stand. `bindings` are those of the target
    /// that is being read.
    pub(crate) fn expand(
        &self,
        scope: ScopeId,
        bindings: (u32, u32),
        text: &[u8],
        pieces: &[Piece],
        to: &mut Vec<u8>,
    ) {
        for piece in pieces {
            let bytes = &text[piece.range.clone()];
            if !piece.is_variable {
                to.extend_from_slice(bytes);
            } else if let Some(&symbol) = self.symbols.get(bytes) {
                match self.own_binding(bindings, symbol) {
                    Some(value) => to.extend_from_slice(value),
                    None => to.extend_from_slice(self.variable(scope, symbol)),
                }
            }
        }
    }

    fn own_binding(&self, (start, end): (u32, u32), symbol: Symbol) -> Option<&[u8]> {
        let own = &self.target_bindings[start as usize..end as usize];
        let (_, value) = own.iter().rev().find(|(name, _)| *name == symbol)?;
        Some(self.bytes(*value))
    }

    /// Appends the value of a variable of a target.
    ///
    /// `eager_cycles`: ninja 1.11 takes a rule variable that is merely used twice for a cycle.
    pub(crate) fn evaluate(
        &self,
        target: TargetScope,
        symbol: Symbol,
        paths: &dyn TargetPaths,
        eager_cycles: bool,
        to: &mut Vec<u8>,
    ) -> Result<(), RuleCycle> {
        let mut evaluation =
            Evaluation { scopes: self, target, paths, eager_cycles, below: Vec::new(), nested: false };
        evaluation.append(symbol, to)
    }

    /// Whether a variable of a target can be anything but empty. Cheap, and errs on the side of yes.
    pub(crate) fn may_be_bound(&self, target: TargetScope, symbol: Symbol) -> bool {
        self.bound[symbol.0 as usize] || self.rules[target.rule.0].binding(symbol).is_some()
    }
}

impl Rule {
    fn binding(&self, symbol: Symbol) -> Option<&[Part]> {
        let (_, parts) = self.bindings.iter().rev().find(|(name, _)| *name == symbol)?;
        Some(parts)
    }
}

/// One variable being expanded, and those it expands to.
struct Evaluation<'a> {
    scopes: &'a Scopes,
    target: TargetScope,
    paths: &'a dyn TargetPaths,
    eager_cycles: bool,
    below: Vec<Symbol>,
    nested: bool,
}

impl Evaluation<'_> {
    fn append(&mut self, symbol: Symbol, to: &mut Vec<u8>) -> Result<(), RuleCycle> {
        match symbol {
            Symbol::IN => self.paths.inputs(b' ', to),
            Symbol::IN_NEWLINE => self.paths.inputs(b'\n', to),
            Symbol::OUT => self.paths.outputs(to),
            _ => return self.append_binding(symbol, to),
        }
        Ok(())
    }

    fn append_binding(&mut self, symbol: Symbol, to: &mut Vec<u8>) -> Result<(), RuleCycle> {
        let scopes = self.scopes;
        if self.nested
            && let Some(start) = self.below.iter().position(|&name| name == symbol)
        {
            let names: Vec<_> = self.below[start..]
                .iter()
                .chain([&symbol])
                .map(|name| String::from_utf8_lossy(&scopes.names[name.0 as usize]))
                .collect();
            return Err(RuleCycle(names.join(" -> ")));
        }
        let parts = scopes.rules[self.target.rule.0].binding(symbol);
        let counts = self.nested && parts.is_some();
        if counts {
            self.below.push(symbol);
        }
        self.nested = true;
        let TargetScope { file, bindings, .. } = self.target;
        let has_own_scope = bindings.0 != bindings.1;
        let (own, above) = if has_own_scope {
            (scopes.own_binding(bindings, symbol), Some(file))
        } else {
            let scope = &scopes.files[file.0];
            let value = scope.bindings.get(&symbol);
            (value.map(|value| scopes.bytes(*value)), scope.parent)
        };
        if let Some(value) = own {
            to.extend_from_slice(value);
        } else if let Some(parts) = parts {
            for part in parts {
                match part {
                    Part::Text(text) => to.extend_from_slice(text),
                    Part::Variable(name) => self.append(*name, to)?,
                }
            }
        } else {
            to.extend_from_slice(scopes.variable_from(above, symbol));
        }
        if counts && !self.eager_cycles {
            self.below.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_their_numbers() {
        let mut scopes = Scopes::new();
        for (name, symbol) in [
            ("command", Symbol::COMMAND),
            ("depfile", Symbol::DEPFILE),
            ("deps", Symbol::DEPS),
            ("dyndep", Symbol::DYNDEP),
            ("generator", Symbol::GENERATOR),
            ("pool", Symbol::POOL),
            ("restat", Symbol::RESTAT),
            ("rspfile", Symbol::RSPFILE),
            ("rspfile_content", Symbol::RSPFILE_CONTENT),
            ("msvc_deps_prefix", Symbol::MSVC_DEPS_PREFIX),
            ("in", Symbol::IN),
            ("in_newline", Symbol::IN_NEWLINE),
            ("out", Symbol::OUT),
        ] {
            assert_eq!(scopes.symbol(name.as_bytes()), symbol, "{name}");
        }
    }
}
