//! How a cache is asked: with which credentials, certificates and limits of time.

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;
use std::path::PathBuf;
use std::time::Duration;

/// How a cache is asked. The default asks without credentials and believes the certificates that the system believes.
#[derive(Clone, Debug)]
pub struct Options {
    /// A file with the certificates, in PEM, of the authorities to believe instead of the system's.
    pub ca: Option<PathBuf>,
    /// A file with this side's certificate, in PEM, for servers that demand one. Goes with `client_key`.
    pub client_certificate: Option<PathBuf>,
    /// A file with the key of `client_certificate`, in PEM.
    pub client_key: Option<PathBuf>,
    /// The name that the server's certificate has to be for, instead of the address's host.
    pub server_name: Option<String>,
    /// Headers that travel with each request.
    pub headers: Vec<Header>,
    /// A program that knows credentials, as Bazel's credential helpers do: called with `get`, it is told a URI and answers
    /// with headers.
    pub credential_helper: Option<PathBuf>,
    /// Where passwords are looked up by the name of the host, if nothing else says who asks.
    pub netrc: Netrc,
    /// Whether credentials may be sent where others can read them: without TLS, to another machine.
    pub insecure_auth: bool,
    /// The longest that connecting may take, with everything that belongs to it: finding the host, TLS, and the server's
    /// first answer. [1 s]
    pub connect_timeout: Duration,
    /// How long a server that was reached may be silent. As long as anything comes from it, however slowly, it is waited
    /// for. [30 s]
    pub stall_timeout: Duration,
    /// How long all that is asked of a server may take together once there is a connection, however much comes from it
    /// meanwhile. [no limit]
    pub total_timeout: Option<Duration>,
    /// How long a credential helper may take. It may have to ask a person, or another machine. [10 s]
    pub helper_timeout: Duration,
    /// How long a server that could not be reached is not asked again: until then every question fails at once. [10 s]
    pub reconnect_after: Duration,
    /// How often a question is asked again that a busy or restarted server did not answer. The first time after 50 ms, then
    /// after twice as long each time. [4]
    pub retries: u32,
    /// How many questions about results may be under way at once. [512]
    pub max_in_flight: usize,
    /// What the server is told that asks.
    pub user_agent: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ca: None,
            client_certificate: None,
            client_key: None,
            server_name: None,
            headers: Vec::new(),
            credential_helper: None,
            netrc: Netrc::None,
            insecure_auth: false,
            connect_timeout: Duration::from_secs(1),
            stall_timeout: Duration::from_secs(30),
            total_timeout: None,
            helper_timeout: Duration::from_secs(10),
            reconnect_after: Duration::from_secs(10),
            retries: 4,
            max_in_flight: 512,
            user_agent: concat!("upcheck/", env!("CARGO_PKG_VERSION")).into(),
        }
    }
}

/// A header that travels with each request.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name, in lower case.
    pub name: String,
    /// Its value, which is taken for a secret.
    pub value: Secret,
}

impl Header {
    /// Reads `NAME=VARIABLE`: a header, and the variable of the environment that has its value. So no secret stands among a
    /// program's arguments, where everybody can read them.
    ///
    /// # Errors
    /// When it has another form, or the variable is not set, or no text.
    pub fn from_variable(text: &str) -> Result<Self, Error> {
        let wrong = |cause: String| Error::new(ErrorKind::Configuration, "reading a header".into(), cause);
        let (name, variable) = text
            .split_once('=')
            .filter(|(name, variable)| !name.is_empty() && !variable.is_empty())
            .ok_or_else(|| {
                wrong("it has to be NAME=VARIABLE, with the name of the variable that has the value".into())
            })?;
        let value = std::env::var(variable).map_err(|error| match error {
            std::env::VarError::NotPresent => {
                // Somebody who wrote the value itself must not find it in a log.
                wrong(format!(
                    "the variable that is named for {name} is not set (it is named, the value is not written)"
                ))
            }
            std::env::VarError::NotUnicode(_) => {
                wrong(format!("the variable that is named for {name} is no text"))
            }
        })?;
        Ok(Self { name: name.to_ascii_lowercase(), value: Secret::new(value.trim()) })
    }
}

/// Where passwords are looked up by the name of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Netrc {
    /// Nowhere.
    #[default]
    None,
    /// Where `NETRC` says, else `.netrc` in the home directory. Without such a file: nowhere.
    Usual,
    /// In this file.
    File(PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_was_written_out_is_not_repeated() {
        let error = Header::from_variable("authorization=Bearer s3cret").expect_err("no such variable");
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(!error.to_string().contains("s3cret"), "{error}");
        for text in ["", "x", "=X", "x="] {
            Header::from_variable(text).expect_err(text);
        }
        let header = Header::from_variable("X-Path=PATH").expect("a variable that is set");
        assert_eq!(header.name, "x-path");
        assert_eq!(Some(header.value.reveal()), std::env::var("PATH").ok().as_deref().map(str::trim));
        assert_eq!(format!("{header:?}"), "Header { name: \"x-path\", value: *** }");
    }
}
