//! `check --verify-watch`: what the daemon says is compared with what is found without it.
//!
//! ```text
//!   the daemon is asked, then everything is looked at
//!     the same                                         -> the answer
//!     not the same: both once more, and now the same   -> the answer; something changed in between, or the daemon was late
//!     still not, with all files as they were           -> the daemon is wrong, and is told to forget everything
//!     still not, and something changes each time       -> the answer, and nobody knows
//! ```
//!
//! The answer that is printed is always what was found by looking at everything, without an image.

use super::evidence::Evidence;
use super::rounds::Rounds;
use super::{control, quick, say_no_answer};
use crate::answer::{Verified, Watched};
use crate::args::{CheckArgs, Common};
use crate::captured::Captured;
use crate::exit::Exit;
use crate::ninja;
use crate::run::{Trouble, print, print_error, stderr, warn};
use std::io::Write;
use std::sync::Arc;
use upcheck_daemon::Ask;

/// Answers `check --verify-watch`.
pub(super) fn verify(common: &Common, check: &CheckArgs) -> Result<Exit, Trouble> {
    let whole = CheckArgs { quiet: false, ..check.clone() };
    let mut rounds = Rounds::default();
    loop {
        let said = match said() {
            Ok(said) => said,
            Err(why) => {
                say_no_answer(common, check, &why);
                return ninja::check(common, check);
            }
        };
        // With colours: whoever does not want them takes them out.
        let captured = Arc::new(Captured::new([true; 2]));
        let full = Common { no_image: true, captured: Some(Arc::clone(&captured)), ..common.clone() };
        let mut verified = None;
        let looked = ninja::check_and(&full, &whole, |answer, snapshot| {
            let nothing = || "the answer cannot be printed".to_owned();
            verified = rounds.judge(&said, Evidence::of(answer, snapshot).ok_or_else(nothing));
            (answer.watched, answer.verified) = (said.watched(), verified);
            verified.is_some() && !check.quiet
        });
        if let Err(Trouble(trouble)) = &looked {
            verified = rounds.judge(&said, Err(trouble.clone()));
        }
        let Some(verified) = verified else { continue };
        let [answer, warnings] = captured.take();
        if !check.quiet {
            // Nothing is left to be done when that fails.
            let _ = stderr(common).write_all(&warnings);
            print(common, |out| out.write_all(&answer))?;
        }
        let from = said.watched().map_or("nothing", Watched::name);
        return end(common, check, (verified, rounds.differences(), from), looked);
    }
}

/// What the daemon says; why it does not, otherwise.
fn said() -> Result<Evidence, String> {
    let (_, evidence, _) = quick::answer(std::env::args_os().skip(1).collect(), true)?;
    Evidence::from_bytes(&evidence).ok_or_else(|| "it answers something else".into())
}

/// Says how the answers differed, if they did, and how the command ends.
fn end(
    common: &Common,
    check: &CheckArgs,
    (verified, differences, from): (Verified, &[String], &str),
    looked: Result<Exit, Trouble>,
) -> Result<Exit, Trouble> {
    let with_differences = |what: &str| {
        std::iter::once(what).chain(differences.iter().map(String::as_str)).collect::<Vec<_>>().join("\n\t")
    };
    let warning = match verified {
        Verified::Same => return looked,
        Verified::Later => {
            "upcheck watch said something else at first: something changed meanwhile, or it was late"
        }
        Verified::Never => "nobody knows whether upcheck watch is right: something changes all the time",
        Verified::Wrong => {
            let forgets = match control::tell(Ask::Forget) {
                Ok(_) => "It was told to forget everything".to_owned(),
                Err(Trouble(why)) => format!("It was not told to forget everything: {why}"),
            };
            let wrong = format!(
                "upcheck watch is wrong, and the answer is what was found without it. {forgets}. It says (from \
                 {from})"
            );
            print_error(common, &Trouble(with_differences(&wrong)));
            return looked.map(|_| Exit::Trouble);
        }
    };
    if !check.quiet {
        warn(common, &[with_differences(warning)]);
    }
    looked
}
