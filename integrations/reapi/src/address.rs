//! Where a cache is: `grpc://host:port/instance`, `grpcs://host/instance`, `unix:///path`.

use crate::secret::Secret;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a cache is. A user and a password that stand in it are taken out, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    place: Place,
    instance: String,
    login: Option<Login>,
}

/// What to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A port of a machine.
    Tcp {
        /// A name or an address; one of IPv6 without brackets.
        host: String,
        /// The port.
        port: u16,
        /// Whether TLS is spoken there.
        tls: bool,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Secret,
}

impl Address {
    /// What to connect to.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The part of the server that is meant; usually empty. Not every server keeps instances apart.
    #[must_use]
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Whether what is sent can be read by nobody on the way: TLS, or this machine.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match &self.place {
            Place::Unix(_) => true,
            Place::Tcp { tls: true, .. } => true,
            Place::Tcp { host, .. } => {
                host.eq_ignore_ascii_case("localhost")
                    || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
            }
        }
    }

    pub(crate) fn login(&self) -> Option<&Login> {
        self.login.as_ref()
    }

    /// The machine's name, of a place that has one.
    pub(crate) fn host(&self) -> Option<&str> {
        match &self.place {
            Place::Tcp { host, .. } => Some(host),
            Place::Unix(_) => None,
        }
    }

    /// The host and the port, as a credential helper is told them.
    pub(crate) fn authority(&self) -> String {
        match &self.place {
            Place::Tcp { host, port, .. } => format!("{}:{port}", Bracketed(host)),
            Place::Unix(_) => "localhost".into(),
        }
    }

    /// What gRPC's transport is told.
    pub(crate) fn uri(&self) -> String {
        match &self.place {
            Place::Tcp { host, port, tls } => {
                format!("{}://{}:{port}", if *tls { "https" } else { "http" }, Bracketed(host))
            }
            Place::Unix(path) => format!("unix://{}", path.display()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Tcp { host, port, tls } => {
                write!(f, "{}://{}:{port}", if *tls { "grpcs" } else { "grpc" }, Bracketed(host))?;
                if !self.instance.is_empty() {
                    write!(f, "/{}", self.instance)?;
                }
                Ok(())
            }
            Place::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(AddressError::Scheme)?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "grpc" => false,
            "grpcs" => true,
            "unix" => return unix(rest),
            "http" | "https" => return Err(AddressError::Http),
            _ => return Err(AddressError::Scheme),
        };
        // No name and no instance has these, so what has them is a mistake, or an attempt at another header.
        if rest.contains(['?', '#', '\\']) || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(AddressError::Character);
        }
        let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(parse_login(login)?), place),
            None => (None, authority),
        };
        let (host, port) = parse_host(place)?;
        let port = match port {
            Some(port) => port.parse().ok().filter(|&port| port != 0).ok_or(AddressError::Port)?,
            None if tls => 443,
            None => return Err(AddressError::NoPort),
        };
        let instance = instance.trim_end_matches('/').to_owned();
        Ok(Self { place: Place::Tcp { host, port, tls }, instance, login })
    }
}

/// Why a text is no address. What it shows has nothing of the text in it, which may have a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// It does not begin with one of the schemes.
    Scheme,
    /// It is one of HTTP.
    Http,
    /// It has a character that none has.
    Character,
    /// The host is missing, or no host.
    Host,
    /// The port is no port.
    Port,
    /// The port is missing.
    NoPort,
    /// User and password cannot be read.
    Login,
    /// The path of a socket is not absolute, or no text.
    Socket,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "it has to begin with grpc://, grpcs:// or unix://",
            Self::Http => {
                "caches are asked over gRPC: grpc:// or grpcs://, with the port that the server has for it"
            }
            Self::Character => "there is a character in it that no address has",
            Self::Host => "there is no host in it: grpc://HOST:PORT",
            Self::Port => "a port is a number from 1 to 65535",
            Self::NoPort => "there is no port in it: grpc://HOST:PORT",
            Self::Login => {
                "user and password cannot be read: USER:PASSWORD@, with %40 for @, %3A for : and %2F for /"
            }
            Self::Socket => "the path of a socket has to be absolute: unix:///PATH",
        })
    }
}

impl std::error::Error for AddressError {}

/// A host as it stands in an address.
struct Bracketed<'a>(&'a str);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(':') { write!(f, "[{}]", self.0) } else { f.write_str(self.0) }
    }
}

