//! A cache that lies, says too much, too little, or nothing. Nothing that it says is handed on as a blob that it is not, and
//! nothing takes forever.

use super::{client_with, read_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use upcheck_reapi::messages::google::Status;
use upcheck_reapi::messages::{OutputFile, rpc};
use upcheck_reapi::{ActionResult, Blob, Client, Digest, ErrorKind, Header, Message, Options, Secret};
use upcheck_tests::grpc_server::{
    End, GrpcServer, NOT_FOUND, Reply, UNAVAILABLE, UNIMPLEMENTED, capabilities,
};

const WANTED: &[u8] = b"what was asked for";
const UNAUTHENTICATED: u32 = 16;
const INTERNAL: u32 = 13;

/// A server that shakes hands as it should, and then answers as it is told.
fn server(answer: impl Fn(&str, Vec<Vec<u8>>) -> Reply + Send + Sync + 'static) -> GrpcServer {
    GrpcServer::start(move |method, messages| match method {
        "GetCapabilities" => Reply::of(&capabilities()),
        _ => answer(method, messages),
    })
}

/// A client that does not try again, and does not wait for long.
fn hasty(server: &GrpcServer) -> Client {
    // Few at once: a server may break a connection off on which many questions are given up.
    let options = Options {
        retries: 0,
        stall_timeout: Duration::from_millis(200),
        max_in_flight: 16,
        ..Options::default()
    };
    client_with(&server.address(), options)
}

fn read_blob(digest: Digest, data: &[u8]) -> rpc::ReadBlob {
    rpc::ReadBlob {
        digest: Some(digest.to_message()),
        data: data.to_vec().into(),
        ..rpc::ReadBlob::default()
    }
}

/// What a client makes of such answers to a question for a small blob.
fn batch(responses: Vec<rpc::ReadBlob>) -> Result<Option<Vec<u8>>, ErrorKind> {
    let server = server(move |_, _| Reply::of(&rpc::BatchReadBlobsResponse { responses: responses.clone() }));
    let wanted = Digest::of(WANTED);
    let mut read = read_all(&hasty(&server), &[wanted]);
    assert_eq!(read.len(), 1);
    read.remove(&wanted).expect("an answer").map_err(|error| error.kind())
}

#[test]
fn only_the_right_bytes_are_the_right_bytes() {
    let wanted = Digest::of(WANTED);
    assert_eq!(batch(vec![read_blob(wanted, WANTED)]), Ok(Some(WANTED.to_vec())));
    let longer = [WANTED, b"!"].concat();
    for wrong in [&b"something else"[..], b"", &longer, &WANTED[1..]] {
        assert_eq!(batch(vec![read_blob(wanted, wrong)]), Err(ErrorKind::Corrupt));
        // Of two answers the first counts.
        assert_eq!(batch(vec![read_blob(wanted, wrong), read_blob(wanted, WANTED)]), Err(ErrorKind::Corrupt));
    }
    // Far more than was asked for is not even taken in.
    assert_eq!(batch(vec![read_blob(wanted, &vec![0; 20 << 20])]), Err(ErrorKind::BrokenAnswer));
}

#[test]
fn answers_about_something_else_are_no_answers() {
    let (wanted, other) = (Digest::of(WANTED), Digest::of(b"other"));
    assert_eq!(batch(vec![]), Err(ErrorKind::BrokenAnswer));
    assert_eq!(batch(vec![read_blob(other, b"other")]), Err(ErrorKind::BrokenAnswer));
    assert_eq!(batch(vec![read_blob(other, b"other"), read_blob(wanted, WANTED)]), Ok(Some(WANTED.to_vec())));
    assert_eq!(batch(vec![rpc::ReadBlob::default()]), Err(ErrorKind::BrokenAnswer));
    let size = Digest { size: 1, ..wanted };
    assert_eq!(batch(vec![read_blob(size, WANTED)]), Err(ErrorKind::BrokenAnswer));
    // Nobody asked for anything compressed, so nothing is ever unpacked.
    let packed = rpc::ReadBlob { compressor: 1, ..read_blob(wanted, WANTED) };
    assert_eq!(batch(vec![packed]), Err(ErrorKind::BrokenAnswer));
    let status = |code| Some(Status { code, ..Status::default() });
    assert_eq!(batch(vec![rpc::ReadBlob { status: status(5), ..read_blob(wanted, WANTED) }]), Ok(None));
    for code in [3, 13, -1, 99] {
        let failed = rpc::ReadBlob { status: status(code), ..read_blob(wanted, WANTED) };
        assert_eq!(batch(vec![failed]), Err(ErrorKind::Server), "{code}");
    }
}

/// What a client makes of such a stream, and how many bytes it wrote.
fn stream(messages: &[&[u8]], end: End) -> (Result<bool, ErrorKind>, usize) {
    let part = |data: &[u8]| rpc::ReadResponse { data: data.to_vec().into() }.encode_to_vec();
    let reply = Reply { messages: messages.iter().map(|data| part(data)).collect(), end };
    let server = server(move |_, _| reply.clone());
    let mut written = Vec::new();
    let read = hasty(&server).read_into(Digest::of(WANTED), &mut written);
    (read.map_err(|error| error.kind()), written.len())
}

#[test]
fn a_stream_ends_after_the_bytes_that_were_asked_for() {
    let all = WANTED.len();
    let part = |data: &[u8]| rpc::ReadResponse { data: data.to_vec().into() }.encode_to_vec();
    assert_eq!(stream(&[&WANTED[..3], b"", &WANTED[3..]], End::default()), (Ok(true), all));
    assert_eq!(stream(&[], End::Status(NOT_FOUND, String::new())), (Ok(false), 0));
    assert_eq!(stream(&[], End::default()), (Err(ErrorKind::Corrupt), 0));
    assert_eq!(stream(&[&WANTED[1..]], End::default()), (Err(ErrorKind::Corrupt), all - 1));
    assert_eq!(stream(&[WANTED, b"!"], End::default()), (Err(ErrorKind::Corrupt), all));
    assert_eq!(stream(&[&vec![0; all]], End::default()), (Err(ErrorKind::Corrupt), all));
    // It was there when it began, so it is not "not there".
    assert_eq!(stream(&[&WANTED[..3]], End::Status(NOT_FOUND, String::new())), (Err(ErrorKind::Server), 3));
    for endless in [&b"x"[..], &[0; 50_000]] {
        let (read, written) = stream(&[], End::Endless(part(endless)));
        assert_eq!(read, Err(ErrorKind::Corrupt));
        assert!(written <= all, "{written}");
    }
    assert_eq!(stream(&[], End::Endless(part(b""))), (Err(ErrorKind::BrokenAnswer), 0));
    assert_eq!(stream(&[&WANTED[..3]], End::Silence), (Err(ErrorKind::Stalled), 3));
    assert_eq!(stream(&[], End::Silence), (Err(ErrorKind::Stalled), 0));
}

#[test]
fn what_is_missing_is_only_what_was_asked_about() {
    let (wanted, other) = (Digest::of(WANTED), Digest::of(b"other"));
    let upper = upcheck_reapi::messages::Digest { hash: wanted.hex().to_uppercase(), ..wanted.to_message() };
    let below = upcheck_reapi::messages::Digest { size_bytes: -1, ..wanted.to_message() };
    for (missing, expected) in [
        (vec![], Ok(vec![])),
        (vec![wanted.to_message(), wanted.to_message()], Ok(vec![wanted])),
        (vec![other.to_message()], Err(ErrorKind::BrokenAnswer)),
        (vec![Digest { size: 1, ..wanted }.to_message()], Err(ErrorKind::BrokenAnswer)),
        (vec![upper], Err(ErrorKind::BrokenAnswer)),
        (vec![below], Err(ErrorKind::BrokenAnswer)),
    ] {
        let answer = rpc::FindMissingBlobsResponse { missing_blob_digests: missing };
        let server = server(move |_, _| Reply::of(&answer));
        let found = hasty(&server).find_missing(&[wanted]);
        assert_eq!(found.map_err(|error| error.kind()), expected);
    }
}

#[test]
fn paths_in_results_are_handed_on_as_they_are() {
    let paths = ["../../etc/passwd", "/etc/passwd", "", "a\\b", "a//b", "a\0b", "a", "a"];
    let output_files = paths.map(|path| OutputFile { path: path.into(), ..OutputFile::default() }).to_vec();
    let result = ActionResult { output_files, ..ActionResult::default() };
    let told = result.clone();
    let server = server(move |_, _| Reply::of(&told));
    let found = hasty(&server).action_results(&[Digest::of(WANTED)]);
    assert!(matches!(&found[..], [Ok(Some(found))] if *found == result));
}

#[test]
fn silence_is_not_waited_for_forever() {
    let server = server(|_, _| Reply { end: End::Silence, ..Reply::default() });
    let client = hasty(&server);
    let blob = |size: usize| Blob::Bytes { digest: Digest::of(&vec![1; size]), bytes: vec![1; size] };
    let digest = Digest::of(WANTED);
    let kinds = [
        client.find_missing(&[digest]).map(drop),
        client.put_action_result(digest, &ActionResult::default()),
        client.write_all(&[blob(10)], &mut |_| {}),
        client.write_all(&[blob(20 << 20)], &mut |_| {}),
        client.may_write().map(drop),
        client.action_results(&[digest; 2000]).into_iter().collect::<Result<Vec<_>, _>>().map(drop),
        read_all(&client, &[digest]).into_values().collect::<Result<Vec<_>, _>>().map(drop),
    ];
    assert!(
        kinds.iter().all(|kind| matches!(kind, Err(error) if error.kind() == ErrorKind::Stalled)),
        "{kinds:?}"
    );
}

#[test]
fn a_connection_on_which_nothing_came_is_not_used_again() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = GrpcServer::start(move |method, _| match method {
        "GetCapabilities" => {
            counted.fetch_add(1, Ordering::Relaxed);
            Reply::of(&capabilities())
        }
        _ if counted.load(Ordering::Relaxed) == 1 => Reply { end: End::Silence, ..Reply::default() },
        _ => Reply::of(&rpc::FindMissingBlobsResponse::default()),
    });
    let client = hasty(&server);
    let digest = Digest::of(WANTED);
    let error = client.find_missing(&[digest]).expect_err("silence");
    assert_eq!(error.kind(), ErrorKind::Stalled, "{error}");
    assert_eq!(client.find_missing(&[digest]).expect("an answer over another connection"), []);
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[test]
fn another_server_than_a_cache_is_told_from_one() {
    let none = GrpcServer::start(|_, _| Reply::status(UNIMPLEMENTED, "unknown service"));
    let error = hasty(&none).find_missing(&[Digest::of(WANTED)]).expect_err("no cache");
    assert_eq!(error.kind(), ErrorKind::NotACache, "{error}");
    let other = GrpcServer::start(|_, _| Reply::of(&rpc::ServerCapabilities::default()));
    let error = hasty(&other).find_missing(&[Digest::of(WANTED)]).expect_err("no SHA-256");
    assert_eq!(error.kind(), ErrorKind::NotACache, "{error}");
}

/// A server that answers so many requests with one status, and all later ones as a good one would, and how often it was asked.
fn failing(times: usize, code: u32) -> (GrpcServer, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let server = server(move |method, messages| {
        let first = counted.fetch_add(1, Ordering::Relaxed) < times;
        match method {
            _ if first => Reply::status(code, "said Bearer t0p-secret \u{7f}"),
            "FindMissingBlobs" => Reply::of(&rpc::FindMissingBlobsResponse::default()),
            "BatchUpdateBlobs" => {
                let request = rpc::BatchUpdateBlobsRequest::decode(&*messages[0]).expect("a request");
                let ended =
                    |update: rpc::UpdateBlob| rpc::UpdatedBlob { digest: update.digest, status: None };
                Reply::of(&rpc::BatchUpdateBlobsResponse {
                    responses: request.requests.into_iter().map(ended).collect(),
                })
            }
            _ => Reply::status(NOT_FOUND, ""),
        }
    });
    (server, asked)
}

#[test]
fn what_may_pass_is_tried_again_and_what_was_refused_is_not() {
    for (times, code, retries, expected, requests) in [
        (2, UNAVAILABLE, 4, Ok(vec![]), 3),
        (2, INTERNAL, 2, Ok(vec![]), 3),
        (9, UNAVAILABLE, 2, Err(ErrorKind::Server), 3),
        (9, UNAUTHENTICATED, 4, Err(ErrorKind::Refused), 1),
        (9, 7, 4, Err(ErrorKind::Refused), 1),
        (9, 3, 4, Err(ErrorKind::Server), 1),
    ] {
        let (server, asked) = failing(times, code);
        let header = Header { name: "authorization".into(), value: Secret::new("Bearer t0p-secret") };
        let client =
            client_with(&server.address(), Options { retries, headers: vec![header], ..Options::default() });
        let found = client.find_missing(&[Digest::of(WANTED)]);
        if let Err(error) = &found {
            assert!(!error.to_string().contains("t0p-secret"), "{error}");
        }
        assert_eq!(found.map_err(|error| error.kind()), expected, "{code}");
        assert_eq!(asked.load(Ordering::Relaxed), requests, "{code}");
    }
}

#[test]
fn of_a_batch_only_what_failed_is_sent_again() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let server = server(move |_, messages| {
        let request = rpc::BatchUpdateBlobsRequest::decode(&*messages[0]).expect("a request");
        let before = counted.fetch_add(request.requests.len(), Ordering::Relaxed);
        let ended = |(at, update): (usize, rpc::UpdateBlob)| {
            let code = if before == 0 && at % 2 == 0 { UNAVAILABLE.cast_signed() } else { 0 };
            let status = Some(Status { code, ..Status::default() });
            rpc::UpdatedBlob { digest: update.digest, status }
        };
        let responses = request.requests.into_iter().enumerate().map(ended).collect();
        Reply::of(&rpc::BatchUpdateBlobsResponse { responses })
    });
    let client = client_with(&server.address(), Options::default());
    let blobs: Vec<_> =
        (0..10_u8).map(|byte| Blob::Bytes { digest: Digest::of(&[byte]), bytes: vec![byte] }).collect();
    client.write_all(&blobs, &mut |_| {}).expect("stored");
    assert_eq!(sent.load(Ordering::Relaxed), 15);
}

