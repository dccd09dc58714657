//! Which programs a command runs, and which files it names: what they are decides what comes out, and descriptions often do
//! not name them.
//!
//! A command is a shell's. As much of a shell is followed as generators write: words with their quotes, lists of commands,
//! redirections, variables that are set for one command, and programs that run another one, which is their argument. What
//! goes beyond that, above all whatever expands to words that are not there yet, is refused: a program that nobody saw would
//! be in no key.

use crate::doubt::Doubt;

/// A command's words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(Vec<u8>),
    /// What ends one command and begins another.
    End,
    /// What the name of a file follows that is written.
    Into,
}

/// What a command says.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) programs: Vec<Vec<u8>>,
    pub(crate) others: Vec<Vec<u8>>,
}

/// Words of a shell that run no program.
const BUILTIN: [&[u8]; 11] =
    [b":", b"[", b"cd", b"command", b"echo", b"exec", b"export", b"false", b"printf", b"test", b"true"];

/// Programs that run the one that their arguments name.
const RUNNERS: [&[u8]; 10] =
    [b"ccache", b"command", b"distcc", b"env", b"exec", b"icecc", b"nice", b"nohup", b"sccache", b"time"];

/// Words of a shell after which anything may follow, or that mean something else than their names.
const BEYOND: [&[u8]; 17] = [
    b"!", b".", b"case", b"do", b"done", b"elif", b"else", b"esac", b"eval", b"fi", b"for", b"if", b"source",
    b"then", b"until", b"while", b"{",
];

/// The programs of a command, as it spells them, and its other words, which may name files; each once, sorted.
pub(crate) fn programs(command: &[u8]) -> Result<Words, Doubt> {
    let beyond = |word: &[u8]| Doubt::Shell(String::from_utf8_lossy(word).into());
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let (mut is_start, mut is_file) = (true, false);
    for token in tokens(command)? {
        match token {
            Token::End => is_start = true,
            Token::Into => is_file = true,
            Token::Word(_) if std::mem::take(&mut is_file) => {}
            Token::Word(word) if is_start => {
                let name = word.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                if BEYOND.contains(&word.as_slice()) {
                    return Err(beyond(&word));
                }
                if is_assignment(&word) || (word.starts_with(b"-") && !found.is_empty()) {
                    continue;
                }
                is_start = RUNNERS.contains(&name);
                if !BUILTIN.contains(&word.as_slice()) {
                    found.push(word);
                }
            }
            Token::Word(word) => others.push(word),
        }
    }
    for words in [&mut found, &mut others] {
        words.sort_unstable();
        words.dedup();
    }
    Ok(Words { programs: found, others })
}

/// What of a word may be a file's name: all of it, and of an option what stands behind an equals sign or a comma, or begins
/// with a slash.
pub(crate) fn names_in(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let behind = |at: Option<usize>| at.and_then(|at| word.get(at..)).filter(|name| !name.is_empty());
    let is_option = word.starts_with(b"-");
    let all = [
        Some(word).filter(|_| !is_option),
        word.strip_prefix(b"@"),
        behind(word.iter().position(|&byte| byte == b'=').map(|at| at + 1)),
        behind(word.iter().rposition(|&byte| byte == b',').map(|at| at + 1)),
        behind(word.iter().position(|&byte| byte == b'/')).filter(|_| is_option),
    ];
    all.into_iter().flatten()
}

