//! What a name leads to: whether inode numbers are stable, links share them, and which spellings are one name.

use super::finding::{Finding, mishap};
use super::look::{Measured, look, write};
use std::fs;
use std::path::Path;

/// `é` in one code point, and as `e` with an accent.
const COMPOSED: &str = "\u{e9}";
const DECOMPOSED: &str = "e\u{301}";

/// What was measured.
pub(super) struct Names {
    inodes: Option<Inodes>,
    case_sensitive: bool,
    /// Whether the two spellings of a letter are one name.
    unicode_folded: bool,
    /// Whether a listing has the bytes that a file was created with.
    bytes_kept: bool,
}

struct Inodes {
    /// Whether a file keeps its number when it is written, renamed and looked up again.
    stable: bool,
    /// Whether a hard link shows the number of its file; `None` where there are no hard links.
    links_share: Option<bool>,
}

/// Measures in a folder of its own.
pub(super) fn measure(folder: &Path) -> Measured<Names> {
    let directory = folder.join("names");
    fs::create_dir(&directory).map_err(|cause| mishap("creating", &directory, &cause))?;
    write(&directory.join("a"), b"1")?;
    write(&directory.join(COMPOSED), b"1")?;
    let case_sensitive = look(&directory.join("A")).is_err();
    let unicode_folded = look(&directory.join(DECOMPOSED)).is_ok();
    let listing = fs::read_dir(&directory).map_err(|cause| mishap("listing", &directory, &cause))?;
    let bytes_kept = listing.flatten().any(|entry| entry.file_name() == COMPOSED);
    Ok(Names { inodes: inodes(&directory)?, case_sensitive, unicode_folded, bytes_kept })
}

fn inodes(directory: &Path) -> Measured<Option<Inodes>> {
    let (first, moved, link) = (directory.join("first"), directory.join("moved"), directory.join("link"));
    write(&first, b"1")?;
    let Some(number) = look(&first)?.inode else { return Ok(None) };
    write(&first, b"2")?;
    let mut stable = look(&first)?.inode == Some(number);
    fs::rename(&first, &moved).map_err(|cause| mishap("renaming", &first, &cause))?;
    // Forgets what may be kept of the directory itself.
    write(&directory.join("other"), b"1")?;
    stable &= look(&moved)?.inode == Some(number);
    let links_share = match fs::hard_link(&moved, &link) {
        Ok(()) => Some(look(&link)?.inode == look(&moved)?.inode),
        Err(_) => None,
    };
    Ok(Some(Inodes { stable, links_share }))
}

impl Names {
    /// The measured values, and what is the matter with them.
    pub(super) fn findings(&self) -> Vec<Finding> {
        [Some(self.inode_finding()), Some(self.name_finding()), self.spellings()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn inode_finding(&self) -> Finding {
        let Some(Inodes { stable, links_share }) = self.inodes else {
            return Finding::info("inodes", "not known on this platform")
                .with("stable", None::<bool>)
                .with("links_share", None::<bool>);
        };
        let finding = match (stable, links_share) {
            (true, Some(true)) => Finding::info("inodes", "numbers are stable, hard links share them"),
            (true, None) => Finding::info("inodes", "numbers are stable, there are no hard links"),
            (false, _) => Finding::warning(
                "inodes-unstable",
                "a file's inode number changes while it stays the same file",
            )
            .advise("images are of no use here, as every file looks replaced: --no-image saves the writing"),
            (true, Some(false)) => {
                Finding::warning("inodes-unstable", "hard links do not share their inode number")
                    .advise("tools that find links by number miss them here: do not build with hard links")
            }
        };
        finding.with("stable", stable).with("links_share", links_share)
    }

    fn name_finding(&self) -> Finding {
        let case = if self.case_sensitive { "a and A are two names" } else { "a and A are one name" };
        let unicode = match (self.unicode_folded, self.bytes_kept) {
            (false, true) => "Unicode is kept as given",
            (false, false) => "Unicode is rewritten",
            (true, true) => "two spellings of é are one name",
            (true, false) => "two spellings of é are one name, and listed in another one",
        };
        Finding::info("names", format!("{case}, {unicode}"))
            .with("case_sensitive", self.case_sensitive)
            .with("unicode_folded", self.unicode_folded)
            .with("bytes_kept", self.bytes_kept)
    }

    fn spellings(&self) -> Option<Finding> {
        let is_plain = self.case_sensitive && !self.unicode_folded && self.bytes_kept;
        (!is_plain).then(|| {
            Finding::info("names-folded", "one file answers to several spellings of its name")
                .with("case_sensitive", self.case_sensitive)
                .with("unicode_folded", self.unicode_folded)
                .with("bytes_kept", self.bytes_kept)
                .advise("ninja and upcheck take each spelling for a file of its own: spell names as they are listed")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(stable: bool, links_share: Option<bool>) -> Names {
        let inodes = Some(Inodes { stable, links_share });
        Names { inodes, case_sensitive: true, unicode_folded: false, bytes_kept: true }
    }

    fn codes(names: &Names) -> Vec<&'static str> {
        names.findings().iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn what_is_usual_is_nothing_to_worry_about() {
        assert_eq!(codes(&names(true, Some(true))), ["inodes", "names"]);
        assert_eq!(codes(&names(true, None)), ["inodes", "names"]);
    }

    #[test]
    fn what_is_not_is_named() {
        assert_eq!(codes(&names(false, Some(true)))[0], "inodes-unstable");
        assert_eq!(codes(&names(true, Some(false)))[0], "inodes-unstable");
        let folded = Names { case_sensitive: false, ..names(true, Some(true)) };
        assert_eq!(codes(&folded), ["inodes", "names", "names-folded"]);
        let rewritten = Names { bytes_kept: false, ..names(true, Some(true)) };
        assert_eq!(codes(&rewritten), ["inodes", "names", "names-folded"]);
    }
}
