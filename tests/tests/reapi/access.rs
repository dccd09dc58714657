//! Who may ask, and over what: TLS, certificates of both sides, passwords, and what is said where none of that fits.

use super::{client, client_with};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use upcheck_reapi::{Client, Digest, Error, ErrorKind, Header, Netrc, Options, Secret};
use upcheck_tests::aloud;
use upcheck_tests::bazel_remote::{BazelRemote, Setup};

/// An authority, a server's certificate for localhost and a client's, which it signed; and another authority.
struct Certificates(tempfile::TempDir);

impl Certificates {
    /// `None`, and said aloud: there is no openssl.
    fn make() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let script = r#"
            set -e
            authority() { # NAME
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
                    -addext basicConstraints=critical,CA:TRUE -keyout "$1.key" -out "$1.crt"
            }
            signed() { # NAME EXTENSIONS
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
                printf '%s\n' "$2" >"$1.ext"
                openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.crt"
            }
            authority ca
            authority other
            signed server 'subjectAltName=DNS:localhost'
            signed elsewhere 'subjectAltName=DNS:cache.example.com'
            signed client 'extendedKeyUsage=clientAuth'
        "#;
        let made =
            Command::new("sh").current_dir(folder.path()).args(["-c", script]).output().expect("a shell");
        let complaint = String::from_utf8_lossy(&made.stderr);
        if !made.status.success() && complaint.contains("not found") {
            aloud::not_tested("TLS to caches: openssl is missing");
            return None;
        }
        assert!(made.status.success(), "{complaint}");
        Some(Self(folder))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn server(&self, name: &str, more: &[&OsString]) -> Option<BazelRemote> {
        let mut options: Vec<OsString> =
            vec!["--tls_cert_file".into(), self.path(&format!("{name}.crt")).into()];
        options.extend(["--tls_key_file".into(), self.path(&format!("{name}.key")).into()]);
        options.extend(more.iter().map(|&option| option.clone()));
        BazelRemote::start(Setup { ports: true, more: options, ..Setup::default() })
    }

    fn options(&self) -> Options {
        Options { ca: Some(self.path("ca.crt")), ..Options::default() }
    }
}

#[track_caller]
fn works(client: &Client) {
    let digest = Digest::of(b"anything");
    assert_eq!(client.find_missing(&[digest]).expect("an answer"), [digest]);
}

#[track_caller]
fn refuses(client: &Client, kind: ErrorKind, words: &str) -> Error {
    let error = client.find_missing(&[Digest::of(b"anything")]).expect_err("no answer");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    error
}

#[test]
fn tls_is_believed_as_far_as_certificates_go() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(server) = certificates.server("server", &[]) else { return };
    let address = server.tls_address();
    works(&client_with(&address, certificates.options()));
    let other = Options { ca: Some(certificates.path("other.crt")), ..Options::default() };
    refuses(&client_with(&address, other), ErrorKind::Tls, "name its certificate as CA");
    let named = Options { server_name: Some("cache.example.com".into()), ..certificates.options() };
    refuses(&client_with(&address, named), ErrorKind::Tls, "the certificate is for another name");
    // The system does not know that authority, if it knows any.
    let system = client(&address).find_missing(&[Digest::of(b"x")]).expect_err("not believed");
    assert!(matches!(system.kind(), ErrorKind::Tls | ErrorKind::Unreachable), "{system}");

    let Some(elsewhere) = certificates.server("elsewhere", &[]) else { return };
    let named = Options { server_name: Some("cache.example.com".into()), ..certificates.options() };
    works(&client_with(&elsewhere.tls_address(), named));
}

#[test]
fn a_server_that_wants_a_certificate_gets_one() {
    let Some(certificates) = Certificates::make() else { return };
    let authority = certificates.path("ca.crt").into();
    let Some(server) = certificates.server("server", &[&"--tls_ca_file".into(), &authority]) else { return };
    let address = server.tls_address();
    let with = |name: &str| Options {
        client_certificate: Some(certificates.path(&format!("{name}.crt"))),
        client_key: Some(certificates.path(&format!("{name}.key"))),
        ..certificates.options()
    };
    works(&client_with(&address, with("client")));
    // This server shakes hands with everybody, and then refuses each request; others do not even shake hands.
    refuses(&client_with(&address, certificates.options()), ErrorKind::Refused, "client certificate");
    client_with(&address, with("other"))
        .find_missing(&[Digest::of(b"x")])
        .expect_err("nobody knows who signed that");
}

#[test]
fn files_that_options_name_are_read_before_anything_is_connected() {
    let address = "grpcs://localhost:1".parse().expect("an address");
    let missing = Options { ca: Some("/no/such.crt".into()), ..Options::default() };
    let error = Client::open(&address, missing).map(drop).expect_err("no such file");
    assert!(error.to_string().starts_with("reading /no/such.crt: "), "{error}");
    let half = Options { client_certificate: Some("/dev/null".into()), ..Options::default() };
    let error = Client::open(&address, half).map(drop).expect_err("a key is missing");
    assert!(error.to_string().contains("go together"), "{error}");
    let plain = "grpc://localhost:1".parse().expect("an address");
    let error = Client::open(&plain, Options { ca: Some("/dev/null".into()), ..Options::default() });
    assert_eq!(error.map(drop).expect_err("no TLS there").kind(), ErrorKind::Configuration);
}

