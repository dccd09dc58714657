//! A cache in memory that goes by the letter of the specification of the Remote Execution API, where real ones are lenient:
//! what a client may not do is refused, and remembered.

use crate::grpc_server::{
    End, FAILED_PRECONDITION, GrpcServer, INVALID_ARGUMENT, NOT_FOUND, OK, Reply, UNIMPLEMENTED, capabilities,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use upcheck_reapi::messages::{self, Action, Command, Directory, google, rpc};
use upcheck_reapi::{ActionResult, Digest, Message};

/// What most servers take in one message.
const MESSAGE: usize = 4 << 20;

/// The cache. It ends when it is dropped.
pub struct StrictCache {
    server: GrpcServer,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    blobs: BTreeMap<Digest, Vec<u8>>,
    results: BTreeMap<Digest, ActionResult>,
    complaints: Vec<String>,
    requests: BTreeMap<String, usize>,
}

/// Why a request is refused.
type Refusal = (u32, String);

impl StrictCache {
    /// Starts an empty one.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let server = GrpcServer::start(move |method, messages| {
            let mut state = shared.lock().expect("no panic before");
            *state.requests.entry(method.to_owned()).or_default() += 1;
            state.answer(method, &messages).unwrap_or_else(|(code, text)| {
                if code != NOT_FOUND {
                    state.complaints.push(format!("{method}: {text}"));
                }
                Reply { messages: Vec::new(), end: End::Status(code, text) }
            })
        });
        Self { server, state }
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> String {
        self.server.address()
    }

    /// What was done that may not be done.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        self.state().complaints.clone()
    }

    /// How often each method was called.
    #[must_use]
    pub fn requests(&self) -> BTreeMap<String, usize> {
        self.state().requests.clone()
    }

    /// The blobs that it has.
    #[must_use]
    pub fn blobs(&self) -> BTreeMap<Digest, Vec<u8>> {
        self.state().blobs.clone()
    }

    /// The results that it has, by their actions.
    #[must_use]
    pub fn results(&self) -> BTreeMap<Digest, ActionResult> {
        self.state().results.clone()
    }

    /// Loses a blob.
    pub fn forget(&self, digest: Digest) {
        self.state().blobs.remove(&digest);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic before")
    }
}

impl State {
    fn answer(&mut self, method: &str, messages: &[Vec<u8>]) -> Result<Reply, Refusal> {
        if messages.iter().any(|message| message.len() > MESSAGE) {
            return Err((INVALID_ARGUMENT, "a message of more than 4 MiB".into()));
        }
        if method == "Write" {
            return self.write(messages);
        }
        let [message] = messages else { return Err((INVALID_ARGUMENT, "not one message".into())) };
        match method {
            "GetCapabilities" => {
                canonical::<rpc::GetCapabilitiesRequest>(message)?;
                Ok(Reply::of(&capabilities()))
            }
            "FindMissingBlobs" => self.find_missing(message),
            "BatchReadBlobs" => self.batch_read(message),
            "BatchUpdateBlobs" => self.batch_update(message),
            "GetActionResult" => self.result(message),
            "UpdateActionResult" => self.update_result(message),
            "Read" => self.read(message),
            _ => Err((UNIMPLEMENTED, "no such method".into())),
        }
    }

    fn find_missing(&self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::FindMissingBlobsRequest>(message)?;
        sha256(asked.digest_function)?;
        let mut missing_blob_digests = Vec::new();
        for digest in &asked.blob_digests {
            if !self.has(valid(Some(digest))?) {
                missing_blob_digests.push(digest.clone());
            }
        }
        Ok(Reply::of(&rpc::FindMissingBlobsResponse { missing_blob_digests }))
    }

