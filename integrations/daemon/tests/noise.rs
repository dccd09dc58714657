//! A server is sent requests of which anything may be wrong. What is no request is not answered, what is one gets its own answer,
//! and nobody else is disturbed. `UPCHECK_CASES` says how many requests (1,000; 200 on Windows).

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use upcheck_daemon::protocol::{MOST_ANSWER, MOST_REQUEST, Message};
use upcheck_daemon::{
    Answerer, Ask, Patience, Place, Program, Reply, Request, Server, Settings, Surroundings, Waits, ask,
};

const VERSION: &str = "1";
const ROOT: &[u8] = if cfg!(windows) { b"C:/" } else { b"/" };

/// Says what it was asked.
struct Echo;

fn echo(request: &Request) -> Reply {
    let stdout = request.arguments.join(&b'\n');
    Reply::Done { status: u8::from(request.colors[0]), stdout, stderr: request.directory.clone(), mark: None }
}

impl Answerer for Echo {
    fn answer(&self, request: &Request) -> Reply {
        echo(request)
    }

    fn wait(&self, request: &Request, _: &Waits) -> Reply {
        echo(request)
    }

    fn forget(&self) {}

    fn status(&self) -> Map<String, Value> {
        Map::from_iter([("echo".to_owned(), true.into())])
    }
}

/// A folder in which a server listens, for as long as this process runs.
fn served() -> TempDir {
    let home = tempfile::tempdir().expect("a directory");
    let place = Place::make(home.path().join("place")).expect("a place");
    let settings = Settings { idle: Duration::from_secs(3600), version: VERSION };
    let server = Server::begin(place, settings, program(), Box::new(Echo)).expect("a socket");
    let server = server.expect("it is alone");
    std::thread::spawn(move || server.run());
    home
}

fn program() -> Program {
    Program::of_this_process(VERSION).expect("a process that knows itself")
}

fn request(ask: Ask) -> Request {
    Request {
        ask,
        program: program().id().to_owned(),
        surroundings: Surroundings::of_this_process().expect("a process that knows itself").as_map().clone(),
        colors: [true, false],
        identity: "1:2 1:3".into(),
        directory: [ROOT, b"a b/\xff"].concat(),
        arguments: vec![b"check".to_vec(), Vec::new(), b"\xfe\n".to_vec()],
        mark: None,
    }
}

/// What is done to the bytes of a request, or to what they say.
#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    /// A part of the request is said once more, elsewhere.
    Repeat(usize, usize, usize),
    /// A length at the beginning is another one: of the header, of the bodies.
    Length(bool, u64),
    /// A key of the header has another value, or is gone. Lengths fit.
    Key(usize, Option<Value>),
    /// A body is another one. Lengths fit.
    Body(usize, Vec<u8>),
    /// More is said than is asked for.
    More(Vec<u8>),
}

const KEYS: [&str; 8] = ["protocol", "ask", "program", "surroundings", "colors", "mark", "bodies", "else"];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,9}".prop_map(Value::from),
        prop_oneof![Just("check"), Just("wait"), Just("status"), Just("forget")].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,5}", inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0..2_000_usize;
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let length = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 32), Just(MOST_REQUEST + 1), 0..2_000_u64];
    prop_oneof![
        3 => (at(), 1_u8..=255).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (at(), 1..40_usize).prop_map(|(at, n)| Damage::Remove(at, n)),
        1 => (at(), 1..200_usize, at()).prop_map(|(at, n, to)| Damage::Repeat(at, n, to)),
        1 => (any::<bool>(), length).prop_map(|(bodies, length)| Damage::Length(bodies, length)),
        3 => (0..KEYS.len(), prop::option::weighted(0.9, value())).prop_map(|(key, value)| Damage::Key(key, value)),
        2 => (0..3_usize, prop_oneof![bytes(), bytes().prop_map(|path| [ROOT, &path[..]].concat())])
            .prop_map(|(body, bytes)| Damage::Body(body, bytes)),
        1 => bytes().prop_map(Damage::More),
    ]
}

fn written(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be written is nothing.
    let _ = message.write(&mut bytes);
    bytes
}

/// The bytes of a request after all that was done to it: first to what it says, then to its bytes.
fn damaged(asks: Ask, damages: &[Damage]) -> Vec<u8> {
    let mut message = request(asks).to_message();
    for damage in damages {
        match damage {
            Damage::Key(key, None) => drop(message.header.remove(KEYS[*key])),
            Damage::Key(key, Some(value)) => drop(message.header.insert(KEYS[*key].into(), value.clone())),
            Damage::Body(body, bytes) => match message.bodies.get_mut(*body) {
                Some(body) => body.clone_from(bytes),
                None => message.bodies.push(bytes.clone()),
            },
            _ => {}
        }
    }
    let mut bytes = written(&message);
    for damage in damages {
        let n = bytes.len().max(1);
        match damage {
            Damage::Flip(at, bits) => bytes.iter_mut().skip(at % n).take(1).for_each(|byte| *byte ^= bits),
            Damage::Cut(at) => bytes.truncate(at % n),
            Damage::Insert(at, more) => {
                drop(bytes.splice((at % n).min(bytes.len())..(at % n).min(bytes.len()), more.iter().copied()))
            }
            Damage::Remove(at, n_removed) => {
                let from = (at % n).min(bytes.len());
                let to = (from + n_removed).min(bytes.len());
                bytes.drain(from..to);
            }
            Damage::Repeat(at, n_repeated, to) => {
                let from = (at % n).min(bytes.len());
                let part = bytes[from..(from + n_repeated).min(bytes.len())].to_vec();
                let to = (to % n).min(bytes.len());
                bytes.splice(to..to, part);
            }
            Damage::Length(bodies, length) if bytes.len() >= 16 => match bodies {
                false => bytes[4..8].copy_from_slice(&length.to_le_bytes()[..4]),
                true => bytes[8..16].copy_from_slice(&length.to_le_bytes()),
            },
            Damage::More(more) => bytes.extend(more),
            Damage::Length(..) | Damage::Key(..) | Damage::Body(..) => {}
        }
    }
    bytes
}