#[test]
fn what_was_not_stored_is_not_taken_for_stored() {
    let blob = || Blob::Bytes { digest: Digest::of(WANTED), bytes: WANTED.to_vec() };
    let answers = |responses: Vec<rpc::UpdatedBlob>| {
        let server =
            server(move |_, _| Reply::of(&rpc::BatchUpdateBlobsResponse { responses: responses.clone() }));
        hasty(&server).write_all(&[blob()], &mut |_| {}).map_err(|error| error.kind())
    };
    let updated = |digest: Digest, code| {
        let status = Some(Status { code, ..Status::default() });
        rpc::UpdatedBlob { digest: Some(digest.to_message()), status }
    };
    let (wanted, other) = (Digest::of(WANTED), Digest::of(b"other"));
    assert_eq!(answers(vec![updated(wanted, 0)]), Ok(()));
    assert_eq!(answers(vec![]), Err(ErrorKind::BrokenAnswer));
    assert_eq!(answers(vec![updated(other, 0)]), Err(ErrorKind::BrokenAnswer));
    assert_eq!(answers(vec![updated(wanted, 13), updated(wanted, 0)]), Err(ErrorKind::Server));
    assert_eq!(answers(vec![updated(wanted, 16)]), Err(ErrorKind::Refused));

    let large = vec![7; 5 << 20];
    for (committed_size, expected) in
        [(5 << 20, Ok(())), (0, Err(ErrorKind::BrokenAnswer)), (-1, Err(ErrorKind::BrokenAnswer))]
    {
        let server = server(move |_, _| Reply::of(&rpc::WriteResponse { committed_size }));
        let blob = Blob::Bytes { digest: Digest::of(&large), bytes: large.clone() };
        let stored = hasty(&server).write_all(&[blob], &mut |_| {});
        assert_eq!(stored.map_err(|error| error.kind()), expected);
    }
}

