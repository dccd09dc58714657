//! Damage done to bytes at random, and what must never come of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use upcheck_tests::answer::{Answer, Question, exact, look_past};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Asks for every kind of answer, by the rules of each version: none may panic.
#[track_caller]
pub(crate) fn survives(space: &Space, seed: u64) {
    let before = space.entries();
    for &version in Ninja::ALL {
        let question = Question::default();
        let ask =
            AssertUnwindSafe(|| [exact(space, version, &question), look_past(space, version, &question)]);
        let answers = catch_unwind(ask);
        let Ok(answers) = answers else { panic!("seed {seed} panics by the rules of {}", version.number()) };
        for answer in answers {
            assert!(answer != Answer::Error(String::new()), "seed {seed}: an error without words");
        }
    }
    assert!(space.entries() == before, "the tree was touched");
}

/// The bytes with some damage: some replaced, cut, doubled or removed, or all of them random.
pub(crate) fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = bytes.to_vec();
    if seed.is_multiple_of(7) {
        let length = random.below(3_000);
        return (0..length).map(|_| random.byte()).collect();
    }
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.byte(),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let doubled = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, doubled);
            }
            _ => {
                let inserted: Vec<_> = (0..random.below(9)).map(|_| random.byte()).collect();
                bytes.splice(at..at, inserted);
            }
        }
    }
    bytes
}

/// A small generator of numbers: the same seed gives the same damage everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 11).expect("64 bits") % bound
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}
