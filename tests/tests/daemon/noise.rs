//! Whatever is sent to a daemon, it goes on answering.

use crate::command::spaces::program;
use crate::{User, without_watched};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let n = self.next() % most;
        (0..n).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

fn say(folder: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(folder.join("socket")).expect("it listens");
    // It may have had enough before all is said.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn random_truncated_and_oversized_requests_disturb_nobody() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let pid = user.pid();
    let plain = user.run(&space, "--no-watch").answer(0);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut n_malformed = 0;
    for round in 0..200_u32 {
        let header = b"{\"protocol\":1,\"ask\":\"check\",\"bodies\":[]}";
        let length = u32::try_from(header.len()).expect("short");
        let noise = random.bytes(300);
        let message: Vec<u8> = match round % 6 {
            0 => noise,
            1 => [b"upck", &noise[..]].concat(),
            2 => [&b"upck"[..], &length.to_le_bytes(), &[0; 8], header].concat(),
            3 => [&b"upck"[..], &length.to_le_bytes(), &[0xff; 8], header].concat(),
            4 => [&b"upck"[..], &[0xff; 4], &[0; 8], header].concat(),
            _ => [&b"upck"[..], &length.to_le_bytes(), &[0; 8], &header[..header.len() / 2]].concat(),
        };
        assert_eq!(say(&user.folder(), &message), b"", "{message:?}");
        n_malformed += 1;
    }
    assert_eq!(user.run(&space, "check --watch").answer(0), plain);
    assert_eq!(without_watched(&user.run(&space, "").answer(0)), (plain, true));
    assert_eq!(user.pid(), pid);
    assert_eq!(user.status().expect("it runs")["malformed"], n_malformed);
}

#[test]
fn those_who_connect_and_say_nothing_do_not_keep_others_from_asking_for_good() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let silent: Vec<_> =
        (0..100).map(|_| UnixStream::connect(user.folder().join("socket")).expect("it listens")).collect();
    // Perhaps not by the daemon, but answered.
    user.run(&space, "").answer(0);
    drop(silent);
    let is_watched = || without_watched(&user.run(&space, "").answer(0)).1;
    while !is_watched() {
        std::thread::yield_now();
    }
}
