//! netrc files: `machine HOST login NAME password WORD`, and `default` for all other hosts.

use crate::address::Login;
use crate::error::{Error, ErrorKind};
use crate::options::Netrc;
use crate::secret::Secret;
use std::io;
use std::path::{Path, PathBuf};

/// Who asks a host, if the file knows.
pub(super) fn login(netrc: &Netrc, host: &str) -> Result<Option<Login>, Error> {
    let (path, named) = match netrc {
        Netrc::None => return Ok(None),
        Netrc::File(path) => (Some(path.clone()), true),
        Netrc::Usual => (usual(), false),
    };
    let Some(path) = path else { return Ok(None) };
    match read(&path, named)? {
        Some(text) => Ok(find(&text, host)),
        None => Ok(None),
    }
}

/// What a file says; `None`: it is not there, and need not be.
fn read(path: &Path, has_to_be: bool) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        // Nor has everybody a home: that of services is often /dev/null.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                && !has_to_be =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::new(
            ErrorKind::Configuration,
            format!("reading {}", path.display()),
            error.to_string(),
        )),
    }
}

fn usual() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("NETRC").or_else(|| std::env::home_dir().map(|home| home.join(".netrc")))
}

/// The first entry that is for the host, or for all.
fn find(text: &str, host: &str) -> Option<Login> {
    let mut tokens = Tokens { rest: text };
    let mut entry: Option<(Option<String>, Option<String>)> = None;
    while let Some(token) = tokens.next() {
        let begins = matches!(token.as_str(), "machine" | "default" | "macdef");
        if begins && let Some(found) = entry.take() {
            return finished(found);
        }
        match token.as_str() {
            "machine" => {
                entry = tokens.next().filter(|name| name.eq_ignore_ascii_case(host)).map(|_| (None, None))
            }
            "default" => entry = Some((None, None)),
            "macdef" => tokens.skip_macro(),
            "login" | "password" | "account" => {
                let value = tokens.next();
                match &mut entry {
                    Some((login, _)) if token == "login" => *login = value,
                    Some((_, password)) if token == "password" => *password = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    finished(entry?)
}

fn finished((user, password): (Option<String>, Option<String>)) -> Option<Login> {
    Some(Login { user: user?, password: Secret::new(password?) })
}

struct Tokens<'a> {
    rest: &'a str,
}

impl Iterator for Tokens<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => break,
            }
        }
        let mut token = String::new();
        let mut letters = self.rest.char_indices();
        let mut quoted = false;
        let end = loop {
            let Some((at, letter)) = letters.next() else { break self.rest.len() };
            match letter {
                '"' if at == 0 => quoted = true,
                '"' if quoted => break at + 1,
                '\\' => token.extend(letters.next().map(|(_, letter)| letter)),
                letter if letter.is_whitespace() && !quoted => break at,
                letter => token.push(letter),
            }
        };
        let is_token = end > 0;
        self.rest = self.rest.get(end..).unwrap_or_default();
        is_token.then_some(token)
    }
}

impl Tokens<'_> {
    /// A macro ends with an empty line.
    fn skip_macro(&mut self) {
        let ends = |text: &'_ str| text.find("\n\n").map(|at| at + 2);
        self.rest = ends(self.rest).and_then(|at| self.rest.get(at..)).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &str) -> Option<(String, String)> {
        find(text, host).map(|login| (login.user, login.password.reveal().to_owned()))
    }

    #[test]
    fn the_first_entry_that_fits_counts() {
        let text = "# mine\nmachine other login a password b\nmachine Cache\n  login \"me too\"\n  account x password p\\ w#1\n\
                    macdef init\nmachine cache login no password no\n\ndefault login any password one\n";
        assert_eq!(found(text, "cache"), Some(("me too".into(), "p w#1".into())));
        assert_eq!(found(text, "other"), Some(("a".into(), "b".into())));
        assert_eq!(found(text, "third"), Some(("any".into(), "one".into())));
        assert_eq!(found("machine cache login a", "cache"), None);
        assert_eq!(found("", "cache"), None);
        assert_eq!(found("machine", "cache"), None);
        assert_eq!(found("machine cache password \"open", "cache"), None);
    }

    #[test]
    fn who_has_no_home_has_no_file_there() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for home in [file.path(), Path::new("/no/such/home")] {
            assert_eq!(read(&home.join(".netrc"), false).expect("that is no error"), None);
            assert!(read(&home.join(".netrc"), true).is_err());
        }
        // Of a file that is there everybody should know why it does not count.
        assert!(read(std::env::temp_dir().as_path(), false).is_err());
    }

    #[test]
    fn a_file_that_was_named_has_to_be_there() {
        let error = login(&Netrc::File("/no/such/netrc".into()), "cache").expect_err("it is missing");
        assert!(error.to_string().starts_with("reading /no/such/netrc: "), "{error}");
    }
}
