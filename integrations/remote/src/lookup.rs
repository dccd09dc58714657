//! Which stale targets are in the cache: level by level, since the inputs of one are what others made.
//!
//! What a stale target would make is not on the disk, but it may be in the cache; then its digest is known, and those who
//! use it have keys without a byte being fetched. So a target whose input comes out as it was before is found although
//! something before it is stale. Where it is not in the cache, nobody can say what those behind it are called.
//!
//! For each level there are at most four rounds of questions: results by the inputs known here, and by the declared key;
//! lists of what commands have discovered elsewhere; results by these.

mod inputs;

use crate::cache::Cache;
use crate::files::Files;
use crate::found::{Answer, Found, Hit};
use crate::key::{Key, Keys, Prepared};
use crate::levels::levels;
use crate::result::outputs_of;
use crate::state::Discovered;
use crate::threads::each;
use crate::tree::Leaf;
use inputs::Stop;
use std::collections::{BTreeMap, HashMap, HashSet};
use upcheck::TargetId;
use upcheck_reapi::{ActionResult, Digest, Error, Message};

/// How many lists of discovered inputs are tried for one target.
pub(crate) const MOST_LISTS: usize = 8;
/// How long such a list may be, in bytes.
const LONGEST_LIST: u64 = 8 << 20;

/// What a target is asked for with.
struct Question {
    target: TargetId,
    prepared: Prepared,
    declared: Option<Key>,
    /// By the inputs that are known here.
    known: Option<Guess>,
    /// Why there is no key by those.
    stop: Option<TargetId>,
}

/// Its keys: see [`Question`].
#[derive(Default)]
struct Asked {
    declared: Option<Key>,
    known: Option<Guess>,
    stop: Option<TargetId>,
}

/// A key by a list of discovered inputs.
struct Guess {
    action: Digest,
    discovered: Vec<Vec<u8>>,
    read: Vec<Vec<u8>>,
    after: Vec<TargetId>,
}

/// A look-up under way.
pub(crate) struct Lookup<'a, 'b> {
    keys: Keys<'a>,
    files: &'b Files<'a>,
    cache: &'b dyn Cache,
    /// What stale targets make, by its name in trees: what it will hold, or who makes it where that is not known.
    made: HashMap<String, (TargetId, Option<Leaf>)>,
    found: Found,
    /// Targets without an answer.
    troubled: HashSet<TargetId>,
    /// No question is worth asking any more.
    is_over: bool,
}

impl<'a, 'b> Lookup<'a, 'b> {
    pub(crate) fn new(keys: Keys<'a>, files: &'b Files<'a>, cache: &'b dyn Cache) -> Self {
        Self {
            keys,
            files,
            cache,
            made: HashMap::new(),
            found: Found::default(),
            troubled: HashSet::new(),
            is_over: false,
        }
    }

    /// Asks for these targets, which are all that are stale.
    pub(crate) fn run(mut self, stale: &[TargetId]) -> Found {
        let build = self.keys.build;
        let graph = build.graph();
        let names = each(self.files.threads(), stale, |&target| -> Vec<String> {
            let outputs = graph.outputs(target).iter();
            outputs.filter_map(|&it| self.keys.root.name_in_tree(graph.files.path(it)).ok()).collect()
        });
        for (&target, names) in stale.iter().zip(names) {
            self.made.extend(names.into_iter().map(|name| (name, (target, None))));
        }
        for level in levels(build, stale) {
            self.level(&level);
        }
        self.without_missing();
        self.found
    }

    fn level(&mut self, targets: &[TargetId]) {
        // Behind trouble there is nothing to be known.
        if self.is_over {
            targets.iter().for_each(|&target| self.answer(target, Answer::Trouble));
            return;
        }
        let threads = self.files.threads();
        let prepared = each(threads, targets, |&target| self.keys.prepare(target, self.files));
        let mut questions = Vec::new();
        for (&target, prepared) in targets.iter().zip(prepared) {
            match prepared {
                Ok(prepared) => questions.push((target, prepared)),
                Err(doubt) => self.answer(target, Answer::NotCached(Some(doubt))),
            }
        }
        self.look_at_inputs(&questions);
        let asked = each(threads, &questions, |(target, prepared)| self.asked(*target, prepared));
        let mut left = Vec::new();
        for ((target, prepared), asked) in questions.into_iter().zip(asked) {
            match asked {
                Ok(Asked { declared, known, stop }) => {
                    left.push(Question { target, prepared, declared, known, stop });
                }
                Err(Stop::Doubt(doubt)) => self.answer(target, Answer::NotCached(Some(doubt))),
                Err(Stop::Behind(other)) => self.answer_behind(target, other),
            }
        }
        let left = self.ask_known(left);
        self.ask_lists(left);
    }

