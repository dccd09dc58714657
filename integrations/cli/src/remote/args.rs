//! Which cache is meant, and how it is asked: the options that all commands share which ask one.

use crate::run::Trouble;
use clap::Args as ClapArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;
use upcheck_reapi::{Address, Client, Header, Netrc, Options};

const REMOTE: &str = "A cache on another machine";

/// A cache, and how it is asked.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct RemoteArgs {
    /// The cache: grpc://HOST:PORT[/INSTANCE], grpcs://HOST[:PORT][/INSTANCE] or unix:///PATH
    #[arg(long, value_name = "URL", env = "UPCHECK_REMOTE", hide_env_values = true, help_heading = REMOTE)]
    pub(crate) remote: Option<String>,
    /// Send a header with each request, whose value is in a variable of the environment
    #[arg(long, value_name = "NAME=ENVVAR", help_heading = REMOTE)]
    pub(crate) remote_header: Vec<String>,
    /// Believe the certificates of these authorities (PEM) instead of the system's
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = REMOTE)]
    pub(crate) remote_ca: Option<PathBuf>,
    /// The certificate (PEM) to show to a server that demands one
    #[arg(long, value_name = "FILE", requires = "remote_key", value_parser = path(), help_heading = REMOTE)]
    pub(crate) remote_cert: Option<PathBuf>,
    /// The key (PEM) of that certificate
    #[arg(long, value_name = "FILE", requires = "remote_cert", value_parser = path(), help_heading = REMOTE)]
    pub(crate) remote_key: Option<PathBuf>,
    /// The name that the server's certificate has to be for [default: the host in the URL]
    #[arg(long, value_name = "NAME", help_heading = REMOTE)]
    pub(crate) remote_server_name: Option<String>,
    /// A program that knows credentials, as Bazel's credential helpers do
    #[arg(long, value_name = "PROGRAM", value_parser = path(), help_heading = REMOTE)]
    pub(crate) credential_helper: Option<PathBuf>,
    /// Send credentials also where others can read them: without TLS, to another machine
    #[arg(long, help_heading = REMOTE)]
    pub(crate) remote_insecure_auth: bool,
    /// The longest that connecting may take
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, help_heading = REMOTE)]
    pub(crate) remote_timeout: Option<Duration>,
    /// The longest that all that is asked of the cache may take together [default: as long as anything comes from it]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = REMOTE)]
    pub(crate) remote_budget: Option<Duration>,
}

impl RemoteArgs {
    /// Where the cache is, if one is named.
    pub(crate) fn address(&self) -> Result<Option<Address>, Trouble> {
        let Some(text) = &self.remote else { return Ok(None) };
        // Not the text: a password may stand in it.
        text.parse().map(Some).map_err(|error| Trouble(format!("reading the URL of the cache: {error}")))
    }

    /// How it is asked.
    pub(crate) fn options(&self) -> Result<Options, Trouble> {
        let headers =
            self.remote_header.iter().map(|text| Header::from_variable(text)).collect::<Result<_, _>>()?;
        let usual = Options::default();
        Ok(Options {
            ca: self.remote_ca.clone(),
            client_certificate: self.remote_cert.clone(),
            client_key: self.remote_key.clone(),
            server_name: self.remote_server_name.clone(),
            headers,
            credential_helper: self.credential_helper.clone(),
            netrc: Netrc::Usual,
            insecure_auth: self.remote_insecure_auth,
            connect_timeout: self.remote_timeout.unwrap_or(usual.connect_timeout),
            total_timeout: self.remote_budget,
            ..usual
        })
    }

    /// The cache, if one is named. Nothing is connected before it is asked something.
    pub(crate) fn client(&self) -> Result<Option<(Address, Client)>, Trouble> {
        self.client_with(|_| {})
    }

    /// The same for a few short questions by the way, for which nobody wants to wait: a cache from which nothing comes for
    /// as long as connecting may take does not answer.
    pub(crate) fn impatient_client(&self) -> Result<Option<(Address, Client)>, Trouble> {
        self.client_with(|options| options.stall_timeout = options.connect_timeout)
    }

    fn client_with(&self, change: impl FnOnce(&mut Options)) -> Result<Option<(Address, Client)>, Trouble> {
        let Some(address) = self.address()? else { return Ok(None) };
        let mut options = self.options()?;
        change(&mut options);
        let client = Client::open(&address, options)?;
        Ok(Some((address, client)))
    }
}

impl From<upcheck_reapi::Error> for Trouble {
    fn from(error: upcheck_reapi::Error) -> Self {
        Self(error.to_string())
    }
}

fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "it is a number of seconds above 0".into())
}
