//! Random builds, and what comes out of them, by a model that knows contents only.

use super::Checkout;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use upcheck_tests::tools::Ninja;

pub(super) const SOURCES: usize = 5;
pub(super) const TARGETS: usize = 8;

/// A compiler: lines like `include s3` stand for what that source holds, and the depfile says so.
const COMPILER: &str = "\
dir=$1 out=$2 note=$3
shift 3
list=
for file in \"$@\"; do
  list=\"$list $file\"
  while read -r word rest; do
    case $word in
    include) cat \"$dir/$rest\"; list=\"$list $dir/$rest\" ;;
    *) echo \"$word $rest\" ;;
    esac
  done < \"$file\"
done > \"$out\"
echo \"$note \" >> \"$out\"
echo \"$out:$list\" > \"$out.d\"
";

/// Numbers that are the same each time.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Discovers what is included, in ninja's log.
    Gcc,
    /// The same in a depfile.
    Depfile,
    /// Says how long its inputs are, and leaves its output as it is if that is what it says.
    Restat,
    Rspfile,
    TwoOutputs,
    /// What comes out can be executed.
    Program,
    Phony,
}

const KINDS: [Kind; 12] = [
    Kind::Plain,
    Kind::Plain,
    Kind::Gcc,
    Kind::Gcc,
    Kind::Gcc,
    Kind::Depfile,
    Kind::Depfile,
    Kind::Restat,
    Kind::Rspfile,
    Kind::TwoOutputs,
    Kind::Program,
    Kind::Phony,
];

/// A target. Numbers name files: sources first, then targets.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) kind: Kind,
    inputs: Vec<usize>,
    order_only: Vec<usize>,
}

/// What all checkouts have in common.
#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) targets: Vec<Target>,
    /// Whether sources are called by absolute paths.
    is_absolute: bool,
}

/// A checkout with its own sources, and its own words in commands.
pub(super) struct Side {
    pub(super) checkout: Checkout,
    pub(super) description: Description,
    notes: [usize; TARGETS],
}

impl Description {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let mut targets: Vec<Target> = Vec::new();
        for target in 0..TARGETS {
            let some = |most: usize, dice: &mut Dice| -> Vec<usize> {
                let n = 1 + dice.roll(most);
                (0..n).map(|_| dice.roll(SOURCES + target)).collect::<BTreeSet<_>>().into_iter().collect()
            };
            let inputs = some(2, dice);
            // Ninja 1.11 forgets what is behind a phony name when it records that an output stayed: that is stale ever after.
            let has_phony = inputs.iter().any(|&input| {
                input.checked_sub(SOURCES).is_some_and(|input| targets[input].kind == Kind::Phony)
            });
            let kind = KINDS[dice.roll(KINDS.len())];
            let kind = if kind == Kind::Restat && has_phony { Kind::Plain } else { kind };
            let order_only = if dice.roll(4) == 0 { some(1, dice) } else { Vec::new() };
            targets.push(Target { kind, inputs, order_only });
        }
        Self { targets, is_absolute: dice.roll(2) == 0 }
    }

    /// What a target makes, from the build directory.
    pub(super) fn outputs(&self, target: usize) -> Vec<String> {
        match self.targets[target].kind {
            Kind::TwoOutputs => vec![format!("t{target}"), format!("t{target}.too")],
            Kind::Phony => Vec::new(),
            _ => vec![format!("t{target}")],
        }
    }

    /// The files that a name stands for: those of a phony target are its inputs'.
    fn files(&self, file: usize) -> Vec<usize> {
        match file.checked_sub(SOURCES).map(|target| &self.targets[target]) {
            Some(target) if target.kind == Kind::Phony => {
                target.inputs.iter().flat_map(|&input| self.files(input)).collect()
            }
            _ => vec![file],
        }
    }

    fn name(&self, file: usize) -> String {
        let directory = if self.is_absolute { "@/src" } else { "../src" };
        if file < SOURCES { format!("{directory}/s{file}") } else { format!("t{}", file - SOURCES) }
    }

    fn manifest(&self, notes: &[usize; TARGETS]) -> String {
        let directory = if self.is_absolute { "@/src" } else { "../src" };
        let mut text = format!(
            "rule plain\n  command = (cat $all && echo $note) > $out\n  description = $me\n\
             rule gcc\n  command = sh {directory}/cc.sh {directory} $out $note $all\n  depfile = $out.d\n  deps = gcc\n  \
             description = $me\n\
             rule depfile\n  command = sh {directory}/cc.sh {directory} $out $note $all\n  depfile = $out.d\n  \
             description = $me\n\
             rule restat\n  command = (cat $all | wc -c && echo $note) > $out.new && (cmp -s $out.new $out && rm $out.new \
             || mv $out.new $out)\n  restat = 1\n  description = $me\n\
             rule rspfile\n  command = (xargs cat < $me.rsp && echo $note) > $out\n  rspfile = $me.rsp\n  \
             rspfile_content = $all\n  description = $me\n\
             rule two\n  command = (cat $all && echo $note) > $me && cp $me $me.too\n  description = $me\n\
             rule program\n  command = (cat $all && echo $note) > $out && chmod 755 $out\n  description = $me\n",
        );
        for (number, target) in self.targets.iter().enumerate() {
            let names =
                |files: &[usize]| files.iter().map(|&file| self.name(file)).collect::<Vec<_>>().join(" ");
            let rule = match target.kind {
                Kind::Plain => "plain",
                Kind::Gcc => "gcc",
                Kind::Depfile => "depfile",
                Kind::Restat => "restat",
                Kind::Rspfile => "rspfile",
                Kind::TwoOutputs => "two",
                Kind::Program => "program",
                Kind::Phony => "phony",
            };
            let outputs = match target.kind {
                Kind::Phony => format!("t{number}"),
                _ => self.outputs(number).join(" "),
            };
            write!(text, "build {outputs}: {rule} {}", names(&target.inputs)).expect("a string");
            if !target.order_only.is_empty() {
                write!(text, " || {}", names(&target.order_only)).expect("a string");
            }
            let real = self.real_inputs(number);
            writeln!(text, "\n  all = {}\n  note = {}\n  me = t{number}", names(&real), notes[number])
                .expect("a string");
        }
        text
    }

    fn real_inputs(&self, target: usize) -> Vec<usize> {
        self.targets[target].inputs.iter().flat_map(|&input| self.files(input)).collect()
    }
}