    fn batch_read(&self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::BatchReadBlobsRequest>(message)?;
        sha256(asked.digest_function)?;
        let mut responses = Vec::new();
        let mut total = 0;
        for digest in &asked.digests {
            let blob = self.blobs.get(&valid(Some(digest))?);
            total += blob.map_or(0, Vec::len);
            let code = if blob.is_some() { OK } else { NOT_FOUND };
            let status = google::Status { code: code.cast_signed(), ..google::Status::default() };
            let data = blob.cloned().unwrap_or_default().into();
            responses.push(rpc::ReadBlob {
                digest: Some(digest.clone()),
                data,
                status: Some(status),
                compressor: 0,
            });
        }
        if total > MESSAGE {
            return Err((INVALID_ARGUMENT, "asks for more than fits into a message".into()));
        }
        Ok(Reply::of(&rpc::BatchReadBlobsResponse { responses }))
    }

    fn batch_update(&mut self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::BatchUpdateBlobsRequest>(message)?;
        sha256(asked.digest_function)?;
        let mut responses = Vec::new();
        for update in asked.requests {
            let digest = valid(update.digest.as_ref())?;
            if Digest::of(&update.data) != digest {
                return Err((INVALID_ARGUMENT, format!("{digest} has other bytes")));
            }
            self.blobs.insert(digest, update.data.to_vec());
            let status = Some(google::Status::default());
            responses.push(rpc::UpdatedBlob { digest: update.digest, status });
        }
        Ok(Reply::of(&rpc::BatchUpdateBlobsResponse { responses }))
    }

    fn read(&self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::ReadRequest>(message)?;
        let digest = asked.resource_name.split_once("blobs/").map(|(_, digest)| digest.parse());
        let Some(Ok(digest)) = digest else { return Err((INVALID_ARGUMENT, "no name of a blob".into())) };
        let blob = self.blobs.get(&digest).ok_or((NOT_FOUND, digest.to_string()))?;
        let offset = usize::try_from(asked.read_offset).ok();
        let rest = offset
            .and_then(|offset| blob.get(offset..))
            .ok_or((INVALID_ARGUMENT, "no such offset".into()))?;
        let part = |data: &[u8]| rpc::ReadResponse { data: data.to_vec().into() }.encode_to_vec();
        Ok(Reply { messages: rest.chunks(100_000).map(part).collect(), end: End::default() })
    }

    fn write(&mut self, messages: &[Vec<u8>]) -> Result<Reply, Refusal> {
        let wrong = |what: &str| (INVALID_ARGUMENT, what.to_owned());
        let (mut bytes, mut name, mut finished) = (Vec::new(), None, false);
        for message in messages {
            let part = canonical::<rpc::WriteRequest>(message)?;
            if finished || usize::try_from(part.write_offset) != Ok(bytes.len()) {
                return Err(wrong("a part that does not follow the one before"));
            }
            if name.is_some() != part.resource_name.is_empty() {
                return Err(wrong("a name in another part than the first"));
            }
            name.get_or_insert(part.resource_name);
            bytes.extend_from_slice(&part.data);
            finished = part.finish_write;
        }
        // Whoever breaks off has changed nothing, and done nothing wrong.
        if !finished {
            return Err((NOT_FOUND, "it broke off".into()));
        }
        let name = name.unwrap_or_default();
        let named = name.split_once("uploads/").and_then(|(_, rest)| rest.split_once("/blobs/"));
        let (uuid, digest) = named.ok_or_else(|| wrong("no name of an upload"))?;
        if uuid.len() != 36 || digest.parse() != Ok(Digest::of(&bytes)) {
            return Err(wrong("other bytes than the name says"));
        }
        let committed_size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        self.blobs.insert(Digest::of(&bytes), bytes);
        Ok(Reply::of(&rpc::WriteResponse { committed_size }))
    }

    fn result(&self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::GetActionResultRequest>(message)?;
        sha256(asked.digest_function)?;
        let action = valid(asked.action_digest.as_ref())?;
        let result = self.results.get(&action).ok_or((NOT_FOUND, action.to_string()))?;
        // A result is there only as long as all is that it names.
        if outputs(result)?.iter().any(|&output| !self.has(output)) {
            return Err((NOT_FOUND, action.to_string()));
        }
        Ok(Reply::of(result))
    }

