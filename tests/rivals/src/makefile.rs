//! The generated build once more as a Makefile, for `make -q`.

use std::fmt::Write;

/// To be read without make's built-in rules: see [`OPTIONS`].
#[derive(Default)]
pub(crate) struct Makefile {
    rules: String,
    aliases: Vec<String>,
    /// What the compiler has written, to be included.
    depfiles: Vec<String>,
}

/// Asks whether anything is to be done, as quickly as make can: without looking for built-in rules.
pub(crate) const OPTIONS: [&str; 4] = ["-q", "-r", "-R", "-s"];

impl Makefile {
    pub(crate) fn flags(&mut self, library: &str, flags: &str) {
        self.line(&format!("CFLAGS_{library} := {flags}"));
    }

    pub(crate) fn object(&mut self, object: &str, source: &str, stamp: &str, library: &str) {
        let command = format!("c++ $(CFLAGS_{library}) -MD -MF $@.d -c $< -o $@");
        self.rule(object, &format!("{source} | {stamp}"), &command);
        self.depfiles.push(format!("{object}.d"));
    }

    pub(crate) fn rule(&mut self, output: &str, inputs: &str, command: &str) {
        self.line(&format!("{output}: {inputs}\n\t{command}"));
    }

    pub(crate) fn alias(&mut self, name: &str, of: &str) {
        self.line(&format!("{name}: {of}"));
        self.aliases.push(name.to_owned());
    }

    pub(crate) fn into_text(self, all: &str) -> String {
        let Self { rules, aliases, depfiles } = self;
        let (phony, included) = (aliases.join(" "), depfiles.join(" "));
        format!(".PHONY: all {phony}\nall: {all}\n{rules}-include {included}\n")
    }

    fn line(&mut self, line: &str) {
        writeln!(self.rules, "{line}").expect("memory");
    }
}
