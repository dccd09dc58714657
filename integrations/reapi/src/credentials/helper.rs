//! Credential helpers, as Bazel runs them: `PROGRAM get` reads `{"uri": "https://host/"}` and prints
//! `{"headers": {"Authorization": ["..."]}, "expires": "2030-01-01T00:00:00Z"}`.

use super::Credentials;
use crate::address::Address;
use crate::error::{Error, ErrorKind};
use crate::fault::shown;
use crate::options::Header;
use crate::secret::Secret;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a helper may take. It may have to ask a person, or another machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than any helper says.
const MOST: u64 = 1 << 20;

/// Runs the helper, and reads what it says.
pub(super) fn ask(helper: &Path, address: &Address) -> Result<Credentials, Error> {
    let wrong = |cause: String| {
        let operation = format!("asking the credential helper {} for {address}", helper.display());
        Error::new(ErrorKind::Configuration, operation, cause)
    };
    let uri = format!("https://{}/", address.authority());
    let mut child = Command::new(helper)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| wrong(error.to_string()))?;
    let said = talk(&mut child, &json!({ "uri": uri }).to_string());
    if said.is_none() {
        // It may have ended just now: then there is nothing to kill.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| wrong(error.to_string()))?;
    let Some((output, complaint)) = said else {
        return Err(wrong(format!("it said nothing for {} s, and was ended", PATIENCE.as_secs())));
    };
    if !status.success() {
        // Its output may have secrets in it, its complaints are meant for people.
        let complaint = shown(String::from_utf8_lossy(&complaint).trim(), &[]);
        let colon = if complaint.is_empty() { "" } else { ": " };
        return Err(wrong(format!("it failed ({status}){colon}{complaint}")));
    }
    read(&output).map_err(|cause| wrong(cause.into()))
}

/// Tells a helper what is wanted, and waits for all that it says, and complains.
fn talk(child: &mut Child, wanted: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut input, output, complaint) = (child.stdin.take()?, child.stdout.take()?, child.stderr.take()?);
    let (sender, said) = mpsc::channel();
    let wanted = wanted.to_owned();
    let complaints = sender.clone();
    // One that does not read fails here, which is for it to judge.
    thread::spawn(move || input.write_all(wanted.as_bytes()));
    thread::spawn(move || sender.send((true, drained(output))));
    thread::spawn(move || complaints.send((false, drained(complaint))));
    let (first, second) = (said.recv_timeout(PATIENCE).ok()?, said.recv_timeout(PATIENCE).ok()?);
    Some(if first.0 { (first.1, second.1) } else { (second.1, first.1) })
}

fn drained(from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is missing, and then makes no sense.
    let _ = from.take(MOST).read_to_end(&mut bytes);
    bytes
}

/// Reads what a helper says. What is wrong with it is told without any of it.
fn read(output: &[u8]) -> Result<Credentials, &'static str> {
    let answer: Value = serde_json::from_slice(output).map_err(|_| "what it printed is no JSON")?;
    let mut credentials = Credentials::default();
    match answer.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(headers)) => {
            for (name, values) in headers {
                let values = values.as_array().ok_or("a header's values are no list")?;
                for value in values {
                    let value = Secret::new(value.as_str().ok_or("a header's value is no text")?);
                    credentials.headers.push(Header { name: name.to_ascii_lowercase(), value });
                }
            }
        }
        Some(_) => return Err("its headers are no object"),
    }
    match answer.get("expires") {
        None | Some(Value::Null) => {}
        Some(Value::String(expires)) if expires.is_empty() => {}
        Some(expires) => {
            let expires = expires.as_str().and_then(|text| text.parse().ok());
            credentials.expires = Some(expires.ok_or("when it expires is no moment of RFC 3339")?);
        }
    }
    Ok(credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_helper_says_is_read() {
        let said =
            br#"{"headers":{"Authorization":["Bearer a"],"X":["1","2"]},"expires":"2030-01-01T00:00:00Z"}"#;
        let read = read(said).expect("credentials");
        let headers: Vec<_> =
            read.headers.iter().map(|header| (header.name.as_str(), header.value.reveal())).collect();
        assert_eq!(headers, [("authorization", "Bearer a"), ("x", "1"), ("x", "2")]);
        assert_eq!(read.expires.map(|expires| expires.to_string()).as_deref(), Some("2030-01-01T00:00:00Z"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_nothing_is_too_little() {
        assert!(read(b"{}").expect("nothing").headers.is_empty());
        for said in [
            "",
            "[",
            r#"{"headers":[]}"#,
            r#"{"headers":{"a":"b"}}"#,
            r#"{"headers":{"a":[1]}}"#,
            r#"{"expires":"soon"}"#,
        ] {
            read(said.as_bytes()).expect_err(said);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_helper_is_run_and_told_the_host() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let helper = |name: &str, script: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
            path
        };
        let address: Address = "grpcs://cache:444/main".parse().expect("an address");
        let good = helper(
            "good",
            r#"read -r said || :; [ "$1" = get ] || exit 9
            printf '{"headers":{"said":["%s"]}}' "$(printf %s "$said" | tr -d '"')""#,
        );
        let said = ask(&good, &address).expect("credentials");
        assert_eq!(said.headers[0].value.reveal(), "{uri:https://cache:444/}");

        let bad = helper("bad", "echo s3cret; echo 'log in first' >&2; exit 3");
        let error = ask(&bad, &address).expect_err("it failed").to_string();
        assert!(error.ends_with("it failed (exit status: 3): log in first"), "{error}");
        let error = ask(&folder.path().join("none"), &address).expect_err("there is none").to_string();
        assert!(error.contains("No such file"), "{error}");
    }
}
