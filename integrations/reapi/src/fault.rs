//! What gRPC says when something fails, made into an error that says what is wrong: the whole chain of causes, and a hint
//! where the words of the libraries tell nobody what to do.

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;
use std::error::Error as StdError;
use tonic::{Code, Status};

/// Why a request has no answer, before anybody knows whether that matters.
pub(crate) enum Failure {
    /// What the server, or the transport, said.
    Status(Box<Status>),
    /// What is an error already.
    Error(Error),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    /// Whether the server said that what was asked for is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Status(status) if status.code() == Code::NotFound && status.source().is_none())
    }

    /// Whether the connection is of no more use.
    pub(crate) fn is_of_transport(&self) -> bool {
        match self {
            // A server's own words have no source.
            Self::Status(status) => status.code() == Code::Unavailable || status.source().is_some(),
            // Perhaps the other side is gone without a word, as after a network's change.
            Self::Error(error) => error.kind() == ErrorKind::Stalled,
        }
    }

    /// Whether the same request may be answered a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Status(status) => {
                is_passing(status.code()) && !is_undecodable(status) && !is_too_large(status.message())
            }
            Self::Error(_) => false,
        }
    }
}

/// Whether what ended with this may end otherwise a moment later.
pub(crate) fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::Unavailable | Code::Aborted | Code::ResourceExhausted | Code::Internal | Code::Unknown
    )
}

/// The error behind a status.
pub(crate) fn of_status(operation: String, status: &Status, secrets: &[Secret]) -> Error {
    let mut words = vec![format!("{:?}", status.code())];
    words.push(status.message().to_owned());
    sources(status.source(), &mut words);
    let cause = told(words, secrets);
    let (kind, hint) = match status.code() {
        Code::Unauthenticated if status.message().contains("certificate") => {
            (ErrorKind::Refused, Some(NO_CERTIFICATE))
        }
        Code::Unauthenticated => (ErrorKind::Refused, Some(NO_CREDENTIALS)),
        Code::PermissionDenied => (ErrorKind::Refused, Some("these credentials are not allowed to do that")),
        _ if is_undecodable(status) => (ErrorKind::BrokenAnswer, None),
        _ if status.source().is_some() || status.message().contains("h2 protocol error") => {
            of_words(&cause).unwrap_or((ErrorKind::Unreachable, None))
        }
        Code::Unimplemented | Code::Unknown | Code::Internal if is_http(status.message()) => {
            (ErrorKind::NotACache, Some("an HTTP server or a proxy answered, not gRPC"))
        }
        Code::Unimplemented => {
            (ErrorKind::NotACache, Some("there is a gRPC server, but not of this service"))
        }
        Code::Unavailable if is_http(status.message()) => {
            (ErrorKind::NotACache, Some("an HTTP server or a proxy answered, not gRPC"))
        }
        _ if is_too_large(status.message()) => {
            (ErrorKind::Server, Some("the server takes smaller messages than it says that it does"))
        }
        _ => (ErrorKind::Server, None),
    };
    Error::with_hint(kind, operation, cause, hint)
}

