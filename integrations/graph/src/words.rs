//! A command line, split into its arguments.
//!
//! **For a shell** that knows of quotes and backslashes only, since that is what `compile_commands.json` allows:
//! blanks separate words; `'...'` is taken as it is; in `"..."` a backslash goes with `"`, `\`, `$`, `` ` `` and the end
//! of a line, and stands for itself otherwise; elsewhere it goes with anything. Variables, patterns and comments mean
//! nothing.
//!
//! **For Windows**, where each program splits its own line, nearly all by the rules of Microsoft's C library: blanks separate
//! words outside of `"..."`. A backslash stands for itself, except in front of a quotation mark: there two stand for one,
//! and one that is left makes the mark one of the word. Within quotes `""` is a mark of the word, too. At the end of the
//! line quotes are closed. In the first word, the program's name, there are quotes only, which can stand anywhere.
//!
//! Which of them is meant a database does not say. Clang's tools go by the system that they run on, and so does this.

/// By whose rules a line is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Shell,
    Windows,
}

impl Syntax {
    /// Those of the system.
    pub(crate) const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Shell };
}

/// Appends the words of a line, each with a NUL behind it.
pub(crate) fn split(line: &[u8], syntax: Syntax, words: &mut Vec<u8>) -> Result<(), &'static str> {
    match syntax {
        Syntax::Shell => split_for_shell(line, words),
        Syntax::Windows => {
            split_for_windows(line, words);
            Ok(())
        }
    }
}

fn split_for_windows(line: &[u8], words: &mut Vec<u8>) {
    let mut rest = line.trim_ascii_start();
    let mut is_program = true;
    while !rest.is_empty() {
        let (mut at, mut is_quoted) = (0, false);
        while let Some(&byte) = rest.get(at).filter(|byte| is_quoted || !byte.is_ascii_whitespace()) {
            at += 1;
            match byte {
                b'"' if is_quoted && !is_program && rest.get(at) == Some(&b'"') => {
                    words.push(b'"');
                    at += 1;
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' if !is_program => {
                    let n = 1 + rest[at..].iter().take_while(|&&byte| byte == b'\\').count();
                    at += n - 1;
                    let is_before_mark = rest.get(at) == Some(&b'"');
                    words.resize(words.len() + if is_before_mark { n / 2 } else { n }, b'\\');
                    if is_before_mark && n % 2 == 1 {
                        words.push(b'"');
                        at += 1;
                    }
                }
                _ => words.push(byte),
            }
        }
        words.push(0);
        is_program = false;
        rest = rest[at..].trim_ascii_start();
    }
}

fn split_for_shell(line: &[u8], words: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut bytes = line.iter().copied().peekable();
    loop {
        while bytes.next_if(|byte| byte.is_ascii_whitespace()).is_some() {}
        if bytes.peek().is_none() {
            return Ok(());
        }
        while let Some(byte) = bytes.next_if(|byte| !byte.is_ascii_whitespace()) {
            match byte {
                b'\'' => loop {
                    match bytes.next().ok_or("a quotation mark ' is never closed")? {
                        b'\'' => break,
                        byte => words.push(byte),
                    }
                },
                b'"' => quoted(&mut bytes, words)?,
                b'\\' => match bytes.next().ok_or("a backslash stands at the end")? {
                    b'\n' => {}
                    byte => words.push(byte),
                },
                byte => words.push(byte),
            }
        }
        words.push(0);
    }
}

