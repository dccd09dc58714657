//! Blobs are fetched: small ones many at once in batches, large ones as a stream. Nothing is believed before it was compared
//! with its digest.

use super::Client;
use super::lookups::meant;
use crate::batch::{FRAME, MESSAGE, batches};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::fault::{Failure, shown};
use crate::link::{Connection, Link, Method, ready};
use crate::messages::google::Status;
use crate::messages::rpc::{
    BatchReadBlobsRequest, BatchReadBlobsResponse, IDENTITY, ReadBlob, ReadRequest, ReadResponse, SHA256,
};
use crate::pool::ask_all;
use prost::bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::{Arc, mpsc};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Code;
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

/// The most blobs in a batch, and the batches and streams that are under way at once.
const BLOBS: usize = 500;
const IN_FLIGHT: usize = 8;
/// What a blob costs in a batch beside its bytes: its digest, its status, and what tells where they begin.
const BESIDE: usize = 160;
/// More than any server puts into a part of a stream.
const PART: usize = 16 << 20;
/// The parts that came and were not yet written.
const PARTS: usize = 4;

type Answer = Result<Option<Vec<u8>>, Error>;

pub(super) fn read_all(client: &Client, digests: &[Digest], take: &mut dyn FnMut(Digest, Answer)) {
    let mut seen = HashSet::with_capacity(digests.len());
    let mut wanted: Vec<_> = digests.iter().copied().filter(|&digest| seen.insert(digest)).collect();
    if seen.contains(&Digest::EMPTY) {
        wanted.retain(|&digest| digest != Digest::EMPTY);
        take(Digest::EMPTY, Ok(Some(Vec::new())));
    }
    if wanted.is_empty() {
        return;
    }
    let started = client.worker().and_then(|worker| Ok((worker, batch_limit(client)?)));
    let (worker, limit) = match started {
        Ok(started) => started,
        Err(error) => return wanted.into_iter().for_each(|digest| take(digest, Err(error.clone()))),
    };
    let (small, large): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|digest| {
        usize::try_from(digest.size).is_ok_and(|size| size.saturating_add(BESIDE) <= limit)
    });
    let sizes =
        small.iter().map(|digest| usize::try_from(digest.size).unwrap_or(usize::MAX).saturating_add(BESIDE));
    let batches: Arc<[Arc<[Digest]>]> =
        batches(sizes, BLOBS, limit).into_iter().map(|batch| small[batch].into()).collect();
    let (questions, link) = (Arc::clone(&batches), Arc::clone(&client.link));
    let ask = move |batch: usize| {
        let (questions, link) = (Arc::clone(&questions), Arc::clone(&link));
        async move { Ok(read_batch(&link, Arc::clone(&questions[batch])).await) }
    };
    let mut taken = |batch: usize, answers: Result<HashMap<Digest, Answer>, Error>| {
        let mut answers = answers.unwrap_or_else(|error| {
            batches[batch].iter().map(|&digest| (digest, Err(error.clone()))).collect()
        });
        for &digest in &*batches[batch] {
            let answer = answers.remove(&digest).unwrap_or_else(|| Err(client.died()));
            take(
                digest,
                answer.and_then(|bytes| bytes.map(|bytes| whole(client, digest, bytes)).transpose()),
            );
        }
    };
    ask_all(worker, batches.len(), IN_FLIGHT, ask, &|| client.died(), &mut taken);
    for digest in large {
        // Room is made for what comes, and not for what a digest says that would come.
        let mut bytes = Vec::new();
        let answer = read_into(client, digest, &mut bytes);
        take(digest, answer.map(|found| found.then_some(bytes)));
    }
}

