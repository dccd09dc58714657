//! Looks for somebody who waits for another answer than the one that he has.

use super::{Asked, FORGOTTEN, Room, no, seen_with};
use crate::answer::Watched;
use crate::exit::Exit;
use crate::run::open;
use crate::watch::told;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use upcheck_watch::{Place, Token, WatchedDisk};

/// What came of a look for somebody who waits.
pub(crate) struct Looked {
    /// Which answer it is: different ones have different numbers.
    pub(crate) number: u64,
    /// How a check would end, and then the answer is printed; `None` where it is the one that was seen.
    pub(crate) exit: Option<Exit>,
    /// Whether all was read anew. Then nobody may have told of changes while it was.
    pub(crate) is_new: bool,
    /// Whether all files are vouched for: whatever changes the answer is told of.
    pub(crate) is_calm: bool,
    pub(crate) took: Duration,
    /// What is told of after this may change the answer, if it is in one of these places.
    pub(crate) token: Option<Token>,
    pub(crate) places: Arc<HashSet<Place>>,
}

impl Room {
    /// Answers somebody who waits for another answer than the one with the number `seen`.
    pub(in crate::watch) fn look_for(
        &mut self,
        asked: &Asked,
        seen: Option<u64>,
    ) -> Result<Looked, &'static str> {
        let began = Instant::now();
        let eyes = self.eyes.clone();
        // What happens from here on is told of later.
        let token = eyes.as_ref().map(|eyes| eyes.feed.since(None).1);
        let counts = self.counts.clone();
        let opened = open(&asked.common).map_err(no)?;
        let disk = eyes.as_ref().map(|eyes| WatchedDisk::only_asking(&opened, &eyes.memory));
        let watching = disk.as_ref().zip(eyes.as_deref());
        let watched = self.find(asked, &opened, watching)?;
        let is_new = eyes.is_some() && watched == Watched::Everything;
        let is_calm = self.is_settled();
        let Some(known) = self.known.last_mut() else { return Err(FORGOTTEN) };
        if let (None, Some(eyes)) = (&known.places, &eyes) {
            known.places = Some(Arc::new(told::places(&known.asked, &eyes.feed, &asked.common.directory)));
        }
        let (number, places) = (known.number, known.places.clone().unwrap_or_default());
        let exit = if seen == Some(number) {
            // It is no answer.
            self.counts = counts;
            None
        } else {
            Some(known.print(asked, seen_with(&opened, watching), watched).map_err(no)?)
        };
        Ok(Looked { number, exit, is_new, is_calm, took: began.elapsed(), token, places })
    }
}
