//! The client of caches: against bazel-remote as it is, against one that goes by the letter of the specification, and
//! against one that lies.
#![cfg(unix)]

mod access;
mod command;
mod damage;
mod documents;
mod hostile;
mod limits;
mod plain;
mod strict;

use std::time::Duration;
use upcheck_reapi::{Address, Client, Digest, Options};

/// A client with these options. Where they say nothing of it, it waits for a server that has to share the machine.
fn client_with(address: &str, mut options: Options) -> Client {
    let address: Address = address.parse().expect("an address");
    if options.connect_timeout == Options::default().connect_timeout {
        options.connect_timeout = Duration::from_secs(300);
    }
    Client::open(&address, options).expect("options that make sense")
}

/// A client as most are.
fn client(address: &str) -> Client {
    client_with(address, Options::default())
}

/// Bytes that no other number gives.
fn bytes_of(number: usize, size: usize) -> Vec<u8> {
    let mut state = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = number.to_le_bytes().to_vec();
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(size.max(1));
    bytes
}

/// All that is read, by digest; each only once.
fn read_all(
    client: &Client,
    digests: &[Digest],
) -> std::collections::BTreeMap<Digest, Result<Option<Vec<u8>>, upcheck_reapi::Error>> {
    let mut read = std::collections::BTreeMap::new();
    client.read_all(digests, &mut |digest, bytes| {
        assert!(read.insert(digest, bytes).is_none(), "{digest} twice");
    });
    read
}
