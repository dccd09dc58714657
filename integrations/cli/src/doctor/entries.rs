//! Whether a directory's own stamp says that names came, went or changed, and only that.

use super::finding::{Finding, mishap};
use super::look::{Measured, look, set_mtime, write};
use super::stamps::OLD;
use std::fs;
use std::path::Path;

/// Which changes move a directory's stamp.
pub(super) struct Entries {
    create: bool,
    remove: bool,
    rename: bool,
    edit: bool,
}

/// Measures in a folder of its own. No waiting: the directory's stamp is set to long ago before each step.
pub(super) fn measure(folder: &Path) -> Measured<Entries> {
    let directory = folder.join("entries");
    fs::create_dir(&directory).map_err(|cause| mishap("creating", &directory, &cause))?;
    let (one, two) = (directory.join("one"), directory.join("two"));
    let moves = |act: &dyn Fn() -> Measured<()>| {
        set_mtime(&directory, OLD)?;
        let before = look(&directory)?.mtime;
        act()?;
        Ok::<_, String>(look(&directory)?.mtime != before)
    };
    Ok(Entries {
        create: moves(&|| write(&one, b"1"))?,
        edit: moves(&|| write(&one, b"2"))?,
        rename: moves(&|| fs::rename(&one, &two).map_err(|cause| mishap("renaming", &one, &cause)))?,
        remove: moves(&|| fs::remove_file(&two).map_err(|cause| mishap("removing", &two, &cause)))?,
    })
}

impl Entries {
    /// The measured values, or what is the matter with them.
    pub(super) fn finding(&self) -> Finding {
        let changes = [(self.create, "creating"), (self.remove, "removing"), (self.rename, "renaming")];
        let missed: Vec<_> = changes.iter().filter(|(moves, _)| !moves).map(|(_, name)| *name).collect();
        let finding = if missed.is_empty() && !self.edit {
            let message = "a directory's stamp moves when a name in it is created, removed or renamed, and not \
                when a file is edited";
            Finding::info("directory-stamps", message)
        } else {
            let mut troubles = Vec::new();
            if !missed.is_empty() {
                troubles.push(format!("stays when a name in it is changed by {}", missed.join(" and ")));
            }
            if self.edit {
                troubles.push("moves when a file in it is edited".into());
            }
            let message = format!("a directory's stamp {}", troubles.join(", and "));
            Finding::warning("directory-stamps-unreliable", message)
                .advise("do not use directories as inputs here, nor tools that go by their stamps")
        };
        finding
            .with("create_moves", self.create)
            .with("remove_moves", self.remove)
            .with("rename_moves", self.rename)
            .with("edit_moves", self.edit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_being_wrong_is_a_warning_that_names_it() {
        let right = || Entries { create: true, remove: true, rename: true, edit: false };
        assert_eq!(right().finding().code, "directory-stamps");
        for (entries, part) in [
            (Entries { create: false, ..right() }, "stays when a name in it is changed by creating"),
            (Entries { create: false, rename: false, ..right() }, "by creating and renaming"),
            (Entries { edit: true, ..right() }, "moves when a file in it is edited"),
        ] {
            let finding = entries.finding();
            assert_eq!(finding.code, "directory-stamps-unreliable");
            assert!(finding.message.contains(part), "{}", finding.message);
        }
    }
}