/// A file with user `me` and password `s3cret`.
fn passwords(folder: &Path) -> OsString {
    let path = folder.join("htpasswd");
    let made =
        Command::new("openssl").args(["passwd", "-apr1", "s3cret"]).output().expect("openssl, as above");
    std::fs::write(&path, [b"me:", made.stdout.as_slice()].concat()).expect("a file");
    path.into()
}

#[test]
fn passwords_come_from_the_address_a_header_a_helper_or_netrc() {
    use std::os::unix::fs::PermissionsExt;
    let Some(certificates) = Certificates::make() else { return };
    let folder = certificates.0.path();
    let setup =
        Setup { ports: true, more: vec!["--htpasswd_file".into(), passwords(folder)], ..Setup::default() };
    let Some(server) = BazelRemote::start(setup) else { return };
    let address = server.address();
    let with_login = |login: &str| address.replace("grpc://", &format!("grpc://{login}@"));
    works(&client(&with_login("me:s3cret")));

    let basic = "Basic bWU6czNjcmV0";
    let header = Header { name: "authorization".into(), value: Secret::new(basic) };
    works(&client_with(&address, Options { headers: vec![header], ..Options::default() }));

    let helper = folder.join("helper");
    let script = format!("#!/bin/sh\necho '{{\"headers\":{{\"Authorization\":[\"{basic}\"]}}}}'\n");
    std::fs::write(&helper, script).expect("a script");
    std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o755)).expect("permissions");
    works(&client_with(&address, Options { credential_helper: Some(helper), ..Options::default() }));

    let netrc = folder.join("netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login me password s3cret\n").expect("a file");
    works(&client_with(&address, Options { netrc: Netrc::File(netrc), ..Options::default() }));

    refuses(&client(&address), ErrorKind::Refused, "wants credentials");
    let error = refuses(&client(&with_login("me:wr0ng!")), ErrorKind::Refused, "wants credentials");
    assert!(!error.to_string().contains("wr0ng"), "{error}");
}

#[test]
fn whoever_may_only_read_is_told_so() {
    let Some(certificates) = Certificates::make() else { return };
    let more = vec![
        "--htpasswd_file".into(),
        passwords(certificates.0.path()),
        "--allow_unauthenticated_reads".into(),
    ];
    let Some(server) = BazelRemote::start(Setup { ports: true, more, ..Setup::default() }) else { return };
    let anybody = client(&server.address());
    works(&anybody);
    assert!(!anybody.may_write().expect("an answer"));
    let blob = upcheck_reapi::Blob::Bytes { digest: Digest::of(b"x"), bytes: b"x".to_vec() };
    let error = anybody.write_all(&[blob], &mut |_| {}).expect_err("only reading");
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    let somebody = client(&server.address().replace("grpc://", "grpc://me:s3cret@"));
    assert!(somebody.may_write().expect("an answer"));
}

#[test]
fn a_port_that_speaks_something_else_is_told_from_one_at_which_nobody_listens() {
    let Some(server) = BazelRemote::start(Setup { ports: true, ..Setup::default() }) else { return };
    refuses(&client(&server.http_address()), ErrorKind::NotACache, "is it the server's HTTP port");
    refuses(&client(&server.tls_address()), ErrorKind::Tls, "that port does not speak TLS");
    let Some(certificates) = Certificates::make() else { return };
    let Some(secret) = certificates.server("server", &[]) else { return };
    refuses(&client(&secret.address()), ErrorKind::NotACache, "grpcs://");
    let https = secret.http_address().replace("grpc://127.0.0.1", "grpcs://localhost");
    // It speaks HTTP/2, and has no such page.
    refuses(&client_with(&https, certificates.options()), ErrorKind::NotACache, "HTTP server");

    let nobody = server.address();
    drop(server);
    refuses(&client(&nobody), ErrorKind::Unreachable, "nothing listens there");
    refuses(&client("unix:///no/such.sock"), ErrorKind::Unreachable, "no such socket");
    refuses(&client("grpc://no-such-host.invalid:1"), ErrorKind::Unreachable, "");
}

#[test]
fn a_server_that_says_nothing_costs_as_long_as_was_allowed_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("grpc://{}", listener.local_addr().expect("its address"));
    let allowed = Duration::from_millis(200);
    let client = client_with(&address, Options { connect_timeout: allowed, ..Options::default() });
    let begun = Instant::now();
    refuses(&client, ErrorKind::Unreachable, "no answer within 0.2 s");
    assert!(begun.elapsed() >= allowed);
    // From here on every question fails at once: the server is not even connected to.
    listener.set_nonblocking(true).expect("a port");
    let accepted = || std::iter::from_fn(|| listener.accept().ok()).count();
    assert_eq!(accepted(), 1);
    refuses(&client, ErrorKind::Unreachable, "no answer within 0.2 s");
    let results = client.action_results(&[Digest::of(b"x"); 1000]);
    assert!(
        results.iter().all(|result| matches!(result, Err(error) if error.kind() == ErrorKind::Unreachable))
    );
    assert_eq!(accepted(), 0);
}
