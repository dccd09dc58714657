//! Builds: of some targets, of two at once, and of all; that succeed, fail or are killed.

use super::commands::Build;
use super::{SOURCES, World};
use crate::describe::lines;
use crate::naive::{meta, read};
use upcheck::collect::Disk;

impl World<'_> {
    pub(super) fn build(&mut self) {
        let makers = self.makers();
        let makers: Vec<&str> = makers.iter().map(String::as_str).collect();
        if makers.is_empty() {
            return;
        }
        let mut names = vec![self.dice.pick(&makers)];
        if self.dice.one_in(5) {
            names.push(self.dice.pick(&makers));
            // In the order in which they use each other.
            names.sort_by_key(|name| makers.iter().position(|maker| maker == name));
            names.dedup();
        }
        let made_in_order = self.dice.one_in(2);
        if !made_in_order && self.dice.one_in(2) {
            // Each has a command of its own, and nobody cares which one comes first.
            names.reverse();
        }
        let is_for_another = self.dice.one_in(4);
        let mut build = self.begin(&names, is_for_another);
        build.made_in_order = made_in_order;
        self.pass_time();
        self.commands(&mut build, true);
        self.pass_time();
        if self.dice.one_in(4) {
            self.edit();
            self.pass_time();
        }
        if !build.is_done {
            return;
        }
        match self.dice.roll(10) {
            0 => self.note("killed"),
            1 => self.fail(&build),
            _ => self.commit(build),
        }
    }

    /// Two builds of one target at once, that both end.
    pub(super) fn overlap(&mut self) {
        let makers = self.makers();
        let makers: Vec<&str> = makers.iter().map(String::as_str).collect();
        if makers.is_empty() {
            return;
        }
        let name = self.dice.pick(&makers);
        let mut first = self.begin(&[name], false);
        self.pass_time();
        let first_reads_early = self.dice.one_in(2);
        if first_reads_early {
            self.commands(&mut first, true);
        }
        self.edit();
        self.pass_time();
        let mut second = self.begin(&[name], false);
        self.pass_time();
        self.commands(&mut second, true);
        if !first_reads_early {
            self.pass_time();
            self.commands(&mut first, true);
        }
        self.pass_time();
        let (one, other) = if self.dice.one_in(2) { (first, second) } else { (second, first) };
        for build in [one, other] {
            if build.is_done {
                self.commit(build);
            }
            self.pass_time();
        }
    }

    /// The whole build, in peace. Then everything is fresh, and stays so when sources are merely touched, where content
    /// counts.
    pub(super) fn build_all(&mut self) {
        self.note("the whole build");
        // With stamps from the future nothing can be proven.
        self.by(self.latest - self.clock);
        for source in SOURCES {
            // By make's rule nothing can be fresh that uses something from the future.
            let is_usable = meta(&self.disk, source)
                .is_some_and(|meta| meta.mtime <= self.disk.stamp_now().expect("a clock").0);
            if !is_usable {
                let content = self.content();
                self.disk.write(source, &content);
            }
        }
        self.wait();
        for name in self.makers() {
            let mut build = self.begin(&[&name], false);
            self.wait();
            self.commands(&mut build, false);
            assert!(build.is_done, "{name} fails");
            self.wait();
            self.commit(build);
            self.wait();
        }
        let answer = self.check();
        assert_eq!(lines(&answer), [""; 0], "after the whole build");
        for source in SOURCES {
            match self.dice.roll(3) {
                0 => self.disk.touch(source, self.clock - self.clock.rem_euclid(self.granularity)),
                _ => {
                    let same = read(&self.disk, source).expect("there");
                    self.disk.write(source, &same);
                }
            }
        }
        self.wait();
        let answer = self.check();
        let forgives =
            |name: &str| self.naive().desc(name).policy.is_some_and(|policy| policy.of_inputs().forgives());
        for (name, (_, reasons)) in &answer {
            let is_own = reasons.iter().any(|(code, _)| *code != "upstream-stale");
            assert!(!is_own || !forgives(name), "{name} is stale, though nothing changed: {reasons:?}");
        }
    }

    /// A command that fails may have written something.
    fn fail(&mut self, build: &Build) {
        self.note("failed");
        for entry in &build.begun {
            let desc = self.naive().desc(&entry.target).clone();
            for output in &desc.outputs {
                self.disk.overwrite(output, b"partial, 16 byte");
            }
        }
    }

    /// Targets that make something, in the order in which they can be made.
    fn makers(&self) -> Vec<String> {
        self.targets.iter().filter(|desc| !desc.phony).map(|desc| desc.called().to_owned()).collect()
    }
}
