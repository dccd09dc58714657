//! A command line, split into its arguments.
//!
//! What a shell would do that knows of quotes and backslashes only, since that is what `compile_commands.json` allows:
//! blanks separate words; `'...'` is taken as it is; in `"..."` a backslash goes with `"`, `\`, `$`, `` ` `` and the end
//! of a line, and stands for itself otherwise; elsewhere it goes with anything. Variables, patterns and comments mean
//! nothing.

/// Appends the words of a line, each with a NUL behind it.
pub(crate) fn split(line: &[u8], words: &mut Vec<u8>) -> Result<(), &'static str> {
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
            assert_eq!(split(line.as_bytes(), &mut words), Ok(()), "{line}");
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
            assert!(split(line.as_bytes(), &mut Vec::new()).is_err(), "{line}");
        }
    }
}