fn quoted(bytes: &mut impl Iterator<Item = u8>, words: &mut Vec<u8>) -> Result<(), &'static str> {
    const OPEN: &str = "a quotation mark \" is never closed";
    loop {
        match bytes.next().ok_or(OPEN)? {
            b'"' => return Ok(()),
            b'\\' => match bytes.next().ok_or(OPEN)? {
                b'\n' => {}
                byte @ (b'"' | b'\\' | b'$' | b'`') => words.push(byte),
                byte => words.extend([b'\\', byte]),
            },
            byte => words.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        for (line, expected) in [
            ("", vec![]),
            ("  \t\n", vec![]),
            ("cc -c  a.c ", vec!["cc", "-c", "a.c"]),
            (r#"-DNAME=\"a\ b\" "-DX=\"y\"""#, vec![r#"-DNAME="a b""#, r#"-DX="y""#]),
            (r#"'-DNAME="a b"' '' "" x''y"#, vec![r#"-DNAME="a b""#, "", "", "xy"]),
            (r#""C:\new\\x\$y" a\b"#, vec![r"C:\new\x$y", "ab"]),
            ("a # b $HOME *.c", vec!["a", "#", "b", "$HOME", "*.c"]),
            ("a\\\nb \"c\\\nd\"", vec!["ab", "cd"]),
        ] {
            let mut words = Vec::new();
            assert_eq!(split(line.as_bytes(), Syntax::Shell, &mut words), Ok(()), "{line}");
            let words: Vec<_> = words.split_terminator_nul().collect();
            assert_eq!(words, expected, "{line}");
        }
    }

    trait SplitTerminator {
        fn split_terminator_nul(&self) -> impl Iterator<Item = &str>;
    }

    impl SplitTerminator for Vec<u8> {
        fn split_terminator_nul(&self) -> impl Iterator<Item = &str> {
            str::from_utf8(self).expect("text").split_terminator('\0')
        }
    }

    #[test]
    fn what_is_never_closed_is_refused() {
        for line in ["'a", "\"a", "\"a\\", "a\\"] {
            assert!(split(line.as_bytes(), Syntax::Shell, &mut Vec::new()).is_err(), "{line}");
        }
    }

    #[test]
    fn words_are_what_programs_of_windows_make_of_them() {
        for (line, expected) in [
            ("", vec![]),
            (" \t", vec![]),
            ("cl /c  a.c ", vec!["cl", "/c", "a.c"]),
            // As Microsoft documents it.
            (r#"x "a b c" d e"#, vec!["x", "a b c", "d", "e"]),
            (r#"x "ab\"c" "\\" d"#, vec!["x", r#"ab"c"#, r"\", "d"]),
            (r#"x a\\\b d"e f"g h"#, vec!["x", r"a\\\b", "de fg", "h"]),
            (r#"x a\\\"b c d"#, vec!["x", r#"a\"b"#, "c", "d"]),
            (r#"x a\\\\"b c" d e"#, vec!["x", r"a\\b c", "d", "e"]),
            (r#"x a"b"" c d"#, vec!["x", r#"ab" c d"#]),
            // A shell's quotes are characters, and the end closes what is open.
            (r#"x 'a b' "c"#, vec!["x", "'a", "b'", "c"]),
            (r#"x "" """" "a\\" b"#, vec!["x", "", "\"", r"a\", "b"]),
            (r#"x "a\"#, vec!["x", r"a\"]),
            // The name of a program has quotes only.
            (
                r#""C:\Program Files\cc\" -DX=\"y\" C:\a\b.c"#,
                vec![r"C:\Program Files\cc\", r#"-DX="y""#, r"C:\a\b.c"],
            ),
            (r#"C:\"a b"\c.exe d"#, vec![r"C:\a b\c.exe", "d"]),
            (
                r#"C:\m\gcc.exe "-DV=\"1 2\"" -o o\a.c.obj -c "C:\s s\a.c""#,
                vec![r"C:\m\gcc.exe", r#"-DV="1 2""#, "-o", r"o\a.c.obj", "-c", r"C:\s s\a.c"],
            ),
        ] {
            let mut words = Vec::new();
            assert_eq!(split(line.as_bytes(), Syntax::Windows, &mut words), Ok(()), "{line}");
            let words: Vec<_> = words.split_terminator_nul().collect();
            assert_eq!(words, expected, "{line}");
        }
    }

    /// Rust's library goes by the same rules, and has a reader of its own.
    #[cfg(windows)]
    #[test]
    fn a_program_that_is_started_gets_the_same_words() {
        use std::io::Write;
        use std::os::windows::process::CommandExt;
        use std::process::Command;
        const ASKED: &str = "UPCHECK_TEST_OF_WORDS";
        if std::env::var_os(ASKED).is_some() {
            let words = std::env::args().skip_while(|word| word != "--").skip(1);
            let text: String = words.map(|word| format!("<{word}>\n")).collect();
            std::io::stdout().write_all(text.as_bytes()).expect("somebody reads");
            return;
        }
        let this = std::env::current_exe().expect("this program");
        let name = "words::tests::a_program_that_is_started_gets_the_same_words";
        for line in [r#"a b"c d"e "f\"g" h\\i "j\\" k\\\"l"#, r#""" "a b" 'c d' \\x\y z\"#, r#"x "a"" b" c"#]
        {
            let mut command = Command::new(&this);
            command.args([name, "--exact", "--nocapture", "--"]).raw_arg(line).env(ASKED, "1");
            let output = String::from_utf8(command.output().expect("it starts").stdout).expect("text");
            let mut words = Vec::new();
            split(format!("program {line}").as_bytes(), Syntax::Windows, &mut words).expect("words");
            let expected: String =
                words.split_terminator_nul().skip(1).map(|word| format!("<{word}>\n")).collect();
            assert!(output.contains(&expected), "{line}: {output}");
        }
    }
}
