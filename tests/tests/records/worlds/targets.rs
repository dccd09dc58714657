//! What is to be made: random targets, and what is described otherwise later.

use super::World;
use crate::describe::Desc;
use upcheck::Policy;

impl World<'_> {
    /// Random targets, each of which may use what those before it make.
    pub(super) fn describe(&mut self) {
        let n = 2 + self.dice.roll(5);
        let only = self.policy();
        let is_mixed = self.dice.one_in(2);
        for number in 0..n {
            let made: Vec<String> = self.targets.iter().map(|desc| desc.called().to_owned()).collect();
            let mut inputs = Vec::new();
            for _ in 0..=self.dice.roll(3) {
                inputs.push(self.some_input(&made));
            }
            inputs.sort();
            inputs.dedup();
            let mut desc = Desc { explicit: inputs, command: "cc 1".to_owned(), ..Desc::default() };
            desc.policy = Some(if is_mixed { self.policy() } else { only });
            if self.dice.one_in(4) {
                desc.implicit = vec![self.some_input(&made)];
            }
            match self.dice.roll(8) {
                0 => desc.name = format!("n{number}"),
                1 => (desc.outputs, desc.phony) = (vec![format!("f{number}")], true),
                2 => desc.outputs = vec![format!("o{number}"), format!("p{number}")],
                _ => desc.outputs = vec![format!("o{number}")],
            }
            let name = desc.called().to_owned();
            if desc.phony {
                (desc.command, desc.implicit) = (String::new(), Vec::new());
                self.targets.push(desc);
                continue;
            }
            if self.dice.one_in(3) {
                desc.depfile = format!("{name}.d");
                // A header may be made by a target, too, and need not be described but for the order.
                let generated: Vec<&str> =
                    made.iter().map(String::as_str).filter(|n| n.starts_with('o')).collect();
                let header = match generated.is_empty() || self.dice.one_in(2) {
                    true => "h0".to_owned(),
                    false => self.dice.pick(&generated).to_owned(),
                };
                if header != "h0" {
                    desc.order_only = vec![header.clone()];
                }
                self.headers.insert(name, header);
            }
            if self.dice.one_in(5) {
                desc.globs = vec!["g/*.c".to_owned()];
            }
            if self.dice.one_in(4) {
                desc.values = vec![("OPT".to_owned(), "1".to_owned())];
            }
            self.targets.push(desc);
        }
    }

    fn some_input(&mut self, made: &[String]) -> String {
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        if made.is_empty() || self.dice.one_in(2) {
            return self.dice.pick(&["s0", "s1", "s2", "s3"]).to_owned();
        }
        self.dice.pick(&made).to_owned()
    }

    fn policy(&mut self) -> Policy {
        Policy::ALL[usize::try_from(self.dice.roll(6)).expect("small")]
    }

    pub(super) fn describe_otherwise(&mut self) {
        let n = self.targets.len() as u64;
        let at = usize::try_from(self.dice.roll(n)).expect("small");
        let kind = self.dice.roll(5);
        let version = format!("cc {}", self.dice.roll(3));
        self.note(format!("describe {kind} {}", self.targets[at].called()));
        match kind {
            0 if !self.targets[at].phony => self.targets[at].command = version,
            1 => self.targets[at].values = vec![("OPT".to_owned(), version)],
            2 => self.common = vec![("CC".to_owned(), version)],
            3 => {
                let source = self.dice.pick(&["s0", "s1", "s2", "s3"]).to_owned();
                let explicit = &mut self.targets[at].explicit;
                match explicit.iter().position(|path| *path == source) {
                    Some(place) if explicit.len() > 1 => drop(explicit.remove(place)),
                    None => explicit.push(source),
                    _ => {}
                }
            }
            _ => {
                let name = self.targets[at].called().to_owned();
                if self.headers.contains_key(&name) {
                    let depfile = &mut self.targets[at].depfile;
                    *depfile = if depfile.is_empty() { format!("{name}.d") } else { String::new() };
                }
            }
        }
        self.described_anew();
    }

    /// All that was described is another one now, so no process knows it.
    fn described_anew(&mut self) {
        self.process = None;
    }
}