/// The error behind a connection that did not come about.
pub(crate) fn of_connecting(
    operation: String,
    error: &(dyn StdError + 'static),
    secrets: &[Secret],
) -> Error {
    let mut words = Vec::new();
    sources(Some(error), &mut words);
    let cause = told(words, secrets);
    let (kind, hint) = of_words(&cause).unwrap_or((ErrorKind::Unreachable, None));
    Error::with_hint(kind, operation, cause, hint)
}

/// Text of a server, fit to be shown: without secrets that it repeats, without what would move a terminal's cursor, and
/// not endless.
pub(crate) fn shown(text: &str, secrets: &[Secret]) -> String {
    const MOST: usize = 400;
    let mut text = text.to_owned();
    secrets.iter().for_each(|secret| secret.hide_in(&mut text));
    let mut shown = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == MOST {
            shown.push_str("...");
            break;
        }
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

const NO_CREDENTIALS: &str = "the server wants credentials, or others than these";
const NO_CERTIFICATE: &str = "the server wants a client certificate, or another one";
const NOT_GRPC: &str = "that port does not speak gRPC without TLS: is it the server's HTTP port, or is the address one for grpcs://?";

/// What is behind words that libraries use when a connection fails.
fn of_words(cause: &str) -> Option<(ErrorKind, Option<&'static str>)> {
    use ErrorKind::{NotACache, Tls, Unreachable};
    const KNOWN: &[(&[&str], ErrorKind, &str)] = &[
        (
            &["UnknownIssuer"],
            Tls,
            "the authority that signed the server's certificate is not known here: name its certificate as CA",
        ),
        (
            &["NotValidForName", "not valid for name"],
            Tls,
            "the certificate is for another name: give that as the server's name",
        ),
        (&["Expired", "certificate expired"], Tls, "the certificate has expired, or a clock is wrong"),
        (&["NotValidYet", "not valid yet"], Tls, "the certificate is not valid yet, or a clock is wrong"),
        (&["CaUsedAsEndEntity"], Tls, "the server shows the certificate of an authority as its own"),
        (&["CertificateRequired", "CertificateUnknown", "UnknownCA"], Tls, NO_CERTIFICATE),
        (&["BadCertificate", "DecryptError"], Tls, "the server does not accept the client certificate"),
        (
            &["InvalidContentType", "InvalidMessage"],
            Tls,
            "that port does not speak TLS: is the address one for grpc://?",
        ),
        (
            &["HTTP/2 was not negotiated"],
            NotACache,
            "that port speaks TLS, but not gRPC: is it the server's HTTP port?",
        ),
        (
            &[
                "http2 error",
                "h2 protocol error",
                "frame with invalid size",
                "FRAME_SIZE_ERROR",
                "PROTOCOL_ERROR",
            ],
            NotACache,
            NOT_GRPC,
        ),
        (&["onnection refused"], Unreachable, "nothing listens there"),
        (&["o such file or directory"], Unreachable, "there is no such socket: does the server run?"),
    ];
    let found = KNOWN.iter().find(|(words, _, _)| words.iter().any(|word| cause.contains(word)));
    found.map(|&(_, kind, hint)| (kind, Some(hint)))
}

fn is_http(message: &str) -> bool {
    message.contains("mapped from HTTP status code") || message.contains("invalid compression flag")
}

fn is_undecodable(status: &Status) -> bool {
    let message = status.message();
    message.contains("failed to decode") || message.contains("decoded message length too large")
}

fn is_too_large(message: &str) -> bool {
    message.contains("larger than max")
}

/// What each cause says, from the outermost on, unless the one before has said it.
fn sources(mut error: Option<&(dyn StdError + 'static)>, words: &mut Vec<String>) {
    const DEEPEST: usize = 16;
    while let Some(cause) = error.filter(|_| words.len() < DEEPEST) {
        words.push(cause.to_string());
        error = cause.source();
    }
}

fn told(words: Vec<String>, secrets: &[Secret]) -> String {
    let mut told: Vec<String> = Vec::new();
    for word in words {
        let said = told.iter().any(|before| before.contains(&word));
        if !word.is_empty() && !said && word != "transport error" {
            told.push(word);
        }
    }
    shown(&told.join(": "), secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_shown_without_secrets_and_without_commands_for_a_terminal() {
        let secret = Secret::new("Bearer t0ken");
        let status = Status::unauthenticated(format!("no such user: t0ken\u{1b}[2J{}", "x".repeat(1000)));
        let error = of_status("asking x".into(), &status, &[secret]);
        assert_eq!(error.kind(), ErrorKind::Refused);
        let text = error.to_string();
        assert!(text.starts_with("asking x: Unauthenticated: no such user: ***\\u{1b}[2Jxxx"), "{text}");
        assert!(text.len() < 600, "{text}");
    }

    #[test]
    fn nothing_is_tried_again_that_a_server_refused() {
        for (status, expected) in [
            (Status::unavailable("x"), true),
            (Status::aborted("x"), true),
            (Status::internal("x"), true),
            (Status::unknown("x"), true),
            (Status::resource_exhausted("try later"), true),
            (Status::resource_exhausted("grpc: received message larger than max (1 vs. 2)"), false),
            (Status::internal("failed to decode Protobuf message: x"), false),
            (Status::unauthenticated("x"), false),
            (Status::permission_denied("x"), false),
            (Status::not_found("x"), false),
            (Status::invalid_argument("x"), false),
        ] {
            assert_eq!(Failure::from(status.clone()).may_pass(), expected, "{status}");
        }
    }
}