    /// Asks by what is known here. Those that were not found and may be known elsewhere by other inputs, each with its
    /// lists of these.
    fn ask_known(&mut self, questions: Vec<Question>) -> Vec<(Question, Vec<Digest>)> {
        let actions: Vec<Digest> = questions
            .iter()
            .flat_map(|question| {
                let known = question.known.as_ref().map(|guess| guess.action);
                known.into_iter().chain(question.declared.as_ref().map(|key| key.action.0))
            })
            .collect();
        let mut results = self.ask(&actions);
        let mut left = Vec::new();
        for mut question in questions {
            let known = question.known.take();
            let result = known.as_ref().map(|guess| results.remove(&guess.action));
            let declared = question.declared.as_ref().map(|key| results.get(&key.action.0).cloned());
            let is_failure = matches!(result, Some(Some(Err(_)) | None));
            let is_hit = match (known, result) {
                (Some(guess), Some(Some(Ok(Some(result))))) => self.take_hit(&question, guess, &result),
                _ => false,
            };
            if is_hit {
                continue;
            }
            if self.is_over || is_failure {
                self.answer(question.target, Answer::Trouble);
                continue;
            }
            match declared {
                Some(Some(Ok(Some(result)))) => {
                    let lists = lists(&result);
                    left.push((question, lists));
                }
                Some(Some(Err(_)) | None) => self.answer(question.target, Answer::Trouble),
                Some(Some(Ok(None))) | None => self.not_found(&question),
            }
        }
        left
    }

    /// Asks by what commands have discovered elsewhere.
    fn ask_lists(&mut self, questions: Vec<(Question, Vec<Digest>)>) {
        let mut wanted: Vec<Digest> = questions.iter().flat_map(|(_, lists)| lists).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let lists = self.read_lists(&wanted);
        let paths: HashSet<&Vec<u8>> = lists.values().flatten().collect();
        let root = self.keys.root;
        let is_read =
            |path: &&Vec<u8>| root.name_in_tree(path).is_ok_and(|name| !self.made.contains_key(&name));
        let paths: Vec<Vec<u8>> = paths.into_iter().filter(is_read).cloned().collect();
        self.files.look(paths);
        let mut guesses: Vec<(Question, Vec<Guess>)> = Vec::new();
        for (mut question, own) in questions {
            let mut found = Vec::new();
            for list in own.iter().filter_map(|digest| lists.get(digest)) {
                match self.guess(&question.prepared, list.clone()) {
                    Ok(guess) => found.push(guess),
                    Err(Stop::Behind(other)) => question.stop = question.stop.or(Some(other)),
                    // It reads files that are not here: this is not its list.
                    Err(Stop::Doubt(_)) => {}
                }
            }
            guesses.push((question, found));
        }
        let actions: Vec<Digest> =
            guesses.iter().flat_map(|(_, guesses)| guesses).map(|guess| guess.action).collect();
        let results = self.ask(&actions);
        for (question, guesses) in guesses {
            let is_failure = guesses.iter().any(|guess| !matches!(results.get(&guess.action), Some(Ok(_))));
            let is_hit = guesses.into_iter().any(|guess| match results.get(&guess.action) {
                Some(Ok(Some(result))) => self.take_hit(&question, guess, result),
                _ => false,
            });
            match is_hit {
                true => {}
                false if self.is_over || is_failure => self.answer(question.target, Answer::Trouble),
                false => self.not_found(&question),
            }
        }
    }

