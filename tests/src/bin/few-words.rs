//! The few words of a shell that the suites' commands are made of, for Windows, where ninja starts programs without one:
//! under the names `cat`, `touch` and so on this program gets the whole line, and does what `sh -c` does elsewhere.
//!
//! Known are `;`, `&&`, `||`, `>`, `>>`, `<`, quotes of both kinds, and the commands of [`run`]. A backslash means itself:
//! it stands in paths.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::SystemTime;

fn main() -> ExitCode {
    let line = line();
    match words(&line).and_then(|words| list(&words)) {
        Ok(status) => ExitCode::from(status),
        Err(trouble) => {
            let _ = writeln!(std::io::stderr(), "{trouble}, in: {line}");
            ExitCode::from(2)
        }
    }
}

/// The line as it was given, with its quotes.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the standard library hands out arguments only, which have lost their quotes")]
fn line() -> String {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetCommandLineW() -> *const u16;
    }
    // SAFETY: the operating system hands out a string that ends in a zero and lives as long as the process.
    let units = unsafe {
        let start = GetCommandLineW();
        let length = (0..).take_while(|&at| *start.add(at) != 0).count();
        std::slice::from_raw_parts(start, length)
    };
    let line = String::from_utf16_lossy(units);
    // The program may have been started by its path, as Windows itself does it.
    let (first, rest) = match line.strip_prefix('"').and_then(|line| line.split_once('"')) {
        Some(quoted) => quoted,
        None => line.split_at(line.find(' ').unwrap_or(line.len())),
    };
    let name = first.rsplit(['\\', '/']).next().unwrap_or(first);
    format!("{}{rest}", name.strip_suffix(".exe").unwrap_or(name))
}

#[cfg(not(windows))]
fn line() -> String {
    std::env::args().skip(1).collect::<Vec<_>>().join(" ")
}

#[derive(Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    /// `;` and so on.
    Sign(&'static str),
}

const SIGNS: [&str; 6] = ["&&", "||", ">>", ">", "<", ";"];

fn words(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut text: Option<String> = None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
        if first.is_ascii_whitespace() || sign.is_some() {
            words.extend(text.take().map(Word::Text));
            words.extend(sign.map(Word::Sign));
            rest = &rest[sign.map_or(1, str::len)..];
            continue;
        }
        // What ninja puts quotes around there, it puts double ones around: within a word others mean themselves.
        let is_quote = first == '"' || (first == '\'' && text.is_none());
        let text = text.get_or_insert_default();
        rest = &rest[first.len_utf8()..];
        if is_quote {
            let (quoted, after) = rest.split_once(first).ok_or("a quote that does not end")?;
            text.push_str(quoted);
            rest = after;
        } else {
            text.push(first);
        }
    }
    words.extend(text.map(Word::Text));
    Ok(words)
}

/// Runs commands until one decides. The status of the last one that was run.
fn list(words: &[Word]) -> Result<u8, String> {
    let mut status = 0;
    let mut is_wanted = true;
    let mut start = 0;
    for end in 0..=words.len() {
        let joint = match words.get(end) {
            Some(Word::Sign(sign @ ("&&" | "||" | ";"))) => *sign,
            None => ";",
            Some(_) => continue,
        };
        if is_wanted && start < end {
            status = command(&words[start..end])?;
        }
        is_wanted = match joint {
            "&&" => status == 0,
            "||" => status != 0,
            _ => true,
        };
        start = end + 1;
    }
    Ok(status)
}

fn command(words: &[Word]) -> Result<u8, String> {
    let mut arguments = Vec::new();
    let mut output: Box<dyn Write> = Box::new(std::io::stdout());
    let mut input: Box<dyn Read> = Box::new(std::io::stdin());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let sign = match word {
            Word::Text(text) => {
                arguments.push(text.as_str());
                continue;
            }
            Word::Sign(sign) => *sign,
        };
        let Some(Word::Text(path)) = words.next() else { return Err(format!("nothing behind {sign}")) };
        let failed = |error: std::io::Error| format!("{path}: {error}");
        match sign {
            ">" => output = Box::new(File::create(path).map_err(failed)?),
            ">>" => {
                let file = OpenOptions::new().create(true).append(true).open(path);
                output = Box::new(file.map_err(failed)?);
            }
            _ => input = Box::new(File::open(path).map_err(failed)?),
        }
    }
    let Some((name, arguments)) = arguments.split_first() else { return Ok(0) };
    run(name, arguments, &mut input, &mut output).map_err(|error| format!("{name}: {error}"))
}

fn run(name: &str, arguments: &[&str], input: &mut dyn Read, output: &mut dyn Write) -> std::io::Result<u8> {
    match (name, arguments) {
        ("true" | ":", _) => {}
        ("false", _) => return Ok(1),
        ("echo", words) => writeln!(output, "{}", words.join(" "))?,
        ("cat", []) => {
            std::io::copy(input, output)?;
        }
        ("cat", paths) => {
            for path in paths {
                output.write_all(&std::fs::read(path)?)?;
            }
        }
        // Reading and writing, so that the copy is as young as it should be.
        ("cp", [from, to]) => std::fs::write(to, std::fs::read(from)?)?,
        ("touch", paths) => {
            for path in paths {
                let file = OpenOptions::new().create(true).append(true).open(path)?;
                file.set_modified(SystemTime::now())?;
            }
        }
        ("test", ["-e", path]) => return Ok(u8::from(!std::fs::exists(path)?)),
        ("mkdir", ["-p", path]) => std::fs::create_dir_all(path)?,
        ("rm", ["-f", paths @ ..]) => {
            for path in paths {
                let _ = std::fs::remove_file(path);
            }
        }
        _ => {
            writeln!(std::io::stderr(), "no such command: {name} {}", arguments.join(" "))?;
            return Ok(127);
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_into_words_and_signs() {
        let text = |text: &str| Word::Text(text.into());
        assert_eq!(
            words(r#"cat 'a  b' "c\d".x>e; t&&f||g"#),
            Ok(vec![
                text("cat"),
                text("a  b"),
                text(r"c\d.x"),
                Word::Sign(">"),
                text("e"),
                Word::Sign(";"),
                text("t"),
                Word::Sign("&&"),
                text("f"),
                Word::Sign("||"),
                text("g")
            ])
        );
        assert_eq!(words("touch it's"), Ok(vec![text("touch"), text("it's")]));
        assert!(words("echo 'a").is_err());
    }

    #[test]
    fn commands_run_until_one_decides() {
        for (line, status) in [
            ("true", 0),
            ("false", 1),
            ("false || true", 0),
            ("true || false", 0),
            ("false && true; true", 0),
            ("true && false", 1),
            ("false || nothing", 127),
            ("", 0),
        ] {
            assert_eq!(words(line).and_then(|words| list(&words)), Ok(status), "{line}");
        }
    }
}
