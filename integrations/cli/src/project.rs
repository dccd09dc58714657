//! `check` and `why` on targets that a graph, a compile_commands.json or the command line describes.

use crate::answer::{Answer, Looked, Rules};
use crate::args::{CheckArgs, Common, Format, From, OneTarget, WhyArgs};
use crate::cmake::{Cmake, Request};
use crate::exit::Exit;
use crate::image_folder::{self, digests};
use crate::plan;
use crate::run::{Trouble, bytes_of, open, print, print_answer, warn};
use crate::why;
use crate::words;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use upcheck::collect::Disk;
use upcheck::project::{Checked, Description, Options, Settled, StillFresh};
use upcheck::records::{Damage, DamageKind, Records};
use upcheck::{FileId, Graph, Project, Reason, Report, TargetId};
use upcheck_cmake::makefiles::Makefiles;
use upcheck_graph::CompileOptions;

/// A described project, and what is asked about.
pub(crate) struct Described {
    pub(crate) project: Project,
    pub(crate) requests: Vec<FileId>,
    /// The folder of the store of records.
    pub(crate) store: PathBuf,
    /// The target that stands for making the description again, where one does.
    pub(crate) configure: Option<TargetId>,
}

/// Describes the targets. `command` is what makes the one that options describe.
pub(crate) fn describe(
    common: &Common,
    disk: &dyn Disk,
    targets: &[OsString],
    command: &[OsString],
) -> Result<Described, Trouble> {
    let mut project = Project::new();
    let base = upcheck::os_path::canonicalize(&common.directory)
        .map_err(|error| trouble("finding", &common.directory, &error))?;
    project.set_base(&bytes_of(base.into_os_string()));
    let mut makefiles = None;
    match common.from {
        _ if common.cmake.as_ref().is_some_and(Cmake::has_makefiles) => {
            let known = common.cmake.as_ref().map(Cmake::known).unwrap_or_default();
            makefiles = Some(upcheck_cmake::makefiles::describe(disk, known, &mut project)?);
        }
        _ if common.one.is_given() => one_target(common, &common.one, command, &mut project)?,
        Some(From::Graph) => graph(common, &mut project)?,
        Some(From::CompileCommands) => compile_commands(common, disk, &mut project)?,
        None | Some(From::Ninja | From::Cmake) => {
            return Err(Trouble("ninja keeps its own records; see -o and --from for other targets".into()));
        }
    }
    if let Some(digests) = digests(common) {
        project.set_digest_cache(digests);
    }
    if common.policy.is_some() {
        project.set_policy(common.policy);
    }
    let requests = match targets {
        targets if makefiles.is_some() => goals(common, &project, makefiles.as_ref(), targets)?,
        [] => project.default_requests(),
        targets => targets.iter().map(|target| request(&project, target)).collect::<Result<_, _>>()?,
    };
    let store = common.directory.join(&common.records);
    let configure = makefiles.map(|makefiles| makefiles.configure);
    Ok(Described { project, requests, store, configure })
}

/// What is asked about in Makefiles of CMake: goals, files, and always whether CMake has to run first.
fn goals(
    common: &Common,
    project: &Project,
    makefiles: Option<&Makefiles>,
    targets: &[OsString],
) -> Result<Vec<FileId>, Trouble> {
    let (Some(makefiles), Some(cmake)) = (makefiles, &common.cmake) else { return Ok(Vec::new()) };
    let mut requests = Vec::new();
    for Request { known_as, unknown } in cmake.requests(common, targets)? {
        let goal = |name: &Vec<u8>| {
            let goal = makefiles.goals.iter().find(|(known, _)| known == name);
            goal.map(|(_, file)| *file).or_else(|| project.lookup(name))
        };
        let known = known_as.iter().find_map(goal);
        let unknown = || match unknown {
            Some(unknown) => Trouble(unknown),
            None => Trouble(format!(
                "nothing is known of '{}': it is no file of the build",
                words::bytes(&known_as[0])
            )),
        };
        requests.push(known.ok_or_else(unknown)?);
    }
    if requests.is_empty() {
        requests.push(makefiles.all);
    }
    requests.extend(project.graph().outputs(makefiles.configure).first());
    Ok(requests)
}

/// Puts in front of the reasons of what stands for making the description again that it does.
fn mark_configure(described: &Described, report: &mut Report) {
    let stale = report.stale.iter_mut().find(|stale| Some(stale.target) == described.configure);
    if let Some(stale) = stale
        && let Some(&manifest) = described.project.graph().outputs(stale.target).first()
    {
        stale.reasons.insert(0, Reason::ManifestStale { manifest });
    }
}

