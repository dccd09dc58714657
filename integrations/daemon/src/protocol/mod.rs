//! What travels between a client and the daemon. No I/O but reading and writing a stream of bytes.
//!
//! ```text
//!   message:  "upck"     4 bytes
//!             length of the header in bytes, 32 bits     numbers are little-endian
//!             length of all bodies together, 64 bits
//!             header     one object of JSON; its key "bodies" has the length of each body
//!             bodies     one behind the other
//! ```
//!
//! A request is one message. An answer is one, too, and before it any number of messages that say `busy` or `waiting`. Then
//! both are done. What does not keep to this ends the connection, and nothing else: nobody allocates what a length claims before
//! the bytes are there.

mod message;

pub use message::{MOST_ANSWER, MOST_REQUEST, Message};

use serde_json::{Map, Value, json};
use std::time::Duration;

/// The version of the protocol. Who speaks another one gets no answer.
pub const VERSION: u64 = 1;
/// How often a daemon says that it waits.
pub const WAITING: Duration = Duration::from_secs(5);

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The answer to a check.
    Check,
    /// The answer to a check, as soon as it is another one than [`Request::mark`] stands for.
    Wait,
    /// What the daemon does and has done.
    Status,
    /// That it forgets what it remembers: an answer was wrong.
    Forget,
    /// That it ends.
    Stop,
}

impl Ask {
    const ALL: [(Self, &str); 5] = [
        (Self::Check, "check"),
        (Self::Wait, "wait"),
        (Self::Status, "status"),
        (Self::Forget, "forget"),
        (Self::Stop, "stop"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(ask, _)| *ask == self).map_or("", |(_, name)| name)
    }
}

/// A question, and all that its answer may depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub ask: Ask,
    /// Which program asks: see [`crate::Program`].
    pub program: String,
    /// What the process that asks sees of the world: see [`crate::Surroundings`].
    pub surroundings: Map<String, Value>,
    /// Whether what goes to standard output and standard error may be coloured.
    pub colors: [bool; 2],
    /// Which files the question is about: see [`crate::identity`].
    pub identity: String,
    /// The directory that the client is in, absolute.
    pub directory: Vec<u8>,
    /// The arguments of the command, without its name.
    pub arguments: Vec<Vec<u8>>,
    /// With [`Ask::Wait`]: what stands for the answer that is known already; `None` where none is.
    pub mark: Option<String>,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing yet, but somebody is at it.
    Busy,
    /// The answer is the one that is known already. It is said again and again, with [`WAITING`] between.
    Waiting,
    /// What the command would print, and how it would end.
    Done {
        /// The exit status.
        status: u8,
        /// For standard output.
        stdout: Vec<u8>,
        /// For standard error.
        stderr: Vec<u8>,
        /// To [`Ask::Wait`]: what stands for this answer. Answers that differ in what they say have different ones.
        mark: Option<String>,
    },
    /// Not from this daemon: the client finds it out himself.
    Declined {
        /// Why, for people.
        reason: String,
    },
    /// What the daemon does and has done.
    Status(Map<String, Value>),
    /// The daemon ends; it has when the connection does.
    Stopping,
}

impl Request {
    /// As it travels.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let Value::Object(mut header) = json!({
            "protocol": VERSION,
            "ask": self.ask.name(),
            "program": self.program,
            "surroundings": self.surroundings,
            "colors": self.colors,
            "identity": self.identity,
        }) else {
            unreachable!("it is an object")
        };
        header.extend(self.mark.iter().map(|mark| ("mark".to_owned(), mark.clone().into())));
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            arguments.extend(argument);
            arguments.push(0);
        }
        Message { header, bodies: vec![self.directory.clone(), arguments] }
    }

    /// What a message asks for; `None` where it asks for nothing that is known.
    #[must_use]
    pub fn from_message(message: &Message) -> Option<Self> {
        let name = message.text("ask").filter(|_| message.is_known())?;
        let (ask, _) = *Ask::ALL.iter().find(|(_, known)| *known == name)?;
        let [directory, arguments] = message.bodies.as_slice() else { return None };
        if !is_absolute(directory) || directory.contains(&0) {
            return None;
        }
        let colors = message.header.get("colors")?.as_array()?;
        let [stdout, stderr] = colors.as_slice() else { return None };
        // Each has a NUL behind it.
        let arguments = match arguments.split_last() {
            None => Vec::new(),
            Some((0, all)) => all.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect(),
            Some(_) => return None,
        };
        Some(Self {
            ask,
            program: message.text("program")?.to_owned(),
            surroundings: message.header.get("surroundings")?.as_object()?.clone(),
            colors: [stdout.as_bool()?, stderr.as_bool()?],
            identity: message.text("identity")?.to_owned(),
            directory: directory.clone(),
            arguments,
            mark: mark_of(message)?,
        })
    }
}

