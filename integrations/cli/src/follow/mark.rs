//! What an answer says, without what it cost to find out: that is what tells two answers apart.

use super::causes;
use crate::answer::Answer;
use crate::args::{Common, Format};
use crate::json;
use crate::run::print_names;
use blake3::{Hash, Hasher};
use std::io;

/// A digest of all that somebody who asked for a format is told.
pub(crate) fn of(common: &Common, answer: &Answer<'_>) -> io::Result<Hash> {
    let mut hasher = Hasher::new();
    match common.format {
        _ if common.causes => causes::print(&mut hasher, answer)?,
        // Text says at most what JSON does.
        Format::Text | Format::Json | Format::Jsonl => json::print_without_costs(&mut hasher, answer)?,
        Format::Names => print_names(&mut hasher, common, answer.names())?,
    }
    Ok(hasher.finalize())
}
