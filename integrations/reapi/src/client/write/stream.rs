//! A large blob is sent in parts. The last part, with which a server begins to believe that it has all, is sent only if the
//! bytes are those that the digest is of.

use super::{changed, unreadable};
use crate::client::{Blob, Client};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::fault::Failure;
use crate::link::{Connection, Link, Method, ready};
use crate::messages::rpc::{WriteRequest, WriteResponse};
use crate::progress::Late;
use prost::bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

/// The bytes of a part.
const PART: usize = 1 << 20;
/// The parts that were read and not yet sent.
const PARTS: usize = 4;

/// Sends a blob, and all of it again if it broke off.
pub(super) fn write(client: &Client, blob: &Blob, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let mut attempt = 0;
    let mut told = 0;
    loop {
        let failure = match send(client, blob, &mut told, progress)? {
            Ok(()) => {
                progress(blob.digest().size - told);
                return Ok(());
            }
            Err(failure) => failure,
        };
        let link = Arc::clone(&client.link);
        let (failure, again, tried) = client.run(async move {
            let mut attempt = attempt;
            let again = link.again(&failure, &mut attempt).await;
            Ok((failure, again, attempt))
        })?;
        if !again {
            return Err(client.link.error(Method::WRITE, failure));
        }
        attempt = tried;
    }
}

/// Sends a blob once. The outer error is of this side: sending again does not help.
fn send(
    client: &Client,
    blob: &Blob,
    told: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Result<(), Failure>, Error> {
    let digest = blob.digest();
    let mut from: Box<dyn Read + '_> = match blob {
        Blob::Bytes { bytes, .. } => Box::new(bytes.as_slice()),
        Blob::File { path, .. } => Box::new(File::open(path).map_err(|error| unreadable(path, &error))?),
    };
    let (parts, to_send) = unbounded_channel();
    let (room, taken) = mpsc::channel();
    let (ended, end) = mpsc::sync_channel(1);
    let link = Arc::clone(&client.link);
    let sending = client.worker()?.spawn(async move {
        let _ = ended.send(transfer(&link, digest, to_send, room).await);
    });
    let mut sent = 0;
    let mut taken_of = |bytes: u64| {
        sent += bytes;
        if sent > *told {
            progress(sent - *told);
            *told = sent;
        }
    };
    let read =
        hand_over(from.as_mut(), client.link.address.instance(), digest, &parts, &taken, &mut taken_of);
    drop(parts);
    match read {
        Ok(Handed::All | Handed::Enough) => {}
        Ok(Handed::Other) => {
            sending.abort();
            return Err(changed(blob));
        }
        Err(error) => {
            sending.abort();
            return Err(match blob {
                Blob::File { path, .. } => unreadable(path, &error),
                Blob::Bytes { .. } => Error::new(ErrorKind::Local, "reading bytes".into(), error.to_string()),
            });
        }
    }
    end.recv().map_err(|_| client.died())
}

/// How reading ended.
enum Handed {
    /// At the end, and all of it was what the digest says.
    All,
    /// Before it: nobody wants more, since the server has the blob or has failed.
    Enough,
    /// It is something else.
    Other,
}

