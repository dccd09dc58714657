//! Blobs and results are stored: small blobs many at once in batches, large ones as a stream that ends only after its bytes
//! were compared with its digest.

mod stream;

use super::lookups::meant;
use super::read::status;
use super::{Blob, Client};
use crate::batch::{FRAME, MESSAGE, listed};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::fault::Failure;
use crate::link::{LARGEST, Link, Method};
use crate::messages::ActionResult;
use crate::messages::rpc::{
    BatchUpdateBlobsRequest, BatchUpdateBlobsResponse, IDENTITY, SHA256, UpdateActionResultRequest,
    UpdateBlob,
};
use prost::Message;
use prost::bytes::Bytes;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, mpsc};
use tonic::Code;

/// A batch is sent when it has so many blobs or bytes. Servers write the blobs of a batch one after the other, so several
/// smaller batches are stored faster than a large one.
const BLOBS: usize = 128;
const BYTES: usize = 1 << 20;
/// The batches that are under way at once.
const IN_FLIGHT: usize = 8;
/// What is larger is sent as a stream, whatever the server would take in a batch.
const SMALL: u64 = 3 << 20 | 1 << 19;

pub(super) fn write_all(client: &Client, blobs: &[Blob], progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let mut seen = HashSet::with_capacity(blobs.len());
    let blobs: Vec<_> =
        blobs.iter().filter(|blob| blob.digest() != Digest::EMPTY && seen.insert(blob.digest())).collect();
    if blobs.is_empty() {
        return Ok(());
    }
    let limit = batch_limit(client)?;
    let fits = |blob: &Blob| {
        let largest = limit.blobs.min(SMALL);
        blob.digest().size <= largest
    };
    let (answers, answered) = mpsc::channel();
    let mut sending = Sending { client, answers, answered, under_way: 0 };
    let mut batch = Batch::default();
    for blob in blobs.iter().filter(|blob| fits(blob)) {
        let update = read_small(blob)?;
        let size = listed(update.encoded_len());
        let too_much = batch.message + size > limit.message || batch.bytes + blob.digest().size > limit.blobs;
        if !batch.updates.is_empty()
            && (too_much || batch.updates.len() == BLOBS || batch.message + size > BYTES)
        {
            sending.begin(std::mem::take(&mut batch), progress)?;
        }
        batch.message += size;
        batch.bytes += blob.digest().size;
        batch.updates.push(update);
    }
    if !batch.updates.is_empty() {
        sending.begin(batch, progress)?;
    }
    for blob in blobs.iter().filter(|blob| !fits(blob)) {
        stream::write(client, blob, progress)?;
    }
    while sending.under_way > 0 {
        sending.wait(progress)?;
    }
    Ok(())
}

pub(super) fn put_action_result(client: &Client, action: Digest, result: &ActionResult) -> Result<(), Error> {
    let question = UpdateActionResultRequest {
        instance_name: client.link.address.instance().into(),
        action_digest: Some(action.to_message()),
        action_result: Some(result.clone()),
        digest_function: SHA256,
    };
    let link = Arc::clone(&client.link);
    client.run(async move {
        let answer: Result<ActionResult, _> = link.ask(Method::UPDATE_RESULT, &question, LARGEST).await;
        answer.map(drop).map_err(|failure| link.error(Method::UPDATE_RESULT, failure))
    })
}

pub(super) fn may_write(client: &Client) -> Result<bool, Error> {
    let question = BatchUpdateBlobsRequest {
        instance_name: client.link.address.instance().into(),
        requests: Vec::new(),
        digest_function: SHA256,
    };
    let link = Arc::clone(&client.link);
    client.run(async move {
        let answer: Result<BatchUpdateBlobsResponse, _> =
            link.ask(Method::BATCH_UPDATE, &question, LARGEST).await;
        match answer.map_err(|failure| link.error(Method::BATCH_UPDATE, failure)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::Refused => Ok(false),
            Err(error) => Err(error),
        }
    })
}

/// What a batch may be.
struct Limit {
    /// The bytes of the message.
    message: usize,
    /// The bytes of the blobs in it.
    blobs: u64,
}