pub(super) fn read_into(client: &Client, digest: Digest, to: &mut dyn Write) -> Result<bool, Error> {
    if digest == Digest::EMPTY {
        return Ok(true);
    }
    let (sender, parts) = mpsc::channel();
    let link = Arc::clone(&client.link);
    let fetching = client.worker()?.spawn(async move {
        let end =
            Stream { link, digest, received: 0, sender: &sender, room: Arc::new(Semaphore::new(PARTS)) }
                .fetch()
                .await;
        let _ = sender.send(Part::End(end));
    });
    let (mut hash, mut size) = (Sha256::new(), 0);
    for part in parts {
        match part {
            Part::Bytes(bytes, _room) => {
                hash.update(&bytes);
                size += bytes.len() as u64;
                if let Err(error) = to.write_all(&bytes) {
                    fetching.abort();
                    return Err(Error::new(
                        ErrorKind::Local,
                        format!("writing blob {digest}"),
                        error.to_string(),
                    ));
                }
            }
            Part::End(Ok(false)) => return Ok(false),
            Part::End(Ok(true)) => {
                let found = Digest { sha256: hash.finalize().into(), size };
                return if found == digest {
                    Ok(true)
                } else {
                    Err(corrupt(client, Method::READ, digest, found))
                };
            }
            Part::End(Err(error)) => return Err(error),
        }
    }
    Err(client.died())
}

/// The most bytes that a batch of answers may have.
fn batch_limit(client: &Client) -> Result<usize, Error> {
    let link = Arc::clone(&client.link);
    let told = client.run(async move {
        let connection = link.connection().await?;
        Ok(connection.cache().map_or(0, |cache| cache.max_batch_total_size_bytes))
    })?;
    let told = usize::try_from(told).ok().filter(|&told| told > 0).unwrap_or(MESSAGE);
    Ok(told.min(MESSAGE) - FRAME.min(told))
}

/// Bytes, if they are those that are meant.
fn whole(client: &Client, digest: Digest, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let found = Digest::of(&bytes);
    if found == digest { Ok(bytes) } else { Err(corrupt(client, Method::BATCH_READ, digest, found)) }
}

fn corrupt(client: &Client, method: Method, digest: Digest, found: Digest) -> Error {
    let hint = "the cache's copy is damaged, or was forged: it has to be removed there";
    let cause = format!("for blob {digest} it has bytes that are {found}");
    Error::with_hint(ErrorKind::Corrupt, client.link.asking(method), cause, Some(hint))
}

async fn read_batch(link: &Link, wanted: Arc<[Digest]>) -> HashMap<Digest, Answer> {
    let mut answers = HashMap::with_capacity(wanted.len());
    let mut open: Vec<Digest> = wanted.to_vec();
    let mut attempt = 0;
    while !open.is_empty() {
        let question = BatchReadBlobsRequest {
            instance_name: link.address.instance().into(),
            digests: open.iter().map(Digest::to_message).collect(),
            acceptable_compressors: Vec::new(),
            digest_function: SHA256,
        };
        // Twice what was asked for is no answer, however it comes about.
        let most = 2 * MESSAGE;
        let failure = match link.ask(Method::BATCH_READ, &question, most).await {
            Ok(answer) => take_in(link, answer, &mut open, &mut answers),
            Err(failure) => {
                let error = link.error(Method::BATCH_READ, failure);
                answers.extend(open.drain(..).map(|digest| (digest, Err(error.clone()))));
                None
            }
        };
        // What is still open failed in a way that may pass.
        if let Some(failure) = failure {
            let failure = Failure::from(failure);
            if !link.again(&failure, &mut attempt).await {
                let error = link.error(Method::BATCH_READ, failure);
                answers.extend(open.drain(..).map(|digest| (digest, Err(error.clone()))));
            }
        }
    }
    answers
}

/// Takes what was answered, and leaves open what is worth asking for again, with the reason.
fn take_in(
    link: &Link,
    answer: BatchReadBlobsResponse,
    open: &mut Vec<Digest>,
    answers: &mut HashMap<Digest, Answer>,
) -> Option<tonic::Status> {
    let mut came: HashMap<Digest, ReadBlob> = HashMap::with_capacity(open.len());
    for blob in answer.responses {
        if let Some(digest) = meant(blob.digest.as_ref()) {
            // What was not asked for is of no interest, and of two the first counts.
            came.entry(digest).or_insert(blob);
        }
    }
    let mut passing = None;
    open.retain(|digest| {
        let answer = match came.remove(digest) {
            None => Err(link.broken(Method::BATCH_READ, format!("there is no answer about blob {digest}"))),
            Some(blob) => match blob.status.as_ref().map_or(Code::Ok, |status| Code::from(status.code)) {
                Code::Ok if blob.compressor != IDENTITY => Err(link.broken(
                    Method::BATCH_READ,
                    format!("blob {digest} is compressed, which nobody asked for"),
                )),
                Code::Ok => Ok(Some(Vec::from(blob.data))),
                Code::NotFound => Ok(None),
                code if crate::fault::is_passing(code) => {
                    passing = Some(status(blob.status));
                    return true;
                }
                _ => Err(link.error(Method::BATCH_READ, status(blob.status).into())),
            },
        };
        answers.insert(*digest, answer);
        false
    });
    passing
}