/// Reads, and hands over part after part, as fast as they are taken.
fn hand_over(
    from: &mut dyn Read,
    instance: &str,
    digest: Digest,
    parts: &UnboundedSender<WriteRequest>,
    taken: &mpsc::Receiver<u64>,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Handed> {
    let mut hash = Sha256::new();
    let (mut offset, mut under_way) = (0, 0);
    let mut part = next_part(from)?;
    loop {
        hash.update(&part);
        let end = offset + part.len() as u64;
        let next = next_part(from)?;
        let is_last = next.is_empty();
        if end > digest.size
            || (is_last && Digest { sha256: hash.clone().finalize().into(), size: end } != digest)
        {
            return Ok(Handed::Other);
        }
        let request = WriteRequest {
            resource_name: if offset == 0 { resource(instance, digest) } else { String::new() },
            write_offset: i64::try_from(offset).unwrap_or(i64::MAX),
            finish_write: is_last,
            data: Bytes::from(part),
        };
        if parts.send(request).is_err() {
            return Ok(Handed::Enough);
        }
        under_way += 1;
        if is_last {
            return Ok(Handed::All);
        }
        while under_way >= PARTS {
            let Ok(bytes) = taken.recv() else { return Ok(Handed::Enough) };
            under_way -= 1;
            progress(bytes);
        }
        (offset, part) = (end, next);
    }
}

fn next_part(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut part = Vec::new();
    from.take(PART as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// Sends what is handed over, and says which parts went.
async fn transfer(
    link: &Link,
    digest: Digest,
    parts: UnboundedReceiver<WriteRequest>,
    room: mpsc::Sender<u64>,
) -> Result<(), Failure> {
    let connection = link.connection().await?;
    let moved = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&moved);
    let parts = UnboundedReceiverStream::new(parts).map(move |part| {
        let bytes = part.data.len() as u64;
        counted.fetch_add(bytes, Ordering::Relaxed);
        // Nobody listens any more once all of it was read.
        let _ = room.send(bytes);
        part
    });
    let sent = send_parts(link, &connection, digest, parts, &moved).await;
    if let Err(failure) = &sent {
        link.judge(&connection, failure).await;
    }
    sent
}

async fn send_parts(
    link: &Link,
    connection: &Connection,
    digest: Digest,
    parts: impl tokio_stream::Stream<Item = WriteRequest> + Send + 'static,
    moved: &AtomicU64,
) -> Result<(), Failure> {
    let mut grpc = Grpc::new(connection.channel.clone());
    let answer = async {
        ready(&mut grpc).await?;
        let codec = ProstCodec::<WriteRequest, WriteResponse>::default();
        grpc.client_streaming(connection.request(parts), Method::WRITE.path(), codec).await
    };
    let mut answer = std::pin::pin!(answer);
    let mut seen = 0;
    // Nothing comes while a blob is sent: what moves is what goes.
    let answer = loop {
        let is_over = || link.over().is_some_and(|over| over <= Instant::now());
        let stall = Instant::now() + link.options.stall_timeout;
        let until = link.over().map_or(stall, |over| over.min(stall));
        match tokio::time::timeout_at(until, answer.as_mut()).await {
            Ok(answer) => break answer?.into_inner(),
            Err(_) if is_over() => return Err(link.late(Method::WRITE, Late::Over).into()),
            Err(_) => {
                let now = moved.load(Ordering::Relaxed);
                if now == seen {
                    return Err(link.late(Method::WRITE, Late::Stalled).into());
                }
                seen = now;
            }
        }
    };
    if u64::try_from(answer.committed_size) != Ok(digest.size) {
        let cause = format!("of blob {digest} it has stored {} bytes", answer.committed_size);
        return Err(link.broken(Method::WRITE, cause).into());
    }
    Ok(())
}

/// Names what is sent: each time something else, so that two who send the same blob do not meet.
fn resource(instance: &str, digest: Digest) -> String {
    // Each of these states is seeded by the system.
    let random = || RandomState::new().hash_one(std::process::id());
    let (high, low) = (random() & !0xf000 | 0x4000, random() & (u64::MAX >> 2) | 1 << 63);
    let slash = if instance.is_empty() { "" } else { "/" };
    format!(
        "{instance}{slash}uploads/{:08x}-{:04x}-{:04x}-{:04x}-{:012x}/blobs/{digest}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_upload_has_a_name_of_its_own() {
        let names: Vec<_> = (0..100).map(|_| resource("main", Digest::EMPTY)).collect();
        for name in &names {
            let uuid =
                name.strip_prefix("main/uploads/").and_then(|rest| rest.split_once('/')).expect("a name").0;
            assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
        }
        assert_eq!(names.iter().collect::<std::collections::HashSet<_>>().len(), 100);
        assert!(resource("", Digest::EMPTY).starts_with("uploads/"));
    }

    #[test]
    fn the_last_part_is_not_sent_of_what_is_something_else() {
        let bytes = vec![1; PART * 2 + 5];
        for (digest, sent, is_all) in [
            (Digest::of(&bytes), 3, true),
            (Digest { size: bytes.len() as u64, ..Digest::of(b"x") }, 2, false),
            (Digest::of(&bytes[1..]), 2, false),
            (Digest::of(&bytes[..PART]), 1, false),
        ] {
            let (parts, mut to_send) = unbounded_channel();
            let (_room, taken) = mpsc::channel();
            let read =
                hand_over(&mut bytes.as_slice(), "", digest, &parts, &taken, &mut |_| {}).expect("bytes");
            assert_eq!(matches!(read, Handed::All), is_all);
            let mut requests = Vec::new();
            while let Ok(request) = to_send.try_recv() {
                requests.push(request);
            }
            assert_eq!(requests.len(), sent);
            assert_eq!(requests.iter().filter(|request| request.finish_write).count(), usize::from(is_all));
        }
    }
}