fn unix(path: &str) -> Result<Address, AddressError> {
    if !path.starts_with('/') || path.len() == 1 || path.contains(char::is_control) {
        return Err(AddressError::Socket);
    }
    let place = Place::Unix(Path::new(path).to_owned());
    Ok(Address { place, instance: String::new(), login: None })
}

fn parse_host(place: &str) -> Result<(String, Option<&str>), AddressError> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(AddressError::Host)?;
        host.parse::<Ipv6Addr>().map_err(|_| AddressError::Host)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host.to_owned(), Some(port))),
            None if rest.is_empty() => Ok((host.to_owned(), None)),
            None => Err(AddressError::Host),
        };
    }
    let (host, port) = match place.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    };
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if host.is_empty() || !host.bytes().all(named) {
        return Err(AddressError::Host);
    }
    Ok((host.to_owned(), port))
}

fn parse_login(text: &str) -> Result<Login, AddressError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let user =
        decoded(user).filter(|user| !user.is_empty() && !user.contains(':')).ok_or(AddressError::Login)?;
    let password = decoded(password).ok_or(AddressError::Login)?;
    Ok(Login { user, password: Secret::new(password) })
}

/// Replaces `%xx`.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let value = digit()? << 4 | digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Address, AddressError> {
        text.parse()
    }

    #[test]
    fn addresses_are_shown_as_they_are_read() {
        for (text, shown, uri) in [
            ("grpc://cache:9092", "grpc://cache:9092", "http://cache:9092"),
            ("GRPC://cache:9092/", "grpc://cache:9092", "http://cache:9092"),
            ("grpcs://cache.example.com", "grpcs://cache.example.com:443", "https://cache.example.com:443"),
            ("grpcs://cache/main/ci", "grpcs://cache:443/main/ci", "https://cache:443"),
            ("grpc://[::1]:9092/x", "grpc://[::1]:9092/x", "http://[::1]:9092"),
            ("unix:///run/cache.sock", "unix:///run/cache.sock", "unix:///run/cache.sock"),
        ] {
            let address = parsed(text).expect(text);
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.uri(), uri);
            assert_eq!(parsed(shown), Ok(address), "{text}");
        }
    }

    #[test]
    fn user_and_password_are_taken_out_and_not_shown() {
        let address = parsed("grpcs://me:p%40ss%2fw@cache/main").expect("an address");
        let login = address.login().expect("a login");
        assert_eq!((login.user.as_str(), login.password.reveal()), ("me", "p@ss/w"));
        assert_eq!(format!("{address} {address:?}"), "grpcs://cache:443/main grpcs://cache:443/main");
        assert!(!address.uri().contains("me"));
        for text in
            ["grpcs://:secret@cache", "grpcs://me:%zz@cache", "grpcs://me:%4@cache", "grpcs://me:%ff@cache"]
        {
            assert_eq!(parsed(text), Err(AddressError::Login), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, expected) in [
            ("", AddressError::Scheme),
            ("cache:9092", AddressError::Scheme),
            ("ftp://cache:1", AddressError::Scheme),
            ("http://cache:8080", AddressError::Http),
            ("grpc://cache", AddressError::NoPort),
            ("grpc://cache:", AddressError::Port),
            ("grpc://cache:0", AddressError::Port),
            ("grpc://cache:65536", AddressError::Port),
            ("grpc://:9092", AddressError::Host),
            ("grpc://a:b:9092", AddressError::Port),
            ("grpc://[::1:9092", AddressError::Host),
            ("grpc://[cache]:9092", AddressError::Host),
            ("grpc://[::1]9092", AddressError::Host),
            ("grpc://ca che:9092", AddressError::Character),
            ("grpc://cache:9092/a?b", AddressError::Character),
            ("grpc://cache:9092/a\r\nb", AddressError::Character),
            ("unix://run/cache.sock", AddressError::Socket),
            ("unix:///", AddressError::Socket),
        ] {
            assert_eq!(parsed(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn only_tls_and_this_machine_are_private() {
        for (text, private) in [
            ("grpc://cache:1", false),
            ("grpc://10.0.0.1:1", false),
            ("grpc://localhost.example.com:1", false),
            ("grpc://localhost:1", true),
            ("grpc://127.0.0.2:1", true),
            ("grpc://[::1]:1", true),
            ("grpc://[::ffff:127.0.0.1]:1", true),
            ("grpcs://cache", true),
            ("unix:///run/x", true),
        ] {
            assert_eq!(parsed(text).expect(text).is_private(), private, "{text}");
        }
    }
}