/// What a source may hold.
pub(super) fn content(source: usize, dice: &mut Dice) -> String {
    let mut text = format!("s{source} {}\n", dice.roll(4));
    if dice.roll(3) == 0 {
        writeln!(text, "include s{}", dice.roll(SOURCES)).expect("a string");
    }
    text
}

impl Side {
    pub(super) fn new(description: &Description, ninja: Ninja, sources: &[String]) -> Self {
        let notes = [0; TARGETS];
        let names: Vec<String> = (0..SOURCES).map(|source| format!("src/s{source}")).collect();
        let mut files: Vec<(&str, &str)> =
            names.iter().zip(sources).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.push(("src/cc.sh", COMPILER));
        let checkout = Checkout::with(ninja, &description.manifest(&notes), &files);
        Self { checkout, description: description.clone(), notes }
    }

    pub(super) fn set_note(&mut self, target: usize, note: usize) {
        self.notes[target] = note;
        let root = self.checkout.space.path().canonicalize().expect("a path");
        let manifest = self.description.manifest(&self.notes).replace("@/", &format!("{}/", root.display()));
        self.checkout.space.write("build/build.ninja", manifest);
    }

    pub(super) fn output(&self, name: &str) -> PathBuf {
        self.checkout.build_directory().join(name)
    }

    /// What a file holds; `None` where it is not there.
    pub(super) fn content(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.output(name)).ok()
    }

    fn source(&self, name: &str) -> Vec<u8> {
        self.checkout.space.read(&format!("src/{name}"))
    }

    /// What a target makes of the inputs that are there now.
    pub(super) fn made(&self, target: usize) -> Vec<u8> {
        self.made_of(target, &|input| self.content(&format!("t{input}")).unwrap_or_default())
    }

    /// What a build from nothing would make.
    pub(super) fn clean(&self, target: usize) -> Vec<u8> {
        self.made_of(target, &|input| self.clean(input))
    }

    fn made_of(&self, target: usize, made: &dyn Fn(usize) -> Vec<u8>) -> Vec<u8> {
        let hold = |input: usize| match input.checked_sub(SOURCES) {
            None => self.source(&format!("s{input}")),
            Some(target) => made(target),
        };
        let all: Vec<u8> = self.description.real_inputs(target).into_iter().flat_map(hold).collect();
        let note = format!("{}\n", self.notes[target]);
        let mut content = match self.description.targets[target].kind {
            Kind::Restat => format!("{}\n", all.len()).into_bytes(),
            Kind::Gcc | Kind::Depfile => {
                let mut compiled = self.compiled(&all);
                compiled.extend_from_slice(note.trim_end().as_bytes());
                compiled.extend_from_slice(b" \n");
                return compiled;
            }
            _ => all,
        };
        content.extend_from_slice(note.as_bytes());
        content
    }

    fn compiled(&self, all: &[u8]) -> Vec<u8> {
        let mut compiled = Vec::new();
        for line in String::from_utf8_lossy(all).lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "include" => compiled.extend(self.source(rest)),
                _ => compiled.extend(format!("{word} {}\n", rest.trim_end()).into_bytes()),
            }
        }
        compiled
    }

    /// The targets that ninja would make, in the order of their names.
    #[track_caller]
    pub(super) fn listed(&self) -> BTreeSet<String> {
        // A dry run can change logs that are odd.
        let logs = [".ninja_log", ".ninja_deps"].map(|log| (log, self.content(log)));
        let (is_success, said) = self.checkout.run_ninja(&["-n"]);
        assert!(is_success, "{said}");
        for (log, before) in logs {
            match before {
                Some(before) if self.content(log).as_ref() != Some(&before) => {
                    std::fs::write(self.output(log), before).expect("a log");
                }
                None => self.checkout.space.remove(&format!("build/{log}")),
                Some(_) => {}
            }
        }
        said.lines().filter_map(|line| Some(line.split_once("] ")?.1.to_owned())).collect()
    }

    /// Why ninja would make something, in its own words, with all that it goes by.
    pub(super) fn explained(&self) -> String {
        let said = |args: &[&str]| {
            let mut command = std::process::Command::new(self.checkout.ninja.path());
            let ran =
                command.current_dir(self.checkout.build_directory()).args(args).output().expect("ninja");
            [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()
        };
        let log = String::from_utf8_lossy(&self.content(".ninja_log").unwrap_or_default()).into_owned();
        let manifest = String::from_utf8_lossy(&self.content("build.ninja").unwrap_or_default()).into_owned();
        [said(&["-n", "-d", "explain"]), said(&["-t", "deps"]), log, manifest].concat()
    }
}
