//! The few words of a shell that the suites' commands are made of, for Windows, where ninja starts programs without one:
//! under the names `cat`, `touch` and so on this program gets the whole line, and does what `sh -c` does elsewhere.
//!
//! As `sh` it gets `-c` and such a line, or the name of a file with such lines.
//!
//! Known are `;`, `&&`, `||`, `>`, `>>`, `<`, `>&2`, `exit`, quotes of both kinds, `*` in the last part of a path, and the
//! commands of [`run`]. A backslash means itself: it stands in paths.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

fn main() -> ExitCode {
    let line = script().unwrap_or_else(line);
    match words(&line).and_then(|words| list(&words)) {
        Ok(status) => ExitCode::from(status),
        Err(trouble) => {
            let _ = writeln!(std::io::stderr(), "{trouble}, in: {line}");
            ExitCode::from(2)
        }
    }
}

/// What `sh` is to do, if this is one.
fn script() -> Option<String> {
    let arguments: Vec<_> = std::env::args_os().collect();
    if Path::new(arguments.first()?).file_stem()? != "sh" {
        return None;
    }
    if arguments.get(1)? == "-c" {
        return Some(arguments.get(2)?.to_string_lossy().into_owned());
    }
    lines(Path::new(arguments.get(1)?)).ok()
}

/// A file's lines as one.
fn lines(path: &Path) -> std::io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.collect::<Vec<_>>().join(";"))
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

const SIGNS: [&str; 7] = ["&&", "||", ">&2", ">>", ">", "<", ";"];

fn words(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut text: Option<String> = None;
    let mut is_pattern = false;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
        if first.is_ascii_whitespace() || sign.is_some() {
            end(text.take(), &mut is_pattern, &mut words);
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
            is_pattern |= first == '*';
            text.push(first);
        }
    }
    end(text, &mut is_pattern, &mut words);
    Ok(words)
}

/// A word ends: itself, or the files that it means.
fn end(text: Option<String>, is_pattern: &mut bool, words: &mut Vec<Word>) {
    let Some(text) = text else { return };
    let files = if *is_pattern { files(&text) } else { Vec::new() };
    *is_pattern = false;
    if files.is_empty() {
        words.push(Word::Text(text));
    } else {
        words.extend(files.into_iter().map(Word::Text));
    }
}

/// The files that a path with one `*` in its last part means, in order.
fn files(pattern: &str) -> Vec<String> {
    let (folder, name) = pattern.rsplit_once('/').map_or(("", pattern), |(folder, name)| (folder, name));
    let Some((start, end)) = name.split_once('*') else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(if folder.is_empty() { "." } else { folder }) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_meant = |name: &String| {
        name.len() >= start.len() + end.len()
            && name.starts_with(start)
            && name.ends_with(end)
            && !name.starts_with('.')
    };
    let path = |name: String| if folder.is_empty() { name } else { format!("{folder}/{name}") };
    let mut files: Vec<_> = names.filter(is_meant).map(path).collect();
    files.sort();
    files
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
        if is_wanted
            && let [Word::Text(exit), rest @ ..] = &words[start..end]
            && exit == "exit"
        {
            return match rest {
                [Word::Text(told)] => told.parse().map_err(|_| format!("no status: {told}")),
                _ => Ok(status),
            };
        }
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
        if sign == ">&2" {
            output = Box::new(std::io::stderr());
            continue;
        }
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
        ("sh", [path]) => {
            let lines = lines(Path::new(path))?;
            return words(&lines).and_then(|words| list(&words)).map_err(std::io::Error::other);
        }
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
        ("cp", [files @ .., to]) => {
            for from in files {
                let mut to = PathBuf::from(to);
                if to.is_dir() {
                    to.extend(Path::new(from).file_name());
                }
                std::fs::write(to, std::fs::read(from)?)?;
            }
        }
        ("mv", [from, to]) => std::fs::rename(from, to)?,
        ("cmp", ["-s", one, other]) => {
            return Ok(u8::from(std::fs::read(one).ok() != std::fs::read(other).ok()));
        }
        ("printf", [text]) => {
            write!(output, "{}", text.replace("\\n", "\n").replace("\\\\", "\\"))?;
        }
        ("read", [_]) => {
            let mut byte = [0];
            while input.read(&mut byte)? == 1 && byte != *b"\n" {}
        }
        // Long ago, whenever it is.
        ("touch", [path, "-d", _]) => {
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800);
            OpenOptions::new().append(true).open(path)?.set_modified(long_ago)?;
        }
        ("touch", paths) => {
            for path in paths {
                let file = OpenOptions::new().create(true).append(true).open(path)?;
                file.set_modified(SystemTime::now())?;
            }
        }
        ("test", ["-e", path]) => return Ok(u8::from(!std::fs::exists(path)?)),
        ("test", ["-s", path]) => return Ok(u8::from(std::fs::metadata(path).map_or(0, |it| it.len()) == 0)),
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
