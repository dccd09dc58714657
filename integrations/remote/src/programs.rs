//! Which programs a command runs: what they are decides what comes out, and no description names them.
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
    /// What a file's name follows.
    Redirection,
}

/// Words of a shell that run no program.
const BUILTIN: [&[u8]; 9] = [b":", b"[", b"cd", b"echo", b"export", b"false", b"printf", b"test", b"true"];

/// Programs that run the one that their arguments name.
const RUNNERS: [&[u8]; 10] =
    [b"ccache", b"command", b"distcc", b"env", b"exec", b"icecc", b"nice", b"nohup", b"sccache", b"time"];

/// Words of a shell after which anything may follow, or that mean something else than their names.
const BEYOND: [&[u8]; 17] = [
    b"!", b".", b"case", b"do", b"done", b"elif", b"else", b"esac", b"eval", b"fi", b"for", b"if", b"source",
    b"then", b"until", b"while", b"{",
];

/// The programs of a command, as it spells them, each once, sorted; and words that are absolute paths, which are programs
/// if they can be run.
pub(crate) fn programs(command: &[u8]) -> Result<(Vec<Vec<u8>>, Vec<Vec<u8>>), Doubt> {
    let beyond = |word: &[u8]| Doubt::Shell(String::from_utf8_lossy(word).into());
    let (mut found, mut absolute) = (Vec::new(), Vec::new());
    let (mut is_start, mut is_file) = (true, false);
    for token in tokens(command)? {
        match token {
            Token::End => is_start = true,
            Token::Redirection => is_file = true,
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
            Token::Word(word) if word.starts_with(b"/") => absolute.push(word),
            Token::Word(_) => {}
        }
    }
    for words in [&mut found, &mut absolute] {
        words.sort_unstable();
        words.dedup();
    }
    Ok((found, absolute))
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
                tokens.push(Token::Redirection);
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
        let (found, absolute) = programs(command.as_bytes()).ok()?;
        Some((join(found), join(absolute)))
    }

    #[test]
    fn programs_are_what_begins_commands() {
        for (command, found, absolute) in [
            ("gcc -c a.c -o a.o", "gcc", ""),
            (": && /usr/bin/c++ -g a.o -o prog && :", "/usr/bin/c++", ""),
            ("cd sub && LANG=C X=1 sort <in >out 2>&1 | uniq", "sort uniq", ""),
            ("ccache /usr/bin/gcc -c a.c", "/usr/bin/gcc ccache", ""),
            ("env -i A=b 'my tool' x", "env my tool", ""),
            ("\"/opt/x y/tool\" a;b&c", "/opt/x y/tool b c", ""),
            ("/usr/bin/cmake -E touch /tmp/x", "/usr/bin/cmake", "/tmp/x"),
            ("ld -rpath '$ORIGIN' \\$ORIGIN", "ld", ""),
            ("echo a > gcc", "", ""),
            ("(a;b)", "a b", ""),
        ] {
            assert_eq!(names(command), Some((found.into(), absolute.into())), "{command}");
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