/// Describes the targets while another thread reads the records.
fn describe_with_records(
    common: &Common,
    disk: &dyn Disk,
    targets: &[OsString],
    command: &[OsString],
) -> Result<(Described, Option<Records>), Trouble> {
    let store = common.directory.join(&common.records);
    let (described, records) = std::thread::scope(|scope| {
        let records = scope.spawn(|| read_records(common, &store));
        let described = describe(common, disk, targets, command);
        (described, records.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    Ok((described?, records?))
}

/// Answers `check`.
pub(crate) fn check(common: &Common, args: &CheckArgs) -> Result<Exit, Trouble> {
    if args.exact {
        return Err(Trouble("--exact is about ninja".into()));
    }
    let disk = open(common)?;
    let settled = settled(common, &args.targets, &args.command);
    let sources = settled.as_ref().map(|settled| settled.look(&disk));
    if let (Some(settled), Some(sources)) = (&settled, &sources)
        && let Some(fresh) = settled.ask(&disk, sources, common.threads)
    {
        return still_fresh(common, args, fresh, sources.is_there(STORE));
    }
    let (mut described, records) = describe_with_records(common, &disk, &args.targets, &args.command)?;
    let mut checked = ask(common, &disk, &mut described, records.as_ref())?;
    mark_configure(&described, &mut checked.report);
    keep_digests(&mut described.project);
    let is_damaged = records.as_ref().is_some_and(|records| records.damage().is_some());
    if let (Some(settled), Some(sources), false) = (settled, sources, is_damaged) {
        settled.keep(&sources, &checked);
    }
    let exit = if checked.is_fresh() { Exit::Fresh } else { Exit::Stale };
    if args.quiet {
        return Ok(exit);
    }
    let snapshot = &checked.snapshot;
    if let Some(platform) = args.explain_plan {
        plan::explain(common, platform, &described.project.graph().files, snapshot)?;
        return Ok(exit);
    }
    let answer = Answer {
        from: common.origin(),
        cmake: common.cmake.as_ref().map(Cmake::owners),
        graph: described.project.graph(),
        looked: Looked {
            n_files: snapshot.n_files(),
            counts: snapshot.counts(),
            snapshot: (snapshot.began(), snapshot.ended()),
        },
        rules: Rules::Project {
            project: &described.project,
            has_records: records.is_some(),
            n_contents: checked.n_contents,
        },
        report: checked.report,
        explain: args.explain,
        commands: args.commands,
        watched: None,
        verified: None,
    };
    print_answer(common, &answer)?;
    Ok(exit)
}

/// Nothing differs from an earlier check, and everything was fresh then.
fn still_fresh(
    common: &Common,
    args: &CheckArgs,
    fresh: StillFresh,
    has_records: bool,
) -> Result<Exit, Trouble> {
    if args.quiet {
        return Ok(Exit::Fresh);
    }
    let snapshot = &fresh.snapshot;
    let answer = Answer {
        from: common.origin(),
        cmake: common.cmake.as_ref().map(Cmake::owners),
        graph: &Graph::default(),
        looked: Looked {
            n_files: snapshot.n_files(),
            counts: snapshot.counts(),
            snapshot: (snapshot.began(), snapshot.ended()),
        },
        rules: Rules::Project { project: &Project::new(), has_records, n_contents: 0 },
        report: Report { n_targets: fresh.n_targets, ..Report::default() },
        explain: args.explain,
        commands: args.commands,
        watched: None,
        verified: None,
    };
    print_answer(common, &answer)?;
    Ok(Exit::Fresh)
}

/// The place of the store among the sources of a description.
const STORE: usize = 0;

/// Where it is kept that the answer was "fresh"; `None` where it rests on what cannot be looked at again, as standard
/// input, or on more files than are known before they are looked for.
fn settled(common: &Common, targets: &[OsString], command: &[OsString]) -> Option<Settled> {
    let one = &common.one;
    let list = match common.from {
        _ if one.is_given() => one.inputs_from.clone(),
        Some(From::Graph) => Some(common.file.clone().unwrap_or_else(|| GRAPH.into())),
        _ => return None,
    };
    if list.as_deref() == Some(Path::new("-")) {
        return None;
    }
    let env: Vec<_> = one.env.iter().map(std::env::var_os).collect();
    let rules = (env!("CARGO_PKG_VERSION"), common.from, &common.file, &common.records, common.policy);
    let words = format!("{:?}", (rules, one, env, targets, command));
    let store = common.records.join("records");
    let sources = std::iter::once(store).chain(list);
    image_folder::settled(common, &words, sources.map(|path| bytes_of(path.into_os_string())).collect())
}

/// The graph that is read where none is named.
const GRAPH: &str = "graph.json";

/// Answers `why`.
pub(crate) fn explain(common: &Common, args: &WhyArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let (mut described, records) = describe_with_records(common, &disk, &args.targets, &args.command)?;
    let checked = ask(common, &disk, &mut described, records.as_ref())?;
    keep_digests(&mut described.project);
    // Nobody asked whether the description has to be made again, but who is told why something is stale has to know.
    let is_configured = described
        .configure
        .is_some_and(|configure| checked.report.stale.iter().all(|stale| stale.target != configure));
    if is_configured {
        described.requests.pop();
    }
    let Described { project, requests, .. } = &described;
    let decision = checked.decision(project)?;
    let why = why::Why { from: common.origin(), graph: project.graph(), decision: &decision, all: args.all };
    print(common, |out| match common.format {
        Format::Text | Format::Names => why.print(out, requests),
        Format::Json => why.print_json(out, requests),
        Format::Jsonl => why.print_lines(out, requests),
    })?;
    Ok(if why.is_fresh(requests) { Exit::Fresh } else { Exit::Stale })
}

/// Checks what is asked about.
pub(crate) fn ask(
    common: &Common,
    disk: &dyn Disk,
    described: &mut Described,
    records: Option<&Records>,
) -> Result<Checked, Trouble> {
    let options = options(common);
    Ok(described.project.check(disk, records, &described.requests, options)?)
}

pub(crate) fn options(common: &Common) -> Options {
    // A command makes all of its targets.
    Options { threads: common.threads, made_in_order: true }
}

/// The store of records, if there is one.
pub(crate) fn read_records(common: &Common, store: &Path) -> Result<Option<Records>, Trouble> {
    let records = Records::read(store).map_err(|error| trouble("reading the records in", store, &error))?;
    warn_of_damage(common, store, records.as_ref().and_then(Records::damage));
    Ok(records)
}

/// The store of records, made if it is not there.
pub(crate) fn open_records(common: &Common, store: &Path) -> Result<Records, Trouble> {
    let records = Records::open(store).map_err(|error| trouble("opening the records in", store, &error))?;
    warn_of_damage(common, store, records.damage());
    Ok(records)
}

fn warn_of_damage(common: &Common, store: &Path, damage: Option<Damage>) {
    if let Some(Damage { what, at, bytes }) = damage {
        // The last one is being written, or its writer was killed.
        if what != DamageKind::Unfinished {
            let text = format!(
                "the records in '{}' are damaged from byte {at} on, {bytes} bytes are not believed",
                store.display()
            );
            warn(common, &[text]);
        }
    }
}

/// Keeps the digests that were found, for the next one.
pub(crate) fn keep_digests(project: &mut Project) {
    if let Some(digests) = project.take_digest_cache() {
        digests.save();
    }
}

/// The targets whose success is to be recorded: those that were asked about, and all that is behind a phony one. Where
/// `all` were asked about, all that these need.
pub(crate) fn made(described: &Described, all: bool) -> Result<Vec<TargetId>, Trouble> {
    let graph = described.project.graph();
    let (mut made, mut left) = (vec![false; graph.n_targets()], Vec::new());
    for &file in &described.requests {
        let Some(target) = graph.producer(file) else {
            let path = words::path(graph, file);
            return Err(Trouble(format!("'{path}' is a source: nothing makes it")));
        };
        made[target.index()] = true;
        if all || graph.flags(target).phony {
            left.push(target);
        }
    }
    let mut is_followed = vec![false; graph.n_targets()];
    while let Some(target) = left.pop() {
        if std::mem::replace(&mut is_followed[target.index()], true) {
            continue;
        }
        made[target.index()] = true;
        let needed = graph.ordering_inputs(target).iter().chain(graph.validations(target));
        left.extend(needed.filter_map(|&file| graph.producer(file)));
    }
    let is_made = |target: &TargetId| {
        made[target.index()] && !graph.flags(*target).phony && !described.project.is_given(*target)
    };
    Ok(graph.targets().filter(is_made).collect())
}

fn request(project: &Project, target: &OsStr) -> Result<FileId, Trouble> {
    let name = bytes_of(target.to_owned());
    project.lookup(&name).ok_or_else(|| {
        let shown = String::from_utf8_lossy(&name);
        let graph = project.graph();
        let outputs = graph.targets().flat_map(|target| graph.outputs(target));
        let names = outputs.map(|&output| String::from_utf8_lossy(graph.files.path(output)));
        let near = names.map(|near| (strsim::damerau_levenshtein(&near, &shown), near)).min();
        let hint = match near {
            // With all of its letters changed, any name is near.
            Some((distance, near)) if distance <= 3 && distance < shown.chars().count().max(2) - 1 => {
                format!(", did you mean '{near}'?")
            }
            _ => String::new(),
        };
        Trouble(format!("unknown target '{shown}'{hint}"))
    })
}

/// The target that options describe.
fn one_target(
    common: &Common,
    one: &OneTarget,
    command: &[OsString],
    project: &mut Project,
) -> Result<(), Trouble> {
    match (one.outputs.is_empty(), &one.name) {
        (true, None) => return Err(Trouble("a target needs an output (-o) or a name (--name)".into())),
        (false, Some(_)) => return Err(Trouble("--name is for a target without outputs (-o)".into())),
        _ => {}
    }
    let mut outputs = Vec::new();
    for output in &one.outputs {
        outputs.push(project.file(&bytes_of(output.clone()))?);
    }
    let (mut inputs, mut patterns) = (Vec::new(), Vec::new());
    for input in &one.inputs {
        let bytes = bytes_of(input.clone());
        match std::str::from_utf8(&bytes) {
            Ok(pattern) if is_pattern(common, pattern) => patterns.push(pattern.to_owned()),
            _ => inputs.push(project.file(&bytes)?),
        }
    }
    if let Some(list) = &one.inputs_from {
        let bytes = read_input(common, list)?;
        let separator = if one.null { 0 } else { b'\n' };
        project
            .files(&bytes, separator, &mut inputs)
            .map_err(|error| Trouble(format!("in the list '{}': {error}", list.display())))?;
    }
    let mut order_only = Vec::new();
    for input in &one.order_only {
        order_only.push(project.file(&bytes_of(input.clone()))?);
    }
    let values = values(one)?;
    let values: Vec<(&[u8], &[u8])> =
        values.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let arguments: Vec<Vec<u8>> = command.iter().cloned().map(bytes_of).collect();
    project.add(&Description {
        outputs: &outputs,
        name: &one.name.clone().map(bytes_of).unwrap_or_default(),
        explicit: &inputs,
        order_only: &order_only,
        command: &arguments.join(&0),
        values: &values,
        depfile: &one.depfile.clone().map(bytes_of).unwrap_or_default(),
        globs: &patterns,
        ..Description::default()
    })?;
    Ok(())
}

/// Whether an input names many files. One that is there under this very name is meant itself.
pub(crate) fn is_pattern(common: &Common, text: &str) -> bool {
    let looks_like_one = text.starts_with('!') || text.contains(['*', '?', '[', '{']);
    looks_like_one && std::fs::symlink_metadata(common.directory.join(text)).is_err()
}

type Value = (Vec<u8>, Vec<u8>);

/// Names and values, from options and from the environment.
fn values(one: &OneTarget) -> Result<Vec<Value>, Trouble> {
    let mut values = Vec::new();
    for value in &one.values {
        let bytes = bytes_of(value.clone());
        let Some(at) = bytes.iter().position(|&byte| byte == b'=') else {
            let shown = String::from_utf8_lossy(&bytes);
            return Err(Trouble(format!("--value {shown}: it has the form NAME=VALUE")));
        };
        values.push((bytes[..at].to_vec(), bytes[at + 1..].to_vec()));
    }
    for name in &one.env {
        // A variable that is not there is another value than an empty one.
        if let Some(value) = std::env::var_os(name) {
            values.push(([b"$".to_vec(), bytes_of(name.clone())].concat(), bytes_of(value)));
        }
    }
    Ok(values)
}

fn graph(common: &Common, project: &mut Project) -> Result<(), Trouble> {
    let file = common.file.clone().unwrap_or_else(|| GRAPH.into());
    match file == Path::new("-") {
        true => upcheck_graph::read(std::io::stdin().lock(), "standard input", project)?,
        false => upcheck_graph::read_file(&in_directory(common, &file), project)?,
    };
    Ok(())
}

fn compile_commands(common: &Common, disk: &dyn Disk, project: &mut Project) -> Result<(), Trouble> {
    let file = common.file.clone().unwrap_or_else(|| "compile_commands.json".into());
    let bytes = read_input(common, &file)?;
    let name = match file == Path::new("-") {
        true => "standard input".into(),
        false => in_directory(common, &file).to_string_lossy().into_owned(),
    };
    let options = CompileOptions { headers_unknown_is_fine: common.headers_unknown_is_fine };
    upcheck_graph::read_compile_commands(&bytes, &name, b"", disk, project, options)?;
    Ok(())
}

/// Reads a file that an option names, relative to the build directory, or standard input.
pub(crate) fn read_input(common: &Common, path: &Path) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        let path = common.directory.join(path);
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| trouble("reading", path, &error))?;
    Ok(bytes)
}

/// A path that counts from the build directory, as it is called where the user is.
fn in_directory(common: &Common, path: &Path) -> PathBuf {
    if common.directory == Path::new(".") { path.to_owned() } else { common.directory.join(path) }
}

/// Operation, path and cause.
pub(crate) fn trouble(operation: &str, path: &Path, error: &std::io::Error) -> Trouble {
    Trouble(format!("{operation} '{}': {}", path.display(), upcheck::os_message(error)))
}
