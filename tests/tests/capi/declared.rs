//! What is declared on both sides of the border: by the header, and by the Rust functions behind it.

use std::collections::BTreeMap;
use std::fs;
use syn::{Item, Type};
use upcheck_tests::tools::{c_include, root};

/// A function, with types in the words of C, and names of integers resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) returns: String,
    /// Types and names.
    pub(crate) parameters: Vec<(String, String)>,
}

/// What the header declares.
#[derive(Default)]
pub(crate) struct Header {
    pub(crate) text: String,
    /// In the order of the header.
    pub(crate) functions: Vec<(String, Function)>,
    /// The members of each struct that callers see into.
    pub(crate) structs: BTreeMap<String, Vec<String>>,
    /// Structs that they do not.
    pub(crate) handles: Vec<String>,
    pub(crate) enumerators: Vec<String>,
    /// Macros that stand for values.
    pub(crate) macros: Vec<String>,
}

/// Names for integers.
const ALIASES: [(&str, &str); 3] =
    [("upcheck_status", "int32_t"), ("upcheck_file", "uint32_t"), ("upcheck_target", "uint32_t")];

/// Reads the header: it is ours, so this need not understand all of C, but what it does not understand is an error.
pub(crate) fn header() -> Header {
    let text = fs::read_to_string(c_include().join("upcheck.h")).expect("the header");
    let (code, macros) = code(&text);
    let mut header = Header { text, macros, ..Header::default() };
    for declaration in declarations(&code) {
        let words: Vec<&str> = declaration.split_whitespace().collect();
        match words[..] {
            ["extern", "\"C\"", ..] | ["}"] => {}
            ["enum", ..] => {
                let enumerators = body(&declaration).split(',').map(str::trim).filter(|one| !one.is_empty());
                header
                    .enumerators
                    .extend(enumerators.map(|one| one.split('=').next().expect("a name").trim().to_owned()));
            }
            ["typedef", "struct", name, "{", ..] => {
                let members = body(&declaration).split(';').map(str::trim).filter(|one| !one.is_empty());
                let members = members.map(|one| split_declarator(one).1).collect();
                header.structs.insert(name.to_owned(), members);
            }
            ["typedef", "struct", name, _] => header.handles.push(name.to_owned()),
            ["typedef", integer, name] => {
                assert!(ALIASES.contains(&(name, integer)), "an unknown name for an integer: {declaration}");
            }
            ["UPCHECK_API", ..] => header.functions.push(function(&declaration)),
            _ => panic!("what is this? {declaration}"),
        }
    }
    header
}

/// The header without comments and directives, and the macros in it that stand for values.
fn code(text: &str) -> (String, Vec<String>) {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        plain.push(' ');
        rest = comment.split_once("*/").expect("comments end").1;
    }
    plain.push_str(rest);
    let plain = plain.replace("\\\n", " ");
    let mut code = String::new();
    let mut macros = Vec::new();
    let without_value = ["UPCHECK_H", "UPCHECK_API", "UPCHECK_CHECKED"];
    for line in plain.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            code.push_str(line);
            code.push('\n');
            continue;
        };
        if let Some(macro_) = directive.trim().strip_prefix("define ") {
            let name: String =
                macro_.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
            let is_function = macro_[name.len()..].starts_with('(');
            if !is_function && !without_value.contains(&&*name) {
                macros.push(name);
            }
        }
    }
    (code, macros)
}

/// Declarations, each without its last semicolon.
fn declarations(code: &str) -> Vec<String> {
    let (mut all, mut current, mut depth) = (Vec::new(), String::new(), 0);
    for char in code.replace("extern \"C\" {", "").chars() {
        match char {
            '{' => {
                depth += 1;
                current.push_str(" { ");
            }
            '}' if depth == 0 => {} // of extern "C"
            '}' => {
                depth -= 1;
                current.push_str(" } ");
            }
            ';' if depth == 0 => all.push(std::mem::take(&mut current).trim().to_owned()),
            '\n' => current.push(' '),
            other => current.push(other),
        }
    }
    assert!(current.trim().is_empty(), "left over: {current}");
    all
}