impl Reply {
    /// As it travels.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let (mut header, bodies) = match self {
            Self::Busy => (json!({ "reply": "busy" }), Vec::new()),
            Self::Waiting => (json!({ "reply": "waiting" }), Vec::new()),
            Self::Done { status, stdout, stderr, mark } => {
                let mut header = json!({ "reply": "done", "status": status });
                if let Some(mark) = mark {
                    header["mark"] = mark.as_str().into();
                }
                (header, vec![stdout.clone(), stderr.clone()])
            }
            Self::Declined { reason } => (json!({ "reply": "declined", "reason": reason }), Vec::new()),
            Self::Status(status) => (json!({ "reply": "status", "daemon": status }), Vec::new()),
            Self::Stopping => (json!({ "reply": "stopping" }), Vec::new()),
        };
        header["protocol"] = VERSION.into();
        let Value::Object(header) = header else { unreachable!("it is an object") };
        Message { header, bodies }
    }

    /// What a message replies; `None` where it is nothing that is known.
    #[must_use]
    pub fn from_message(message: Message) -> Option<Self> {
        let name = message.text("reply").filter(|_| message.is_known())?;
        Some(match name {
            "busy" => Self::Busy,
            "waiting" => Self::Waiting,
            "stopping" => Self::Stopping,
            "declined" => Self::Declined { reason: message.text("reason")?.to_owned() },
            "status" => Self::Status(message.header.get("daemon")?.as_object()?.clone()),
            "done" => {
                let status = u8::try_from(message.header.get("status")?.as_u64()?).ok()?;
                let mark = mark_of(&message)?;
                let Ok([stdout, stderr]) = <[_; 2]>::try_from(message.bodies) else { return None };
                Self::Done { status, stdout, stderr, mark }
            }
            _ => return None,
        })
    }
}

/// Whether a path is the same wherever a process is, and, on Windows, whatever drive it is on.
fn is_absolute(path: &[u8]) -> bool {
    let is_separator = |byte: &u8| *byte == b'/' || *byte == b'\\';
    match path {
        [letter, b':', separator, ..] if cfg!(windows) => {
            letter.is_ascii_alphabetic() && is_separator(separator)
        }
        [first, second, ..] if cfg!(windows) => is_separator(first) && is_separator(second),
        _ => !cfg!(windows) && path.first() == Some(&b'/'),
    }
}

