//! A server of gRPC in a few lines, for tests: what it answers is up to a function, which may do what no library lets it do.

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use upcheck_reapi::Message;
use upcheck_reapi::messages::rpc;

/// The number of success, as gRPC counts.
pub const OK: u32 = 0;
/// The number of a request that makes no sense.
pub const INVALID_ARGUMENT: u32 = 3;
/// The number of what is not there.
pub const NOT_FOUND: u32 = 5;
/// The number of a request that comes too early.
pub const FAILED_PRECONDITION: u32 = 9;
/// The number of what nobody knows how to do.
pub const UNIMPLEMENTED: u32 = 12;
/// The number of a server that is busy.
pub const UNAVAILABLE: u32 = 14;

/// What is answered.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Messages, in their order.
    pub messages: Vec<Vec<u8>>,
    /// What comes behind them.
    pub end: End,
}

/// What comes behind the messages of an answer.
#[derive(Clone, Debug)]
pub enum End {
    /// gRPC's number of how it ended, and what a person is told.
    Status(u32, String),
    /// This message, again and again, for as long as anybody listens.
    Endless(Vec<u8>),
    /// Nothing, and no end.
    Silence,
}

impl Default for End {
    fn default() -> Self {
        Self::Status(OK, String::new())
    }
}

impl Reply {
    /// One message, and success.
    #[must_use]
    pub fn of(message: &impl Message) -> Self {
        Self { messages: vec![message.encode_to_vec()], end: End::default() }
    }

    /// No message.
    #[must_use]
    pub fn status(code: u32, text: impl Into<String>) -> Self {
        Self { messages: Vec::new(), end: End::Status(code, text.into()) }
    }
}

/// What the capabilities of a cache for SHA-256 are that does not say how large batches may be.
#[must_use]
pub fn capabilities() -> rpc::ServerCapabilities {
    let update = rpc::ActionCacheUpdateCapabilities { update_enabled: true };
    let cache = rpc::CacheCapabilities {
        digest_functions: vec![rpc::SHA256],
        action_cache_update_capabilities: Some(update),
        ..rpc::CacheCapabilities::default()
    };
    rpc::ServerCapabilities { cache_capabilities: Some(cache), ..rpc::ServerCapabilities::default() }
}

/// A server at a port of this machine. It ends when it is dropped.
pub struct GrpcServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl GrpcServer {
    /// Starts one. The function is given the name of the method, without its service, and all messages of the request.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn start(answer: impl Fn(&str, Vec<Vec<u8>>) -> Reply + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("a port");
        let address = listener.local_addr().expect("its number");
        let (stop, stopped) = oneshot::channel();
        let answer = Arc::new(answer);
        let thread = thread::spawn(move || {
            runtime.spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    // Else small answers wait for each other.
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(serve(stream, Arc::clone(&answer)));
                }
            });
            let _ = runtime.block_on(stopped);
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> String {
        format!("grpc://{}", self.address)
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve<F>(stream: TcpStream, answer: Arc<F>)
where
    F: Fn(&str, Vec<Vec<u8>>) -> Reply + Send + Sync + 'static,
{
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            // Whoever has gone away needs no answer.
            let _ = handle(request, respond, &*answer).await;
        });
    }
}

async fn handle<F>(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    answer: &F,
) -> Result<(), h2::Error>
where
    F: Fn(&str, Vec<Vec<u8>>) -> Reply + Send + Sync + 'static,
{
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    let method = head.uri.path().rsplit('/').next().unwrap_or_default();
    let reply = answer(method, messages(&bytes));
    let mut response = Response::new(());
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    let mut stream = respond.send_response(response, false)?;
    for message in &reply.messages {
        send(&mut stream, framed(message)).await?;
    }
    match reply.end {
        End::Status(code, text) => {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from(code));
            if let Ok(text) = HeaderValue::from_str(&text) {
                trailers.insert("grpc-message", text);
            }
            stream.send_trailers(trailers)
        }
        End::Endless(message) => loop {
            send(&mut stream, framed(&message)).await?;
        },
        End::Silence => {
            std::future::pending::<()>().await;
            Ok(())
        }
    }
}

/// Sends as fast as the other side takes it.
async fn send(stream: &mut SendStream<Bytes>, bytes: Vec<u8>) -> Result<(), h2::Error> {
    let mut bytes = Bytes::from(bytes);
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = std::future::poll_fn(|context| stream.poll_capacity(context)).await;
        let Some(room) = room.transpose()? else { return Err(h2::Reason::CANCEL.into()) };
        stream.send_data(bytes.split_to(room.min(bytes.len())), false)?;
        // A server that never waits would never let its client be heard.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// A message as gRPC frames it: not compressed, and how long it is.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a message of a test");
    [&[0], &length.to_be_bytes()[..], message].concat()
}

/// The messages in a body. What is no whole message is left out.
fn messages(mut body: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = body.split_first_chunk::<5>() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let Some((message, rest)) = rest.split_at_checked(length) else { break };
        messages.push(message.to_owned());
        body = rest;
    }
    messages
}