fn tokens(command: &[u8]) -> Result<Vec<Token>, Doubt> {
    let beyond = |at: usize| {
        let rest = command.get(at..).unwrap_or_default();
        Doubt::Shell(String::from_utf8_lossy(&rest[..rest.len().min(12)]).into())
    };
    let mut tokens = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(&byte) = command.get(at) {
        let next = command.get(at + 1).copied();
        match byte {
            b' ' | b'\t' | b'\r' => tokens.extend(word.take().map(Token::Word)),
            b'\n' | b';' | b'&' | b'|' | b'(' | b')' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::End);
            }
            b'<' | b'>' => {
                // Digits right before it are a descriptor's number, and no word.
                let is_number = word.as_ref().is_some_and(|word| word.iter().all(u8::is_ascii_digit));
                tokens.extend(word.take().filter(|_| !is_number).map(Token::Word));
                // What stands in a here-document is no command; nobody writes one into a manifest.
                if byte == b'<' && next == Some(b'<') {
                    return Err(beyond(at));
                }
                at += usize::from(matches!(next, Some(b'>' | b'&' | b'|')));
                if byte == b'>' {
                    tokens.push(Token::Into);
                }
            }
            b'#' if word.is_none() => return Err(beyond(at)),
            b'\\' => {
                let Some(byte) = next else { return Err(beyond(at)) };
                at += 1;
                if byte != b'\n' {
                    word.get_or_insert_default().push(byte);
                }
            }
            b'\'' => {
                let rest = command.get(at + 1..).unwrap_or_default();
                let Some(length) = rest.iter().position(|&byte| byte == b'\'') else {
                    return Err(beyond(at));
                };
                word.get_or_insert_default().extend_from_slice(&rest[..length]);
                at += length + 1;
            }
            b'"' => {
                let word = word.get_or_insert_default();
                loop {
                    at += 1;
                    match (command.get(at).copied(), command.get(at + 1).copied()) {
                        (None, _) => return Err(beyond(at)),
                        (Some(b'"'), _) => break,
                        (Some(b'\\'), Some(byte @ (b'"' | b'\\' | b'$' | b'`'))) => {
                            word.push(byte);
                            at += 1;
                        }
                        (Some(b'$'), Some(byte)) if expands(byte) => return Err(beyond(at)),
                        (Some(b'`'), _) => return Err(beyond(at)),
                        (Some(byte), _) => word.push(byte),
                    }
                }
            }
            b'`' => return Err(beyond(at)),
            b'$' if next.is_some_and(expands) => return Err(beyond(at)),
            byte => word.get_or_insert_default().push(byte),
        }
        at += 1;
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

/// Whether a dollar before this byte stands for something else.
fn expands(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_{(?$!@*#-'\"".contains(&byte)
}

/// Whether a word sets a variable for the command behind it.
fn is_assignment(word: &[u8]) -> bool {
    let Some(equals) = word.iter().position(|&byte| byte == b'=') else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    equals > 0 && word[..equals].iter().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &str) -> Option<(String, String)> {
        let join = |words: Vec<Vec<u8>>| String::from_utf8_lossy(&words.join(&b' ')).into_owned();
        let Words { programs, others } = programs(command.as_bytes()).ok()?;
        Some((join(programs), join(others)))
    }

    #[test]
    fn programs_are_what_begins_commands() {
        for (command, found, others) in [
            ("gcc -c a.c -o a.o", "gcc", "-c -o a.c a.o"),
            (": && /usr/bin/c++ a.o -o prog && :", "/usr/bin/c++", "-o a.o prog"),
            ("cd sub && LANG=C X=1 sort <in >out 2>&1 | uniq", "sort uniq", "in sub"),
            ("ccache /usr/bin/gcc -c a.c", "/usr/bin/gcc ccache", "-c a.c"),
            ("env -i A=b 'my tool' x", "env my tool", "x"),
            ("\"/opt/x y/tool\" a;b&c", "/opt/x y/tool b c", "a"),
            ("ld '$ORIGIN' \\$ORIGIN", "ld", "$ORIGIN"),
            ("echo a > gcc", "", "a"),
            ("exec tool", "tool", ""),
            ("(a;b)", "a b", ""),
        ] {
            assert_eq!(names(command), Some((found.into(), others.into())), "{command}");
        }
    }

    #[test]
    fn files_are_named_by_words_and_by_options() {
        for (word, expected) in [
            ("a.c", &["a.c"][..]),
            ("--script=x.ld", &["x.ld"]),
            ("-Wl,-T,x.ld", &["x.ld"]),
            ("-T/etc/x.ld", &["/etc/x.ld"]),
            ("@list", &["@list", "list"]),
            ("-O2", &[]),
            ("a=", &["a="]),
        ] {
            let found: Vec<&[u8]> = names_in(word.as_bytes()).collect();
            assert_eq!(found, expected.iter().map(|name| name.as_bytes()).collect::<Vec<_>>(), "{word}");
        }
    }

    #[test]
    fn what_expands_to_other_words_is_refused() {
        for command in [
            "$CC a.c",
            "echo `gcc a.c`",
            "echo $(gcc)",
            "echo \"$(gcc)\"",
            "if x; then y; fi",
            "for i in a; do b; done",
            "eval gcc",
            ". ./env.sh; gcc",
            "cat <<X",
            "echo 'a",
            "echo \"a",
            "a \\",
            "gcc ${X}",
            "! gcc",
            "# gcc",
        ] {
            assert_eq!(names(command), None, "{command}");
        }
    }
}
