//! The connection to a cache: made when it is first needed, made anew when it breaks, and shared by all questions.

mod tls;

use crate::address::{Address, Place};
use crate::credentials::Credentials;
use crate::error::{Error, ErrorKind};
use crate::fault::{self, Failure};
use crate::messages::rpc::{
    CacheCapabilities, GetCapabilitiesRequest, RequestMetadata, SHA256, ServerCapabilities, ToolDetails,
};
use crate::options::Options;
use crate::progress::{Late, Progress};
use crate::secret::Secret;
use http::uri::PathAndQuery;
use jiff::Timestamp;
use prost::Message;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Shared, OnceLock};
use std::time::Duration;
use tls::tls;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};
use tonic::Request;
use tonic::client::Grpc;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic_prost::ProstCodec;

/// The largest message that is read, where nothing smaller is expected.
pub(crate) const LARGEST: usize = 64 << 20;

/// The connection to a cache, present or not.
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) options: Options,
    progress: Progress,
    /// When nothing is waited for any more. Set when there is a connection, if there is such a limit.
    over: OnceLock<Instant>,
    tls: Option<ClientTlsConfig>,
    state: Mutex<State>,
    /// Whether there ever was one: then a server that does not answer is probably being restarted.
    was_up: AtomicBool,
    secrets: Shared<Vec<Secret>>,
}

/// A connection that stands.
pub(crate) struct Connection {
    pub(crate) channel: Channel,
    pub(crate) metadata: MetadataMap,
    pub(crate) capabilities: ServerCapabilities,
    expires: Option<Timestamp>,
}

enum State {
    None,
    Up(Arc<Connection>),
    Down { since: Instant, error: Error },
}

/// What is called: its name in gRPC, and in words.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    path: &'static str,
    pub(crate) words: &'static str,
}

impl Method {
    pub(crate) const CAPABILITIES: Self =
        Self::new("/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "for its capabilities");
    pub(crate) const FIND_MISSING: Self = Self::new(
        "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
        "which blobs are missing",
    );
    pub(crate) const BATCH_READ: Self =
        Self::new("/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs", "for blobs");
    pub(crate) const BATCH_UPDATE: Self = Self::new(
        "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
        "to store blobs",
    );
    pub(crate) const GET_RESULT: Self = Self::new(
        "/build.bazel.remote.execution.v2.ActionCache/GetActionResult",
        "for the result of an action",
    );
    pub(crate) const UPDATE_RESULT: Self = Self::new(
        "/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult",
        "to store the result of an action",
    );
    pub(crate) const READ: Self = Self::new("/google.bytestream.ByteStream/Read", "for a large blob");
    pub(crate) const WRITE: Self = Self::new("/google.bytestream.ByteStream/Write", "to store a large blob");

    const fn new(path: &'static str, words: &'static str) -> Self {
        Self { path, words }
    }

    pub(crate) fn path(self) -> PathAndQuery {
        PathAndQuery::from_static(self.path)
    }
}

impl Link {
    /// Reads the files that the options name.
    pub(crate) fn new(address: &Address, options: Options) -> Result<Self, Error> {
        let tls = tls(address, &options)?;
        if cfg!(not(unix)) && matches!(address.place(), Place::Unix(_)) {
            return Err(configuration(address, "there are no such sockets on this system"));
        }
        let mut secrets: Vec<_> = options.headers.iter().map(|header| header.value.clone()).collect();
        secrets.extend(address.login().map(|login| login.password.clone()));
        Ok(Self {
            address: address.clone(),
            options,
            progress: Progress::default(),
            over: OnceLock::new(),
            tls,
            state: Mutex::new(State::None),
            was_up: AtomicBool::new(false),
            secrets: Shared::new(secrets),
        })
    }

    /// Asks, and asks again if that may help. An answer of more than `most` bytes is none.
    pub(crate) async fn ask<Q, A>(&self, method: Method, question: &Q, most: usize) -> Result<A, Failure>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut attempt = 0;
        loop {
            let failure = match self.connection().await {
                Ok(connection) => match self.ask_once(&connection, method, question.clone(), most).await {
                    Ok(answer) => return Ok(answer),
                    Err(failure) => {
                        self.judge(&connection, &failure).await;
                        failure
                    }
                },
                Err(error) => error.into(),
            };
            if !self.again(&failure, &mut attempt).await {
                return Err(failure);
            }
        }
    }