/// The mark in a message, if there is one; `None` where it is none.
fn mark_of(message: &Message) -> Option<Option<String>> {
    match message.header.get("mark") {
        None => Some(None),
        Some(mark) => Some(Some(mark.as_str()?.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::message::{MAGIC, MOST_HEADER};
    use super::*;
    use proptest::prelude::*;
    use std::io::{self, ErrorKind};

    const ROOT: &[u8] = if cfg!(windows) { b"C:/" } else { b"/" };

    fn request() -> Request {
        let Value::Object(surroundings) = json!({ "TZ": "UTC" }) else { panic!("an object") };
        Request {
            ask: Ask::Check,
            program: "0.1.0 1:2:3".into(),
            surroundings,
            colors: [true, false],
            identity: "1:2 1:3".into(),
            directory: [ROOT, b"a b/\xff"].concat(),
            arguments: vec![b"check".to_vec(), Vec::new(), b"\xfe\n".to_vec()],
            mark: None,
        }
    }

    fn written(message: &Message) -> Vec<u8> {
        let mut bytes = Vec::new();
        message.write(&mut bytes).expect("memory");
        bytes
    }

    fn read(mut bytes: &[u8]) -> io::Result<Message> {
        Message::read(&mut bytes, MOST_REQUEST)
    }

    #[test]
    fn a_request_comes_out_as_it_was_put_in() {
        for arguments in [Vec::new(), vec![Vec::new()], request().arguments] {
            let request = Request { arguments, ..request() };
            let message = read(&written(&request.to_message())).expect("a message");
            assert_eq!(Request::from_message(&message), Some(request));
        }
        for mark in [None, Some(String::new()), Some("\"so\"".into())] {
            let request = Request { ask: Ask::Wait, mark, ..request() };
            let message = read(&written(&request.to_message())).expect("a message");
            assert_eq!(Request::from_message(&message), Some(request));
        }
    }

    #[test]
    fn a_reply_comes_out_as_it_was_put_in() {
        let Value::Object(status) = json!({ "pid": 7 }) else { panic!("an object") };
        let done = |mark| Reply::Done { status: 1, stdout: b"a\0\xff".to_vec(), stderr: Vec::new(), mark };
        let (done, marked) = (done(None), done(Some("7f".into())));
        let declined = Reply::Declined { reason: "\"so\"".into() };
        for reply in
            [Reply::Busy, Reply::Waiting, done, marked, declined, Reply::Status(status), Reply::Stopping]
        {
            let message = read(&written(&reply.to_message())).expect("a message");
            assert_eq!(Reply::from_message(message), Some(reply));
        }
    }

    #[test]
    fn what_is_cut_short_is_no_message() {
        let bytes = written(&request().to_message());
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn what_claims_to_be_long_is_refused_before_it_is_there() {
        for (header, bodies) in [(u32::MAX, 0), (MOST_HEADER + 1, 0), (2, u64::MAX), (2, MOST_REQUEST + 1)] {
            let bytes = [&MAGIC[..], &header.to_le_bytes(), &bodies.to_le_bytes(), b"{}"].concat();
            let error = read(&bytes).expect_err("it is too long");
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{header} {bodies}");
        }
        // Within the limits, and not there.
        let bytes = [&MAGIC[..], &2_u32.to_le_bytes(), &MOST_REQUEST.to_le_bytes(), b"{}"].concat();
        assert!(read(&bytes).is_err());
        let mut bytes = written(&Message { header: Map::new(), bodies: vec![vec![7; 9]] });
        let at = bytes.len() - 9;
        bytes.truncate(at);
        assert_eq!(read(&bytes).expect_err("nothing follows").kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn lengths_that_do_not_add_up_are_refused() {
        let with = |bodies: &str, n_bytes: u64| {
            let header = format!("{{\"bodies\":{bodies}}}");
            let length = u32::try_from(header.len()).expect("short");
            let bytes =
                [&MAGIC[..], &length.to_le_bytes(), &n_bytes.to_le_bytes(), header.as_bytes(), b"abcd"];
            read(&bytes.concat())
        };
        assert!(with("[1,3]", 4).is_ok());
        for bodies in
            ["[1,2]", "[5]", "[18446744073709551615,5]", "[-1,5]", "[0,0,0,0,4]", "{}", "4", "[4.0]"]
        {
            assert!(with(bodies, 4).is_err(), "{bodies}");
        }
    }

    #[test]
    fn a_request_of_another_version_or_without_a_place_is_none() {
        let other = |change: &dyn Fn(&mut Message)| {
            let mut message = request().to_message();
            change(&mut message);
            Request::from_message(&message)
        };
        assert!(other(&|_| {}).is_some());
        assert_eq!(other(&|message| message.header["protocol"] = 2.into()), None);
        assert_eq!(other(&|message| message.header["ask"] = "else".into()), None);
        assert_eq!(other(&|message| drop(message.header.insert("mark".into(), 7.into()))), None);
        assert_eq!(other(&|message| message.header["colors"] = json!([true])), None);
        assert_eq!(other(&|message| message.bodies[0] = b"relative".to_vec()), None);
        assert_eq!(other(&|message| message.bodies[0] = [ROOT, b"a\0b"].concat()), None);
        assert_eq!(other(&|message| message.bodies[1] = b"no end".to_vec()), None);
        assert_eq!(other(&|message| drop(message.bodies.pop())), None);
    }

    #[test]
    fn a_place_is_absolute_as_the_platform_has_it() {
        for (path, on_unix, on_windows) in [
            ("/", true, false),
            ("/a", true, false),
            ("//server/share", true, true),
            ("\\\\server\\share", false, true),
            ("C:/", false, true),
            ("c:\\a", false, true),
            ("C:a", false, false),
            ("C:", false, false),
            ("1:/a", false, false),
            ("", false, false),
            ("a/b", false, false),
        ] {
            assert_eq!(
                is_absolute(path.as_bytes()),
                if cfg!(windows) { on_windows } else { on_unix },
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn random_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let _ = read(&[&MAGIC[..], &bytes].concat());
        }

        #[test]
        fn damage_is_an_error_or_another_message(at in 0_usize..400, bits in 1_u8..=255) {
            let mut bytes = written(&request().to_message());
            let at = at % bytes.len();
            bytes[at] ^= bits;
            if let Ok(message) = read(&bytes) {
                let _ = Request::from_message(&message);
                let _ = Reply::from_message(message);
            }
        }
    }
}