    fn read_lists(&mut self, wanted: &[Digest]) -> BTreeMap<Digest, Vec<Vec<u8>>> {
        let mut lists = BTreeMap::new();
        if wanted.is_empty() {
            return lists;
        }
        let (root, mut trouble) = (self.keys.root, None);
        self.cache.read_all(wanted, &mut |digest, read| match read {
            Ok(Some(bytes)) => {
                let list = Discovered::decode(bytes.as_slice()).ok();
                // What names no file here is not from a build like this one.
                let paths = list.and_then(|list| list.paths.iter().map(|path| root.local(path)).collect());
                lists.extend(paths.map(|paths| (digest, paths)));
            }
            Ok(None) => {}
            Err(error) => trouble = trouble.take().or(Some(error)),
        });
        if let Some(error) = trouble {
            self.trouble(error);
        }
        lists
    }

    /// Asks for results, each once. What went wrong is noted.
    fn ask(&mut self, actions: &[Digest]) -> HashMap<Digest, Result<Option<ActionResult>, Error>> {
        let mut each: Vec<Digest> = actions.to_vec();
        each.sort_unstable();
        each.dedup();
        if each.is_empty() || self.is_over {
            return HashMap::new();
        }
        let results = self.cache.action_results(&each);
        if let Some(error) = results.iter().find_map(|result| result.as_ref().err()) {
            self.trouble(error.clone());
        }
        each.into_iter().zip(results).collect()
    }

    fn trouble(&mut self, error: Error) {
        self.is_over |= error.kind().is_final();
        self.found.trouble.get_or_insert(error);
    }

    /// Takes a result, if it is one for this target. Whether it is.
    fn take_hit(&mut self, question: &Question, guess: Guess, result: &ActionResult) -> bool {
        let Some(outputs) = outputs_of(&question.prepared, result) else { return false };
        let graph = self.keys.build.graph();
        for output in &outputs {
            if let Ok(name) = self.keys.root.name_in_tree(graph.files.path(output.file)) {
                self.made.insert(name, (question.target, Some(output.leaf)));
            }
        }
        let Guess { action, discovered, read, mut after } = guess;
        after.sort_unstable();
        after.dedup();
        self.answer(
            question.target,
            Answer::Cached(Box::new(Hit { action, outputs, discovered, read, after })),
        );
        true
    }

    fn not_found(&mut self, question: &Question) {
        match question.stop {
            Some(other) => self.answer_behind(question.target, other),
            None => self.answer(question.target, Answer::NotCached(None)),
        }
    }

    /// Behind trouble is trouble.
    fn answer_behind(&mut self, target: TargetId, other: TargetId) {
        let is_trouble = self.troubled.contains(&other);
        self.answer(target, if is_trouble { Answer::Trouble } else { Answer::Unknown(other) });
    }

    fn answer(&mut self, target: TargetId, answer: Answer) {
        if matches!(answer, Answer::Trouble) {
            self.troubled.insert(target);
        }
        self.found.answers.push((target, answer));
    }

    /// Outputs that the cache no longer has are not cached, and what was called after them is not known.
    fn without_missing(&mut self) {
        let hits = self.found.answers.iter().filter_map(|(_, answer)| match answer {
            Answer::Cached(hit) => Some(hit),
            _ => None,
        });
        let mut wanted: Vec<Digest> =
            hits.flat_map(|hit| &hit.outputs).map(|output| output.leaf.digest).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() || self.is_over {
            return;
        }
        let missing: HashSet<Digest> = match self.cache.find_missing(&wanted) {
            Ok(missing) => missing.into_iter().collect(),
            Err(error) => {
                self.trouble(error);
                for (_, answer) in &mut self.found.answers {
                    if matches!(answer, Answer::Cached(_)) {
                        *answer = Answer::Trouble;
                    }
                }
                return;
            }
        };
        let mut gone: HashSet<TargetId> = HashSet::new();
        for (target, answer) in &mut self.found.answers {
            let Answer::Cached(hit) = answer else { continue };
            if let Some(&other) = hit.after.iter().find(|other| gone.contains(other)) {
                *answer = Answer::Unknown(other);
            } else if hit.outputs.iter().any(|output| missing.contains(&output.leaf.digest)) {
                *answer = Answer::NotCached(None);
            } else {
                continue;
            }
            gone.insert(*target);
        }
    }
}

/// The lists of discovered inputs that are kept under a declared key, the newest first.
pub(crate) fn lists(result: &ActionResult) -> Vec<Digest> {
    let digests =
        result.output_files.iter().filter_map(|file| Digest::from_message(file.digest.as_ref()?).ok());
    digests.filter(|digest| digest.size <= LONGEST_LIST).take(MOST_LISTS).collect()
}
