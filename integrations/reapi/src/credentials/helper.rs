//! Credential helpers, as Bazel runs them: `PROGRAM get` reads `{"uri": "https://host/"}` and prints
//! `{"headers": {"Authorization": ["..."]}, "expires": "2030-01-01T00:00:00Z"}`.

use super::Credentials;
use crate::address::Address;
use crate::error::{Error, ErrorKind};
use crate::fault::shown;
use crate::options::Header;
use crate::secret::Secret;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// More than any helper says.
const MOST: u64 = 1 << 20;

/// What a helper has said, what it has complained of, and how it ended.
type Said = (Vec<u8>, Vec<u8>, ExitStatus);

/// Runs the helper, and reads what it says. It is ended if it takes longer than it may.
pub(super) fn ask(helper: &Path, address: &Address, longest: Duration) -> Result<Credentials, Error> {
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
    let said = talk(&mut child, &json!({ "uri": uri }).to_string(), longest);
    if !matches!(said, Ok(Some(_))) {
        // It may have ended just now: then there is nothing to kill.
        let _ = child.kill();
        let _ = child.wait();
    }
    let Some((output, complaint, status)) = said.map_err(|error| wrong(error.to_string()))? else {
        return Err(wrong(format!("it did not end within {} s, and was ended", longest.as_secs_f32())));
    };
    if !status.success() {
        // Its output may have secrets in it, its complaints are meant for people.
        let complaint = shown(String::from_utf8_lossy(&complaint).trim(), &[]);
        let colon = if complaint.is_empty() { "" } else { ": " };
        return Err(wrong(format!("it failed ({status}){colon}{complaint}")));
    }
    read(&output).map_err(|cause| wrong(cause.into()))
}

/// Tells a helper what is wanted, and waits for all that it says, and until it ends. `None`: it takes too long.
fn talk(child: &mut Child, wanted: &str, longest: Duration) -> io::Result<Option<Said>> {
    let end = Instant::now() + longest;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut input), Some(output), Some(complaint)) = streams else { return Ok(None) };
    let drain = |from: Box<dyn Read + Send>| {
        let (sender, drain) = mpsc::channel();
        thread::spawn(move || sender.send(drained(from)));
        drain
    };
    let (output, complaint) = (drain(Box::new(output)), drain(Box::new(complaint)));
    let wanted = wanted.to_owned();
    // One that does not read fails here, which is for it to judge.
    thread::spawn(move || input.write_all(wanted.as_bytes()));
    let left = || end.saturating_duration_since(Instant::now());
    let Ok(output) = output.recv_timeout(left()) else { return Ok(None) };
    let Ok(complaint) = complaint.recv_timeout(left()) else { return Ok(None) };
    // It has nothing more to say, and ends at once, as a rule. Nothing tells when.
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some((output, complaint, status)));
        }
        if left().is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left()));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
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
    const LONG: Duration = Duration::from_secs(600);

    #[cfg(unix)]
    fn helper(folder: &Path, script: &str) -> std::path::PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("helper");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
        path
    }

    #[cfg(unix)]
    #[test]
    fn a_helper_is_run_and_told_the_host() {
        let folder = tempfile::tempdir().expect("a folder");
        let address: Address = "grpcs://cache:444/main".parse().expect("an address");
        let good = helper(
            folder.path(),
            r#"read -r said || :; [ "$1" = get ] || exit 9
            printf '{"headers":{"said":["%s"]}}' "$(printf %s "$said" | tr -d '"')""#,
        );
        let said = ask(&good, &address, LONG).expect("credentials");
        assert_eq!(said.headers[0].value.reveal(), "{uri:https://cache:444/}");

        let bad = helper(folder.path(), "echo s3cret; echo 'log in first' >&2; exit 3");
        let error = ask(&bad, &address, LONG).expect_err("it failed").to_string();
        assert!(error.ends_with("it failed (exit status: 3): log in first"), "{error}");
        let error = ask(&folder.path().join("none"), &address, LONG).expect_err("there is none").to_string();
        // What emulates another processor may find that out only after it was started.
        assert!(error.contains("No such file") || error.ends_with("(exit status: 127)"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_helper_that_does_not_end_in_time_is_ended_whatever_it_has_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let address: Address = "grpcs://cache".parse().expect("an address");
        for script in [
            "exec sleep 600",
            "echo '{}'; exec sleep 600",
            // It has closed all that anybody could read, and goes on.
            "echo '{}'; exec sleep 600 > /dev/null 2>&1",
        ] {
            let pid = folder.path().join("pid");
            let slow = helper(folder.path(), &format!("echo $$ > {}; {script}", pid.display()));
            let error = ask(&slow, &address, Duration::from_millis(200)).expect_err("it takes too long");
            assert!(error.to_string().ends_with("it did not end within 0.2 s, and was ended"), "{error}");
            // It may have been ended before it could say who it is.
            let pid = std::fs::read_to_string(pid).unwrap_or_default();
            assert!(pid.is_empty() || !Path::new("/proc").join(pid.trim()).exists(), "{script}");
        }
    }
}
