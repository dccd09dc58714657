//! When what is remembered is wrong, and when something has changed while one looked.

use super::evidence::Evidence;
use crate::answer::Verified;

/// So often all files have to look in a row as they did the time before, while the daemon says something else each time, until
/// the daemon is wrong: they may have changed in between, and back.
const STILL: usize = 2;
/// After so many rounds nobody knows.
const MOST_ROUNDS: usize = 10;

/// What was found by looking at everything; trouble, in its words.
pub(super) type Found = Result<Evidence, String>;

/// What was found out so far.
#[derive(Default)]
pub(super) struct Rounds {
    n: usize,
    n_still: usize,
    last: Option<Found>,
    /// Between the answers of the last round that had different ones.
    differences: Vec<String>,
}

impl Rounds {
    /// Takes in one more round. `None`: it takes yet another one.
    pub(super) fn judge(&mut self, said: &Evidence, found: Found) -> Option<Verified> {
        self.n += 1;
        let differences = match &found {
            Ok(found) => said.differences(found),
            Err(trouble) => vec![format!("it has an answer, and not this trouble: {trouble}")],
        };
        if differences.is_empty() {
            return Some(if self.n == 1 { Verified::Same } else { Verified::Later });
        }
        self.differences = differences;
        let is_still = match (&self.last, &found) {
            (Some(Ok(last)), Ok(found)) => found.is_of_the_same(last),
            (Some(Err(last)), Err(found)) => found == last,
            _ => false,
        };
        self.n_still = if is_still { self.n_still + 1 } else { 0 };
        self.last = Some(found);
        match () {
            () if self.n_still >= STILL => Some(Verified::Wrong),
            () if self.n >= MOST_ROUNDS => Some(Verified::Never),
            () => None,
        }
    }

    /// Whether nothing was taken in yet.
    pub(super) fn is_first(&self) -> bool {
        self.n == 0
    }

    /// Between the answers of the last round that had different ones.
    pub(super) fn differences(&self) -> &[String] {
        &self.differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(verdict: &str) -> Evidence {
        let text = format!(
            "{{\"report\":{{\"verdict\":\"{verdict}\"}},\"warnings\":[],\"files\":{{}},\"watched\":\"memory\"}}"
        );
        Evidence::from_bytes(text.as_bytes()).expect("evidence")
    }

    fn judged(rounds: &[(&str, Result<&str, &str>)]) -> Vec<Option<Verified>> {
        let mut known = Rounds::default();
        let judge = |(said, found): &(&str, Result<&str, &str>)| {
            known.judge(&evidence(said), found.map(evidence).map_err(str::to_owned))
        };
        rounds.iter().map(judge).collect()
    }

    #[test]
    fn what_is_the_same_at_once_is_right_and_what_is_later_may_be() {
        assert_eq!(judged(&[("fresh", Ok("fresh"))]), [Some(Verified::Same)]);
        let later = [("fresh", Ok("stale")), ("stale", Ok("stale"))];
        assert_eq!(judged(&later), [None, Some(Verified::Later)]);
    }

    #[test]
    fn only_what_is_said_again_and_again_while_nothing_changes_is_wrong() {
        let wrong = ("fresh", Ok("stale"));
        assert_eq!(judged(&[wrong; 3]), [None, None, Some(Verified::Wrong)]);
        let change = ("fresh", Ok("pending"));
        assert_eq!(
            judged(&[wrong, change, wrong, wrong, wrong]),
            [None, None, None, None, Some(Verified::Wrong)]
        );
        let mut changing: Vec<_> = [wrong, change].repeat(MOST_ROUNDS / 2);
        assert_eq!(judged(&changing).pop(), Some(Some(Verified::Never)));
        changing.pop();
        assert_eq!(judged(&changing).pop(), Some(None));
    }

    #[test]
    fn an_answer_where_there_is_trouble_is_wrong() {
        assert_eq!(judged(&[("fresh", Err("no manifest")); 3]), [None, None, Some(Verified::Wrong)]);
        let other = [("fresh", Err("no manifest")), ("fresh", Err("a broken one")), ("fresh", Ok("fresh"))];
        assert_eq!(judged(&other), [None, None, Some(Verified::Later)]);
    }
}
