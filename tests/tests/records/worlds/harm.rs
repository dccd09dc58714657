//! Harm: sources that are edited at the worst moments, outputs that are changed by hand, stores that come to harm.

use super::{SOURCES, World};
use crate::S;
use crate::naive::{meta, read};
use std::fs;
use upcheck::Mtime;

impl World<'_> {
    /// Somebody changes a source.
    pub(super) fn edit(&mut self) {
        let path = self.dice.pick(&SOURCES);
        self.edit_file(path);
    }

    fn edit_file(&mut self, path: &str) {
        let content = self.content();
        let other = self.dice.pick(&SOURCES[..6]);
        let now = self.clock - self.clock.rem_euclid(self.granularity);
        let kind = self.dice.roll(10);
        let is_there = meta(&self.disk, path).is_some();
        let back = (1 + Mtime::try_from(self.dice.roll(20)).expect("small")) * S;
        self.note(format!("  edit {kind} {path}, {:?}", String::from_utf8_lossy(&content)));
        match kind {
            0 if is_there => {
                let same = read(&self.disk, path).expect("there");
                self.disk.write(path, &same);
            }
            1 if is_there => self.disk.touch(path, now),
            2 if is_there => self.disk.touch(path, now - back - (now - back).rem_euclid(self.granularity)),
            3 if is_there => self.disk.overwrite_keeping_mtime(path, &content),
            4 if other != path => self.disk.copy_with_mtime(other, path),
            5 if other != path && meta(&self.disk, other).is_some() && is_there => {
                // cp -p, into the file that is there.
                let (content, mtime) =
                    (read(&self.disk, other).expect("there"), meta(&self.disk, other).expect("there").mtime);
                self.disk.overwrite(path, &content);
                self.disk.touch(path, mtime);
            }
            6 if self.dice.one_in(3) => self.disk.remove(path),
            7 if other != path && self.dice.one_in(3) => self.disk.rename(other, path),
            8 => self.disk.overwrite(path, &content),
            _ => self.disk.write(path, &content),
        }
    }

    /// Somebody changes an output by hand.
    pub(super) fn tamper(&mut self) {
        let outputs: Vec<String> =
            self.targets.iter().filter(|desc| !desc.phony).flat_map(|desc| desc.outputs.clone()).collect();
        let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
        if names.is_empty() {
            return;
        }
        let path = self.dice.pick(&names);
        let Some(meta) = meta(&self.disk, path) else { return };
        let content = b"by hand, 16 byte";
        let kind = self.dice.roll(6);
        self.note(format!("tamper {kind} {path}"));
        self.tampered.insert(path.to_owned());
        match kind {
            0 => self.disk.remove(path),
            1 => self.disk.overwrite(path, content),
            2 => self.disk.write(path, content),
            3 => self.disk.overwrite_keeping_mtime(path, content),
            4 => self.disk.touch(path, meta.mtime + S),
            _ => {
                let same = read(&self.disk, path).expect("there");
                self.disk.overwrite_keeping_mtime(path, &same);
            }
        }
    }

    pub(super) fn harm_the_store(&mut self) {
        let path = self.store_dir().join("records");
        let kind = self.dice.roll(4);
        let Ok(bytes) = fs::read(&path) else { return };
        match kind {
            0 => {
                self.note("the store is kept aside");
                self.backups.push((bytes, self.store.clone(), self.lengths.clone()));
            }
            1 => {
                let backups = self.backups.len() as u64;
                if backups == 0 {
                    return;
                }
                let (bytes, store, lengths) =
                    self.backups[usize::try_from(self.dice.roll(backups)).expect("small")].clone();
                self.note(format!("an older store with {} entries is put back", store.entries.len()));
                self.store.entries = store.entries;
                self.lengths = lengths;
                // Another file, or the same one with other bytes.
                if self.dice.one_in(2) {
                    fs::remove_file(&path).expect("removed");
                }
                fs::write(&path, bytes).expect("written");
            }
            2 if self.dice.one_in(3) => {
                self.note("the store is gone");
                fs::remove_dir_all(self.store_dir()).expect("removed");
                self.store.entries.clear();
                self.lengths.clear();
            }
            _ => {
                let cut = self.dice.roll(bytes.len() as u64 + 1);
                // Of several entries that were appended at once some may be whole: those are cut off, too.
                let kept =
                    self.lengths.iter().rev().find(|(length, _)| *length <= cut).copied().unwrap_or((0, 0));
                let next = self.lengths.iter().find(|(length, _)| *length > cut).map_or(kept.1, |(_, n)| *n);
                let cut = if next > kept.1 + 1 { kept.0 } else { cut };
                self.note(format!("the store is cut off, {} entries stay", kept.1));
                self.store.entries.truncate(kept.1);
                self.lengths.retain(|(length, _)| *length <= kept.0);
                fs::write(&path, &bytes[..usize::try_from(cut).expect("small")]).expect("written");
            }
        }
    }

    /// All files come from an archive or a cache.
    pub(super) fn restore_all(&mut self) {
        let is_truncated = self.dice.one_in(2);
        self.note(format!("all is restored, truncated: {is_truncated}"));
        let outputs =
            self.targets.iter().flat_map(|desc| desc.outputs.iter().chain([&desc.depfile]).cloned());
        let all: Vec<String> = SOURCES.iter().map(ToString::to_string).chain(outputs).collect();
        for path in all {
            let (Some(content), Some(meta)) = (read(&self.disk, &path), meta(&self.disk, &path)) else {
                continue;
            };
            self.disk.write(&path, &content);
            let mtime = if is_truncated { meta.mtime - meta.mtime.rem_euclid(S) } else { meta.mtime };
            self.disk.touch(&path, mtime);
        }
    }
}