    async fn ask_once<Q, A>(
        &self,
        connection: &Connection,
        method: Method,
        question: Q,
        most: usize,
    ) -> Result<A, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = Grpc::new(connection.channel.clone()).max_decoding_message_size(most);
        let answer = async {
            ready(&mut grpc).await?;
            grpc.unary(connection.request(question), method.path(), ProstCodec::<Q, A>::default()).await
        };
        Ok(self.wait(method, answer).await??.into_inner())
    }

    /// Waits for an answer while anything comes from the server, and there is time.
    pub(crate) async fn wait<F: Future>(&self, method: Method, answer: F) -> Result<F::Output, Error> {
        let waited = self.progress.watch(self.options.stall_timeout, self.over(), answer).await;
        waited.map_err(|late| self.late(method, late))
    }

    /// When nothing is waited for any more, if ever.
    pub(crate) fn over(&self) -> Option<Instant> {
        self.over.get().copied()
    }

    /// The connection that stands, or a new one. Whoever comes while it is made waits for it.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Error> {
        let mut state = self.state.lock().await;
        match &*state {
            State::Up(connection) if !connection.is_expired() => return Ok(Arc::clone(connection)),
            State::Down { since, error } if since.elapsed() < self.rest() => return Err(error.clone()),
            _ => {}
        }
        match self.connect().await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                self.was_up.store(true, Ordering::Relaxed);
                if let Some(limit) = self.options.total_timeout {
                    self.over.get_or_init(|| Instant::now() + limit);
                }
                *state = State::Up(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                *state = State::Down { since: Instant::now(), error: error.clone() };
                Err(error)
            }
        }
    }

    /// Gives up a connection that is of no more use, unless somebody has done so.
    pub(crate) async fn judge(&self, connection: &Arc<Connection>, failure: &Failure) {
        if !failure.is_of_transport() {
            return;
        }
        let mut state = self.state.lock().await;
        if matches!(&*state, State::Up(current) if Arc::ptr_eq(current, connection)) {
            *state = State::None;
        }
    }

    /// Waits, and says whether to ask once more.
    pub(crate) async fn again(&self, failure: &Failure, attempt: &mut u32) -> bool {
        const FIRST: Duration = Duration::from_millis(50);
        const LONGEST: Duration = Duration::from_secs(5);
        let restarted = match failure {
            Failure::Error(error) => {
                error.kind() == ErrorKind::Unreachable && self.was_up.load(Ordering::Relaxed)
            }
            Failure::Status(_) => false,
        };
        if *attempt >= self.options.retries || !(failure.may_pass() || restarted) {
            return false;
        }
        sleep(FIRST.saturating_mul(1 << (*attempt).min(10)).min(LONGEST)).await;
        *attempt += 1;
        true
    }

    /// The error behind a failure.
    pub(crate) fn error(&self, method: Method, failure: Failure) -> Error {
        match failure {
            Failure::Error(error) => error,
            Failure::Status(status) => fault::of_status(self.asking(method), &status, &self.secrets()),
        }
    }

    /// An answer that makes no sense.
    pub(crate) fn broken(&self, method: Method, cause: impl Into<String>) -> Error {
        Error::new(ErrorKind::BrokenAnswer, self.asking(method), cause)
    }

    /// There is no answer in time.
    pub(crate) fn late(&self, method: Method, late: Late) -> Error {
        let seconds = |time: Duration| time.as_secs_f32();
        let cause = match late {
            Late::Stalled => {
                format!("the server said nothing for {} s", seconds(self.options.stall_timeout))
            }
            Late::Over => {
                let limit = self.options.total_timeout.unwrap_or_default();
                format!("all that was asked of it has taken more than {} s", seconds(limit))
            }
        };
        Error::new(ErrorKind::Stalled, self.asking(method), cause)
    }

    pub(crate) fn asking(&self, method: Method) -> String {
        format!("asking {} {}", self.address, method.words)
    }

    /// What must not be shown.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.secrets.lock().map(|secrets| secrets.clone()).unwrap_or_default()
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let (address, options) = (self.address.clone(), self.options.clone());
        // A helper has time of its own: it is no part of the network.
        let credentials =
            tokio::task::spawn_blocking(move || Credentials::find(&address, &options)).await.map_err(
                |error| Error::new(ErrorKind::Configuration, self.connecting(), error.to_string()),
            )??;
        if let Ok(mut secrets) = self.secrets.lock() {
            for secret in credentials.secrets() {
                if !secrets.contains(&secret) {
                    secrets.push(secret);
                }
            }
        }
        let mut metadata = credentials.metadata()?;
        metadata.insert_bin(REQUEST_METADATA, MetadataValue::from_bytes(&request_metadata().encode_to_vec()));
        let longest = self.options.connect_timeout;
        let hurried = timeout(longest, self.shake_hands(metadata, credentials.expires)).await;
        hurried.unwrap_or_else(|_| {
            let cause = format!("no answer within {} s", longest.as_secs_f32());
            Err(Error::new(ErrorKind::Unreachable, self.connecting(), cause))
        })
    }

    /// Connects, and asks what the server can do: so what listens there is known to be a cache that takes these credentials.
    async fn shake_hands(
        &self,
        metadata: MetadataMap,
        expires: Option<Timestamp>,
    ) -> Result<Connection, Error> {
        let failed =
            |error: tonic::transport::Error| fault::of_connecting(self.connecting(), &error, &self.secrets());
        let mut endpoint = Endpoint::from_shared(self.address.uri())
            .and_then(|endpoint| endpoint.user_agent(self.options.user_agent.as_str()))
            .map_err(failed)?
            .tcp_keepalive(Some(Duration::from_secs(30)))
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        if let Some(tls) = &self.tls {
            endpoint = endpoint.tls_config(tls.clone()).map_err(failed)?;
        }
        let channel = endpoint.connect().await.map_err(failed)?;
        let mut connection =
            Connection { channel, metadata, capabilities: ServerCapabilities::default(), expires };
        let question = GetCapabilitiesRequest { instance_name: self.address.instance().into() };
        let answer = self.ask_once(&connection, Method::CAPABILITIES, question, LARGEST).await;
        connection.capabilities = answer.map_err(|failure| {
            let error = self.error(Method::CAPABILITIES, failure);
            // Somebody took the connection. One who has been a cache before is being restarted.
            match error.kind() == ErrorKind::Unreachable && !self.was_up.load(Ordering::Relaxed) {
                true => error.or_else(ErrorKind::NotACache, CLOSED),
                false => error,
            }
        })?;
        let functions = connection.cache().map(|cache| cache.digest_functions.as_slice()).unwrap_or_default();
        if !functions.contains(&SHA256) {
            let cause = "the server has no cache for SHA-256";
            return Err(Error::new(ErrorKind::NotACache, self.connecting(), cause));
        }
        Ok(connection)
    }

    fn connecting(&self) -> String {
        format!("connecting to {}", self.address)
    }

    /// How long a server that could not be reached is left alone.
    fn rest(&self) -> Duration {
        // One that is being restarted is asked again soon, but once for all that wait.
        let restarting = self.was_up.load(Ordering::Relaxed);
        if restarting { Duration::from_millis(20) } else { self.options.reconnect_after }
    }
}

impl Connection {
    /// What the server can do as a cache.
    pub(crate) fn cache(&self) -> Option<&CacheCapabilities> {
        self.capabilities.cache_capabilities.as_ref()
    }

    /// With the headers that every request has.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        request
    }

    fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= Timestamp::now())
    }
}

/// Waits for the channel's turn.
pub(crate) async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), tonic::Status> {
    grpc.ready().await.map_err(|error| tonic::Status::from_error(Box::new(error)))
}

/// How much of one answer may be under way, and of all: enough for fast networks that are far away, and no more than is
/// read at once.
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

const CLOSED: &str = "it was closed before anything was said: does that port want TLS, grpcs://, or is it the server's HTTP port?";

const REQUEST_METADATA: &str = "build.bazel.remote.execution.v2.requestmetadata-bin";

fn request_metadata() -> RequestMetadata {
    let tool = ToolDetails { tool_name: "upcheck".into(), tool_version: env!("CARGO_PKG_VERSION").into() };
    RequestMetadata { tool_details: Some(tool) }
}

fn configuration(address: &Address, cause: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("asking {address}"), cause)
}