#[test]
fn random_answers_are_never_believed_and_never_fatal() {
    let state = AtomicUsize::new(1);
    let server = server(move |_, messages| {
        let mut random = state.fetch_add(1, Ordering::Relaxed) as u64 * 0x9e37_79b9_7f4a_7c15;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        // Half of them noise, half the question with some bytes changed: it has digests in the right places.
        let mut answer = match next() % 2 {
            0 => (0..next() % 60).map(|_| next().to_le_bytes()[0]).collect(),
            _ => messages.first().cloned().unwrap_or_default(),
        };
        for _ in 0..next() % 4 {
            let length = answer.len().max(1);
            let at = usize::try_from(next()).unwrap_or(0) % length;
            if let Some(byte) = answer.get_mut(at) {
                *byte = next().to_le_bytes()[0];
            }
        }
        Reply { messages: vec![answer; usize::from(next() % 8 != 0)], end: End::default() }
    });
    let client = hasty(&server);
    for number in 0..500_u32 {
        let bytes = number.to_le_bytes();
        let (small, large) = (Digest::of(&bytes), Digest { size: 9 << 20, ..Digest::of(&bytes) });
        for (digest, read) in read_all(&client, &[small, large]) {
            if let Ok(Some(read)) = read {
                assert_eq!(Digest::of(&read), digest);
            }
        }
        let _ = client.find_missing(&[small, large]);
        let _ = client.action_results(&[small]);
        let _ = client.put_action_result(small, &ActionResult::default());
        let _ = client.write_all(&[Blob::Bytes { digest: small, bytes: bytes.to_vec() }], &mut |_| {});
        let _ = client.capabilities();
    }
}