fn body(declaration: &str) -> &str {
    let (_, rest) = declaration.split_once('{').expect("a body");
    rest.rsplit_once('}').expect("its end").0
}

/// `const char *path` as `const char *` and `path`.
fn split_declarator(text: &str) -> (String, String) {
    let text = text.trim();
    let start = text.rfind(|char: char| !(char.is_alphanumeric() || char == '_')).map_or(0, |at| at + 1);
    let name = text[start..].to_owned();
    let (mut stars, mut words) = (String::new(), Vec::new());
    let apart = text[..start].replace('*', " * ");
    for word in apart.split_whitespace() {
        match word {
            "*" => stars.push('*'),
            word => words.push(ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, is)| is)),
        }
    }
    let base = words.join(" ");
    (if stars.is_empty() { base } else { format!("{base} {stars}") }, name)
}

fn function(declaration: &str) -> (String, Function) {
    let text = declaration.replace("UPCHECK_API", "").replace("UPCHECK_CHECKED", "");
    let (before, rest) = text.split_once('(').expect("parameters");
    let (returns, name) = split_declarator(before);
    let parameters = rest.trim().strip_suffix(')').expect("the end of the parameters").trim();
    let parameters = match parameters {
        "void" => Vec::new(),
        some => some.split(',').map(split_declarator).collect(),
    };
    (name, Function { returns, parameters })
}

/// The functions that Rust exports, in the words of C.
pub(crate) fn exported() -> BTreeMap<String, Function> {
    let mut functions = BTreeMap::new();
    for entry in fs::read_dir(root().join("ffi/capi/src")).expect("the sources") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a source");
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for item in file.items {
            let Item::Fn(item) = item else { continue };
            let is_exported = item.attrs.iter().any(|attribute| {
                attribute.path().is_ident("unsafe")
                    && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("no_mangle"))
            });
            if !is_exported {
                continue;
            }
            let name = item.sig.ident.to_string();
            let abi = item.sig.abi.and_then(|abi| abi.name).map(|name| name.value());
            assert_eq!(abi.as_deref(), Some("C"), "{name} is not called as C calls");
            let returns = match &item.sig.output {
                syn::ReturnType::Default => "void".to_owned(),
                syn::ReturnType::Type(_, of) => c_type(of),
            };
            let parameters = item.sig.inputs.iter().map(|input| {
                let syn::FnArg::Typed(input) = input else { panic!("{name} has a self") };
                let syn::Pat::Ident(ident) = &*input.pat else { panic!("{name} has an unnamed parameter") };
                (c_type(&input.ty), ident.ident.to_string())
            });
            let parameters = parameters.collect();
            assert!(functions.insert(name, Function { returns, parameters }).is_none(), "twice");
        }
    }
    functions
}

fn c_type(rust: &Type) -> String {
    match rust {
        Type::Ptr(pointer) => {
            let of = c_type(&pointer.elem);
            let (base, stars) =
                of.split_once(" *").map_or((&*of, ""), |(base, _)| (base, &of[base.len() + 1..]));
            // In C a const stands in front of what it is about, which here is always the innermost thing.
            let is_const = pointer.const_token.is_some();
            assert!(!is_const || stars.is_empty(), "a const pointer to a pointer");
            let base = if is_const { format!("const {base}") } else { base.to_owned() };
            format!("{base} {stars}*")
        }
        Type::Path(path) => {
            let name = path.path.segments.last().expect("a name").ident.to_string();
            match &*name {
                "c_char" => "char",
                "u8" => "uint8_t",
                "u32" => "uint32_t",
                "u64" => "uint64_t",
                "i32" | "Status" => "int32_t",
                "i64" => "int64_t",
                "usize" => "size_t",
                other => {
                    assert!(other.starts_with("upcheck_"), "a type that C does not know: {other}");
                    other
                }
            }
            .to_owned()
        }
        _ => panic!("a type that C does not know"),
    }
}