    fn update_result(&mut self, message: &[u8]) -> Result<Reply, Refusal> {
        let asked = canonical::<rpc::UpdateActionResultRequest>(message)?;
        sha256(asked.digest_function)?;
        let digest = valid(asked.action_digest.as_ref())?;
        let action: Action = self.stored(digest, "the action")?;
        let command: Command = self.stored(valid(action.command_digest.as_ref())?, "its command")?;
        let _: Directory =
            self.stored(valid(action.input_root_digest.as_ref())?, "the root of its inputs")?;
        let names: Vec<_> = command.environment_variables.iter().map(|variable| &variable.name).collect();
        let wrong = |what: &str| Err((INVALID_ARGUMENT, what.to_owned()));
        if !names.is_sorted_by(|a, b| a < b) {
            return wrong("variables that are not sorted");
        }
        if !command.output_paths.is_sorted_by(|a, b| a < b) {
            return wrong("paths of outputs that are not sorted");
        }
        let properties = action.platform.iter().chain(&command.platform).map(|platform| &platform.properties);
        if !properties
            .into_iter()
            .all(|all| all.is_sorted_by(|a, b| (&a.name, &a.value) <= (&b.name, &b.value)))
        {
            return wrong("properties that are not sorted");
        }
        let result = asked.action_result.ok_or((INVALID_ARGUMENT, "no result".to_owned()))?;
        let inline = result.output_files.iter().any(|file| !file.contents.is_empty());
        if inline || !result.stdout_raw.is_empty() || !result.stderr_raw.is_empty() {
            return wrong("contents within the result");
        }
        let paths = result.output_files.iter().map(|file| &file.path);
        if paths.into_iter().any(|path| path.is_empty() || path.starts_with('/') || path.contains('\\')) {
            return wrong("a path that is not relative");
        }
        for output in outputs(&result)? {
            if !self.has(output) {
                return Err((FAILED_PRECONDITION, format!("output {output} is not there")));
            }
        }
        self.results.insert(digest, result.clone());
        Ok(Reply::of(&result))
    }

    fn stored<M: Message + Default>(&self, digest: Digest, what: &str) -> Result<M, Refusal> {
        if digest == Digest::EMPTY {
            return Ok(M::default());
        }
        let bytes = self.blobs.get(&digest);
        let bytes = bytes.ok_or_else(|| (FAILED_PRECONDITION, format!("{what} is not there")))?;
        canonical(bytes).map_err(|(code, why)| (code, format!("{what}: {why}")))
    }

    fn has(&self, digest: Digest) -> bool {
        digest == Digest::EMPTY || self.blobs.contains_key(&digest)
    }
}

/// The blobs that a result names.
fn outputs(result: &ActionResult) -> Result<Vec<Digest>, Refusal> {
    let files = result.output_files.iter().map(|file| file.digest.as_ref());
    let trees = result.output_directories.iter().map(|directory| directory.tree_digest.as_ref());
    let printed = [&result.stdout_digest, &result.stderr_digest].into_iter().flatten().map(Some);
    files.chain(trees).chain(printed).map(valid).collect()
}

fn sha256(function: i32) -> Result<(), Refusal> {
    // 0 is what clients say that are older than the question.
    let known = matches!(function, 0 | rpc::SHA256);
    if known { Ok(()) } else { Err((INVALID_ARGUMENT, "another function than SHA-256".into())) }
}

fn valid(digest: Option<&messages::Digest>) -> Result<Digest, Refusal> {
    let digest = digest.ok_or((INVALID_ARGUMENT, "a digest is missing".to_owned()))?;
    Digest::from_message(digest).map_err(|error| (INVALID_ARGUMENT, error.to_string()))
}

/// Reads a message, if encoding it again gives the same bytes.
fn canonical<M: Message + Default>(bytes: &[u8]) -> Result<M, Refusal> {
    let message = M::decode(bytes).map_err(|error| (INVALID_ARGUMENT, error.to_string()))?;
    let same = message.encode_to_vec() == bytes;
    if same {
        Ok(message)
    } else {
        Err((INVALID_ARGUMENT, "a message that is not in its canonical form".into()))
    }
}