/// What a server says of one blob of many, in the form of what it says of a request.
pub(super) fn status(status: Option<Status>) -> tonic::Status {
    let status = status.unwrap_or_default();
    tonic::Status::new(Code::from(status.code), shown(&status.message, &[]))
}

enum Part {
    Bytes(Bytes, OwnedSemaphorePermit),
    End(Result<bool, Error>),
}

/// A blob that is under way.
struct Stream<'a> {
    link: Arc<Link>,
    digest: Digest,
    received: u64,
    sender: &'a mpsc::Sender<Part>,
    room: Arc<Semaphore>,
}

impl Stream<'_> {
    /// Fetches it, and goes on where it broke off. `false`: it is not there.
    async fn fetch(mut self) -> Result<bool, Error> {
        let mut attempt = 0;
        let link = Arc::clone(&self.link);
        loop {
            let failure = match link.connection().await {
                Ok(connection) => match self.receive(&connection).await {
                    Ok(()) => return Ok(true),
                    Err(failure) => {
                        link.judge(&connection, &failure).await;
                        failure
                    }
                },
                Err(error) => error.into(),
            };
            if failure.is_not_found() && self.received == 0 {
                return Ok(false);
            }
            if !link.again(&failure, &mut attempt).await {
                return Err(link.error(Method::READ, failure));
            }
        }
    }

    async fn receive(&mut self, connection: &Connection) -> Result<(), Failure> {
        /// An endless stream of nothing is ended by counting: time passes without it, too.
        const EMPTY_PARTS: u32 = 1000;
        let link = Arc::clone(&self.link);
        let mut grpc = Grpc::new(connection.channel.clone()).max_decoding_message_size(PART);
        let question = ReadRequest {
            resource_name: self.resource(),
            read_offset: i64::try_from(self.received).unwrap_or(i64::MAX),
            read_limit: 0,
        };
        let begin = async {
            ready(&mut grpc).await?;
            let codec = ProstCodec::<ReadRequest, ReadResponse>::default();
            grpc.server_streaming(connection.request(question), Method::READ.path(), codec).await
        };
        let mut parts = link.wait(Method::READ, begin).await??.into_inner();
        let mut empty = 0;
        while let Some(part) = link.wait(Method::READ, parts.message()).await?? {
            if part.data.is_empty() {
                empty += 1;
                if empty > EMPTY_PARTS {
                    return Err(link
                        .broken(Method::READ, format!("blob {} comes without bytes", self.digest))
                        .into());
                }
                continue;
            }
            self.received = self.received.saturating_add(part.data.len() as u64);
            if self.received > self.digest.size {
                let cause = format!("blob {} comes with more bytes than it has", self.digest);
                return Err(Error::new(ErrorKind::Corrupt, link.asking(Method::READ), cause).into());
            }
            let ended = || Error::new(ErrorKind::Local, link.asking(Method::READ), "nobody takes it");
            let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| ended())?;
            self.sender.send(Part::Bytes(part.data, room)).map_err(|_| ended())?;
        }
        if self.received < self.digest.size {
            let cause = format!("blob {} ended after {} bytes", self.digest, self.received);
            return Err(Error::new(ErrorKind::Corrupt, link.asking(Method::READ), cause).into());
        }
        Ok(())
    }

    fn resource(&self) -> String {
        let instance = self.link.address.instance();
        let slash = if instance.is_empty() { "" } else { "/" };
        format!("{instance}{slash}blobs/{}", self.digest)
    }
}
