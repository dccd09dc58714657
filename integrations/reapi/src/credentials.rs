//! Who asks, as headers: from the options, a credential helper, the address, or a netrc file, in this order.

mod helper;
mod netrc;

use crate::address::{Address, Login};
use crate::error::{Error, ErrorKind};
use crate::options::{Header, Netrc, Options};
use crate::secret::Secret;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use tonic::metadata::{Ascii, MetadataKey, MetadataMap, MetadataValue};

/// What is sent with each request, for now.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) headers: Vec<Header>,
    /// From when on a helper has to be asked again.
    pub(crate) expires: Option<Timestamp>,
}

impl Credentials {
    /// Finds out who asks. Reads files and runs a program: it blocks.
    ///
    /// # Errors
    /// When a helper or a file that was named fails, or credentials would be sent where others can read them.
    pub(crate) fn find(address: &Address, options: &Options) -> Result<Self, Error> {
        let mut found = Self { headers: options.headers.clone(), expires: None };
        let open = !address.is_private() && !options.insecure_auth;
        if open
            && (!found.headers.is_empty() || options.credential_helper.is_some() || address.login().is_some())
        {
            return Err(in_the_open(address));
        }
        if let Some(helper) = &options.credential_helper {
            let said = helper::ask(helper, address, options.helper_timeout)?;
            found.headers.extend(said.headers);
            found.expires = said.expires;
        }
        if found.has_authorization() {
            return Ok(found);
        }
        if let Some(login) = address.login() {
            found.headers.push(basic(login));
        } else if let Some(host) = address.host() {
            match (&options.netrc, open) {
                (Netrc::None, _) => {}
                // Nobody said that this file is meant for this cache.
                (Netrc::Usual, true) => {}
                (Netrc::File(_), true) => return Err(in_the_open(address)),
                (netrc, false) => found.headers.extend(netrc::login(netrc, host)?.as_ref().map(basic)),
            }
        }
        Ok(found)
    }

    /// The headers as gRPC sends them.
    pub(crate) fn metadata(&self) -> Result<MetadataMap, Error> {
        let mut metadata = MetadataMap::new();
        for Header { name, value } in &self.headers {
            let wrong = |what: &str| wrong(format!("the {what} of header {name:?} is none that can be sent"));
            let key: MetadataKey<Ascii> = name.parse().map_err(|_| wrong("name"))?;
            let mut value: MetadataValue<Ascii> = value.reveal().parse().map_err(|_| wrong("value"))?;
            value.set_sensitive(true);
            metadata.append(key, value);
        }
        Ok(metadata)
    }

    /// What must not be shown.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.headers.iter().map(|header| header.value.clone()).collect()
    }

    fn has_authorization(&self) -> bool {
        self.headers.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"))
    }
}

fn basic(login: &Login) -> Header {
    let text = BASE64_STANDARD.encode(format!("{}:{}", login.user, login.password.reveal()));
    Header { name: "authorization".into(), value: Secret::new(format!("Basic {text}")) }
}

fn in_the_open(address: &Address) -> Error {
    let hint = "TLS keeps them secret: grpcs://; whoever does not mind has to say so";
    let cause = "credentials would go over the network where others can read them".into();
    Error::with_hint(ErrorKind::Configuration, format!("asking {address}"), cause, Some(hint))
}

fn wrong(cause: String) -> Error {
    Error::new(ErrorKind::Configuration, "putting credentials together".into(), cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(address: &str, options: &Options) -> Result<Credentials, Error> {
        Credentials::find(&address.parse().expect("an address"), options)
    }

    #[test]
    fn credentials_are_not_sent_in_the_open() {
        let header = Header { name: "authorization".into(), value: Secret::new("Bearer x") };
        let with_header = Options { headers: vec![header], ..Options::default() };
        for (address, options) in [
            ("grpc://cache:1", with_header.clone()),
            ("grpc://me:pass@cache:1", Options::default()),
            ("grpc://cache:1", Options { credential_helper: Some("helper".into()), ..Options::default() }),
            ("grpc://cache:1", Options { netrc: Netrc::File("netrc".into()), ..Options::default() }),
        ] {
            let error = find(address, &options).expect_err("in the open");
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().starts_with("asking grpc://cache:1: credentials would go"), "{error}");
        }
        find("grpc://cache:1", &Options { netrc: Netrc::Usual, ..Options::default() })
            .expect("nothing to send");
        for address in ["grpcs://cache", "grpc://127.0.0.1:1", "unix:///x"] {
            assert_eq!(find(address, &with_header).expect("private").headers.len(), 1);
        }
        let anyway = Options { insecure_auth: true, ..with_header };
        find("grpc://cache:1", &anyway).expect("said to be fine");
    }

    #[test]
    fn what_is_said_more_clearly_counts() {
        let found = find("grpcs://me:pass@cache", &Options::default()).expect("credentials");
        assert_eq!(found.headers[0].value.reveal(), "Basic bWU6cGFzcw==");
        let header = Header { name: "Authorization".into(), value: Secret::new("Bearer x") };
        let options = Options { headers: vec![header], ..Options::default() };
        let found = find("grpcs://me:pass@cache", &options).expect("credentials");
        assert_eq!(found.headers.len(), 1);
        assert_eq!(found.headers[0].value.reveal(), "Bearer x");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        for (name, value) in [("a b", "s3cret"), ("x", "s3cret\r\nother: y"), ("x-bin", "s3cret")] {
            let headers = vec![Header { name: name.into(), value: Secret::new(value) }];
            let error = Credentials { headers, expires: None }.metadata().expect_err(name);
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
