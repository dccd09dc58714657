//! Descriptions that own their texts, and processes that check, begin and commit: what a test does to a project in a
//! line each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use upcheck::collect::Disk;
use upcheck::project::{Begun, Checked, Committed, Description, Options, Project, ProjectError};
use upcheck::records::Records;
use upcheck::{FileId, Policy, Reason, TargetId, Verdict};

/// A target as its caller describes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desc {
    pub(crate) outputs: Vec<String>,
    /// Of a target without outputs.
    pub(crate) name: String,
    pub(crate) explicit: Vec<String>,
    pub(crate) implicit: Vec<String>,
    pub(crate) order_only: Vec<String>,
    pub(crate) command: String,
    pub(crate) values: Vec<(String, String)>,
    pub(crate) depfile: String,
    pub(crate) globs: Vec<String>,
    pub(crate) policy: Option<Policy>,
    pub(crate) phony: bool,
}

impl Desc {
    /// A target that makes one file from others.
    pub(crate) fn new(output: &str, inputs: &[&str]) -> Self {
        let explicit = inputs.iter().map(ToString::to_string).collect();
        Self { outputs: vec![output.to_owned()], explicit, command: "cc".to_owned(), ..Self::default() }
    }

    pub(crate) fn policy(self, policy: Policy) -> Self {
        Self { policy: Some(policy), ..self }
    }

    /// What it is called in answers.
    pub(crate) fn called(&self) -> &str {
        self.outputs.first().unwrap_or(&self.name)
    }
}

/// A project of these targets, and the target of each.
pub(crate) fn project(targets: &[Desc], common: &[(&str, &str)]) -> (Project, Vec<TargetId>) {
    let mut project = Project::new();
    let values = common.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    project.set_values(values.collect());
    let mut ids = Vec::new();
    for desc in targets {
        let mut files = |paths: &[String]| -> Vec<FileId> {
            paths.iter().map(|path| project.file(path.as_bytes()).expect("a path")).collect()
        };
        let (outputs, explicit) = (files(&desc.outputs), files(&desc.explicit));
        let (implicit, order_only) = (files(&desc.implicit), files(&desc.order_only));
        let values: Vec<_> =
            desc.values.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let globs: Vec<&str> = desc.globs.iter().map(String::as_str).collect();
        let mut description = Description {
            outputs: &outputs,
            name: desc.name.as_bytes(),
            explicit: &explicit,
            implicit: &implicit,
            order_only: &order_only,
            phony: desc.phony,
            ..Description::default()
        };
        // A phony target has nothing of what a command can have, whatever a world says.
        if !desc.phony {
            description.command = desc.command.as_bytes();
            description.values = &values;
            description.depfile = desc.depfile.as_bytes();
            description.globs = &globs;
            description.policy = desc.policy;
        }
        ids.push(project.add(&description).expect("a description"));
    }
    (project, ids)
}

/// A process with a project of its own, which has nothing in common with others but the disk and the store.
pub(crate) struct Process {
    pub(crate) project: Project,
    names: BTreeMap<String, TargetId>,
}

/// A build that a process began.
pub(crate) struct Running {
    pub(crate) process: Process,
    pub(crate) records: Records,
    pub(crate) begun: Begun,
}

/// Of each target that is not fresh its verdict and its reasons: code and path.
pub(crate) type Answer = BTreeMap<String, (Verdict, BTreeSet<(&'static str, String)>)>;

impl Process {
    pub(crate) fn new(targets: &[Desc]) -> Self {
        Self::with_values(targets, &[])
    }

    pub(crate) fn with_values(targets: &[Desc], common: &[(&str, &str)]) -> Self {
        let (project, ids) = project(targets, common);
        let names = targets.iter().map(|desc| desc.called().to_owned()).zip(ids.iter().copied()).collect();
        Self { project, names }
    }

    pub(crate) fn target(&self, name: &str) -> TargetId {
        self.names[name]
    }

    /// All that is not fresh.
    pub(crate) fn check(&mut self, disk: &dyn Disk, store: &Path) -> Answer {
        let records = Records::read(store).expect("a store that can be read");
        let requests = self.project.default_requests();
        let checked = self.project.check(disk, records.as_ref(), &requests, ONE).expect("an answer");
        self.answer(&checked)
    }

    fn answer(&self, checked: &Checked) -> Answer {
        let graph = self.project.graph();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let reason = |reason: &Reason| (reason.code(), text(graph.files.path(reason.path())));
        let stale = checked.report.stale.iter();
        stale
            .map(|stale| {
                let reasons = stale.reasons.iter().map(reason).collect();
                (text(graph.name(stale.target)), (stale.verdict, reasons))
            })
            .collect()
    }

    pub(crate) fn begin(mut self, disk: &dyn Disk, store: &Path, names: &[&str]) -> Running {
        let mut records = Records::open(store).expect("a store");
        let targets: Vec<_> = names.iter().map(|name| self.target(name)).collect();
        let begun = self.project.begin(disk, &mut records, &targets, ONE).expect("it begins");
        Running { process: self, records, begun }
    }

    /// Begins what another process is going to commit.
    pub(crate) fn begin_for_another(mut self, disk: &dyn Disk, store: &Path, names: &[&str]) {
        let mut records = Records::open(store).expect("a store");
        let targets: Vec<_> = names.iter().map(|name| self.target(name)).collect();
        self.project.begin_for_another(disk, &mut records, &targets, ONE).expect("it begins");
    }

    /// Takes up what another process began.
    pub(crate) fn take_up(mut self, store: &Path, names: &[&str]) -> Running {
        let records = Records::open(store).expect("a store");
        let targets: Vec<_> = names.iter().map(|name| self.target(name)).collect();
        let begun = self.project.take_up(&records, &targets);
        Running { process: self, records, begun }
    }
}

impl Running {
    pub(crate) fn try_commit(self, disk: &dyn Disk) -> Result<(Process, Committed), ProjectError> {
        self.try_commit_with(disk, ONE)
    }

    pub(crate) fn try_commit_with(
        self,
        disk: &dyn Disk,
        options: Options,
    ) -> Result<(Process, Committed), ProjectError> {
        let Self { mut process, mut records, begun } = self;
        let committed = process.project.commit(disk, &mut records, begun, options)?;
        Ok((process, committed))
    }

    /// Commits. Whether there was no doubt.
    pub(crate) fn commit(self, disk: &dyn Disk) -> bool {
        let (_, committed) = self.try_commit(disk).expect("it is committed");
        committed.doubtful.is_empty()
    }
}

/// Threads have no part in what is examined here.
pub(crate) const ONE: Options = Options { threads: 1, made_in_order: false };

/// `name: verdict code path, ...` of all that is not fresh, in the order of names.
pub(crate) fn lines(answer: &Answer) -> Vec<String> {
    let line = |(name, (verdict, reasons)): (&String, &(Verdict, BTreeSet<_>))| {
        let pending = if *verdict == Verdict::Pending { "(pending) " } else { "" };
        let reasons: Vec<String> = reasons.iter().map(|(code, path)| format!("{code} {path}")).collect();
        format!("{name}: {pending}{}", reasons.join(", "))
    };
    answer.iter().map(line).collect()
}