#[cfg(unix)]
fn connect(place: &Place) -> std::os::unix::net::UnixStream {
    std::os::unix::net::UnixStream::connect(place.address()).expect("it listens")
}

#[cfg(windows)]
fn connect(place: &Place) -> std::fs::File {
    loop {
        match std::fs::File::options().read(true).write(true).open(place.address()) {
            // All its ends are taken, for a moment.
            Err(error) if error.raw_os_error() == Some(231) => std::thread::yield_now(),
            opened => return opened.expect("it listens"),
        }
    }
}

/// Tells the server that nothing more is said. Whether an answer can be waited for.
#[cfg(unix)]
fn say_no_more(stream: &std::os::unix::net::UnixStream, _: &[u8]) -> bool {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    true
}

/// A pipe has no end in one direction: where not all is said that was begun, the server would wait for the rest.
#[cfg(windows)]
fn say_no_more(_: &std::fs::File, mut bytes: &[u8]) -> bool {
    let read = Message::read(&mut bytes, MOST_REQUEST);
    read.is_ok_and(|message| Request::from_message(&message).is_some())
}

/// What comes back for these bytes, which are said in two pieces.
fn say(home: &Path, bytes: &[u8], first: usize) -> Vec<u8> {
    let place = Place::open(home.join("place")).expect("a place").expect("it is there");
    let mut stream = connect(&place);
    let (first, second) = bytes.split_at(first % (bytes.len() + 1));
    // It may have had enough before all is said.
    let _ = stream.write_all(first).and_then(|()| stream.write_all(second));
    let mut answer = Vec::new();
    if say_no_more(&stream, bytes) {
        let _ = stream.read_to_end(&mut answer);
    }
    answer
}

/// The last reply in what came back; `None` where nothing did.
fn reply(mut answer: &[u8]) -> Option<Reply> {
    while !answer.is_empty() {
        let message = Message::read(&mut answer, MOST_ANSWER).expect("a whole message");
        match Reply::from_message(message).expect("a reply") {
            Reply::Busy => {}
            reply => {
                assert_eq!(answer, b"", "nothing stands behind it");
                return Some(reply);
            }
        }
    }
    None
}

fn is_answered_as_it_should_be(home: &Path, bytes: &[u8], first: usize) -> Result<(), TestCaseError> {
    let mut rest = bytes;
    let message = Message::read(&mut rest, MOST_REQUEST).ok();
    let request = message.and_then(|message| Request::from_message(&message));
    if request.as_ref().is_some_and(|request| request.ask == Ask::Stop) {
        return Ok(());
    }
    let reply = reply(&say(home, bytes, first));
    match request {
        None => prop_assert_eq!(reply, None, "an answer to what is no request"),
        // What stands behind a request and is not read ends the connection early, perhaps before the answer is there.
        Some(_) if !rest.is_empty() && reply.is_none() => {}
        Some(request) if !matches!(request.ask, Ask::Check | Ask::Wait) => {
            prop_assert!(
                matches!(&reply, Some(Reply::Status(status)) if status["echo"] == true),
                "{:?}",
                reply
            );
        }
        Some(request) => {
            let own = self::request(Ask::Check);
            match (request.program == own.program, request.surroundings == own.surroundings) {
                (true, true) => prop_assert_eq!(reply, Some(echo(&request))),
                _ => prop_assert!(matches!(reply, Some(Reply::Declined { .. })), "{:?}", reply),
            }
        }
    }
    Ok(())
}

#[test]
fn whatever_is_sent_only_what_is_a_request_is_answered_and_rightly() {
    let home = served();
    let usual = if cfg!(windows) { 200 } else { 1_000 };
    let cases = std::env::var("UPCHECK_CASES").map_or(usual, |cases| cases.parse().expect("a number"));
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let asks = prop_oneof![4 => Just(Ask::Check), 1 => Just(Ask::Status), 1 => Just(Ask::Forget)];
    let all = (asks, prop::collection::vec(damage(), 0..4), any::<usize>());
    let tried = TestRunner::new(config).run(&all, |(asks, damages, first)| {
        is_answered_as_it_should_be(home.path(), &damaged(asks, &damages), first)
    });
    if let Err(TestError::Fail(why, case)) = tried {
        panic!("{why}: {case:?}");
    }
    // It is as well as ever.
    let place = Place::open(home.path().join("place")).expect("a place").expect("it is there");
    let asked = ask(&place, &request(Ask::Check), Patience(Duration::from_secs(60)));
    assert_eq!(asked, Ok(echo(&request(Ask::Check))));
    let Ok(Reply::Status(status)) = ask(&place, &request(Ask::Status), Patience(Duration::from_secs(60)))
    else {
        panic!("no status")
    };
    assert_eq!((&status["strangers"], &status["too_many"]), (&0.into(), &0.into()), "{status:?}");
    assert!(status["malformed"].as_u64() > Some(0) && status["questions"].as_u64() > Some(0), "{status:?}");
}