fn batch_limit(client: &Client) -> Result<Limit, Error> {
    let link = Arc::clone(&client.link);
    let told = client.run(async move {
        let connection = link.connection().await?;
        Ok(connection.cache().map_or(0, |cache| cache.max_batch_total_size_bytes))
    })?;
    let instance = client.link.address.instance().len().min(MESSAGE / 2);
    let blobs = u64::try_from(told).ok().filter(|&told| told > 0).unwrap_or(u64::MAX);
    Ok(Limit { message: MESSAGE - FRAME - instance, blobs })
}

/// Batches that are under way.
struct Sending<'a> {
    client: &'a Client,
    answers: mpsc::Sender<Result<u64, Error>>,
    answered: mpsc::Receiver<Result<u64, Error>>,
    under_way: usize,
}

#[derive(Default)]
struct Batch {
    updates: Vec<UpdateBlob>,
    message: usize,
    bytes: u64,
}

impl Sending<'_> {
    fn begin(&mut self, batch: Batch, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        if self.under_way == IN_FLIGHT {
            self.wait(progress)?;
        }
        let (link, answers, bytes) = (Arc::clone(&self.client.link), self.answers.clone(), batch.bytes);
        let died = Died { answers: answers.clone(), error: Some(self.client.died()) };
        self.client.worker()?.spawn(async move {
            let mut died = died;
            let stored = write_batch(&link, batch.updates).await;
            died.error = None;
            let _ = answers.send(stored.map(|()| bytes));
        });
        self.under_way += 1;
        Ok(())
    }

    fn wait(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        let answer = self.answered.recv().unwrap_or_else(|_| Err(self.client.died()));
        self.under_way -= 1;
        progress(answer?);
        Ok(())
    }
}

/// Says that a batch ended without an answer, should it.
struct Died {
    answers: mpsc::Sender<Result<u64, Error>>,
    error: Option<Error>,
}

impl Drop for Died {
    fn drop(&mut self) {
        if let Some(error) = self.error.take() {
            let _ = self.answers.send(Err(error));
        }
    }
}

async fn write_batch(link: &Link, mut open: Vec<UpdateBlob>) -> Result<(), Error> {
    let mut attempt = 0;
    while !open.is_empty() {
        let question = BatchUpdateBlobsRequest {
            instance_name: link.address.instance().into(),
            requests: open.clone(),
            digest_function: SHA256,
        };
        let answer: Result<BatchUpdateBlobsResponse, _> =
            link.ask(Method::BATCH_UPDATE, &question, LARGEST).await;
        let answer = answer.map_err(|failure| link.error(Method::BATCH_UPDATE, failure))?;
        let mut ended = HashMap::with_capacity(open.len());
        for blob in answer.responses {
            if let Some(digest) = meant(blob.digest.as_ref()) {
                ended.entry(digest).or_insert(blob.status);
            }
        }
        let mut failed = None;
        open.retain(|update| {
            let digest = meant(update.digest.as_ref());
            match digest.and_then(|digest| ended.remove(&digest)) {
                None => {
                    failed = Some(Failure::from(
                        link.broken(Method::BATCH_UPDATE, "there is no answer about one of the blobs"),
                    ));
                    true
                }
                Some(said) => {
                    let said = status(said);
                    let stored = said.code() == Code::Ok;
                    if !stored {
                        failed = Some(said.into());
                    }
                    !stored
                }
            }
        });
        if let Some(failure) = failed
            && !link.again(&failure, &mut attempt).await
        {
            return Err(link.error(Method::BATCH_UPDATE, failure));
        }
    }
    Ok(())
}

/// A blob that goes into a batch, if it is what its digest says.
fn read_small(blob: &Blob) -> Result<UpdateBlob, Error> {
    let (digest, bytes) = match blob {
        Blob::Bytes { digest, bytes } => (digest, bytes.clone()),
        Blob::File { digest, path } => {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(digest.size + 1).read_to_end(&mut bytes));
            read.map_err(|error| unreadable(path, &error))?;
            (digest, bytes)
        }
    };
    if Digest::of(&bytes) != *digest {
        return Err(changed(blob));
    }
    let data = Bytes::from(bytes);
    Ok(UpdateBlob { digest: Some(digest.to_message()), data, compressor: IDENTITY })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Local, format!("reading {}", path.display()), error.to_string())
}

fn changed(blob: &Blob) -> Error {
    let what = match blob {
        Blob::Bytes { .. } => "bytes".into(),
        Blob::File { path, .. } => path.display().to_string(),
    };
    let cause = format!("this is no longer {}", blob.digest());
    Error::new(ErrorKind::Changed, format!("storing {what}"), cause)
}
