//! Buffers of directory listings: recorded, made here, and damaged. `UPCHECK_CASES` sets how many are made at random.
//!
//! Nothing of macOS is recorded: it was never run. Its buffers are made by `encode.rs`, as getattrlistbulk(2) and
//! getattrlist(2) describe them, and so are those of the classes that Wine does not know.

mod damage;
mod encode;
mod matching;
mod random;
mod recorded;
mod times;

/// How many random cases each test tries.
fn cases() -> u32 {
    std::env::var("UPCHECK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}
