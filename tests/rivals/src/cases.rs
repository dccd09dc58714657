//! The cases: for each the build it needs, who takes part, and what they must answer.

mod watched;

use crate::cmake;
use crate::contender::{Before, Contender, Expected, can_drop_caches, untouch};
use crate::floor_list::Looked;
use crate::graph::{self, COMMON_HEADER, Discovered, Shape};
use crate::makefile;
use crate::project;
use crate::race::{FLOOR, Race};
use crate::recorded::{self, Inputs};
use crate::tree::MANIFEST_FOR_1_11;
use crate::variants;
use crate::workshop::Workshop;
use clap::ValueEnum;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use upcheck_tests::tools::{Ninja, run_tool};

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// Nothing to do; discovered inputs in the deps log
    NoOp,
    /// Nothing to do; discovered inputs in depfiles on the disk
    Depfiles,
    /// One source changed; only whether, not what
    Source,
    /// A header changed that all sources include; only whether, not what
    Header,
    /// One target, many targets one by one, and at once
    Targets,
    /// Before there is an image
    FirstRun,
    /// A large manifest for its files: many targets, long commands, few files
    Manifest,
    /// A fifth of the usual targets, 10,000 files: the cost per file
    FilesSmall,
    /// 100,000 files: the cost per file
    FilesMedium,
    /// 1,000,000 files: the cost per file; slow, and removed afterwards
    FilesLarge,
    /// 100,000 inputs with records of success, nothing changed
    Records,
    /// A gigabyte of inputs touched since they were recorded, but not changed
    Content,
    /// Cold caches; slow, and only where the caches can be dropped
    Cold,
    /// A project that CMake configures and the compiler builds; slow the first time
    Cmake,
    /// Makefiles of CMake with nothing to do, through the build tool and past it; slow the first time
    Makefiles,
    /// Ten external projects with nothing to do; slow the first time
    Externals,
    /// A hundred globs with nothing to do
    Globs,
    /// 100,000 files that a daemon watches: nothing changed, one, and 10,000
    Watched,
    /// 1,000,000 files that a daemon watches; slow, and removed afterwards
    WatchedLarge,
}

/// From so many targets the sizes of all builds are derived.
const USUAL_TARGETS: usize = 50_000;
/// What hashes a gigabyte of files is compared with.
const B3SUM: &str = "1.8.7";
/// How many targets are asked for one by one.
const SAMPLE: usize = 30;

const NOTHING_TO_DO: Expected = Expected::Begins(Cow::Borrowed("fresh: nothing to do"));
const NO_WORK: Expected = Expected::Begins(Cow::Borrowed("ninja: no work to do."));
const ANYTHING: Expected = Expected::Begins(Cow::Borrowed(""));
/// Of a dry run that has something to do.
const COMMANDS: Expected = Expected::Begins(Cow::Borrowed("[1/"));

/// How large, how often, and who else.
pub(crate) struct Wishes<'a> {
    pub(crate) targets: usize,
    pub(crate) rounds: usize,
    /// Name and shell command.
    pub(crate) rivals: Vec<(&'a str, &'a str)>,
}

impl Case {
    /// Those that run without being asked for.
    pub(crate) fn usual() -> impl Iterator<Item = Self> {
        Self::all().filter(|case| {
            !matches!(
                case,
                Self::FilesLarge
                    | Self::WatchedLarge
                    | Self::Cold
                    | Self::Cmake
                    | Self::Makefiles
                    | Self::Externals
                    | Self::Globs
            )
        })
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied()
    }

    /// As it is written on the command line and in files.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Why it cannot be measured here.
    pub(crate) fn obstacle(self) -> Option<String> {
        match self {
            Self::Cold => can_drop_caches().err(),
            Self::Watched | Self::WatchedLarge => watched::obstacle(),
            _ => None,
        }
    }

    /// More rounds than these would take too long.
    fn most_rounds(self) -> usize {
        match self {
            Self::Cold => 3,
            Self::FilesLarge | Self::WatchedLarge => 5,
            _ => usize::MAX,
        }
    }

    /// The build whose folder is too large to be kept.
    pub(crate) fn passing_tree(self, targets: usize) -> Option<String> {
        matches!(self, Self::FilesLarge | Self::WatchedLarge).then(|| tree_name(thin(targets * 20)))
    }

    /// Makes all that it needs.
    pub(crate) fn prepare(self, shop: &Workshop, wishes: &Wishes<'_>) -> Result<Race, String> {
        let layers =
            Shape { n_targets: wishes.targets, headers_per_source: 150, discovered: Discovered::DepsLog };
        match self {
            Self::NoOp => Ground::layers(shop, layers)?.up_to_date(self, wishes, "nothing to do"),
            Self::Depfiles => {
                let shape = Shape { discovered: Discovered::Depfiles, ..layers };
                Ground::layers(shop, shape)?.depfiles(self, wishes)
            }
            Self::Source => {
                Ground::layers(shop, layers)?.touched(self, wishes, &layers.some_source(), "source")
            }
            Self::Header => Ground::layers(shop, layers)?.touched(self, wishes, COMMON_HEADER, "header"),
            Self::Targets => Ground::layers(shop, layers)?.targets(self, wishes, &layers.libraries()),
            Self::FirstRun => Ground::layers(shop, layers)?.first_run(self, wishes),
            Self::Manifest => Ground::variants(shop, (wishes.targets * 2 / 5).max(1))?.up_to_date(
                self,
                wishes,
                "nothing to do, a large manifest for its files",
            ),
            Self::FilesSmall => Ground::thin(shop, wishes.targets / 5)?.per_file(self, wishes),
            Self::FilesMedium => Ground::thin(shop, wishes.targets * 2)?.per_file(self, wishes),
            Self::FilesLarge => Ground::thin(shop, wishes.targets * 20)?.per_file(self, wishes),
            Self::Watched => {
                let shape = thin(wishes.targets * 2);
                Ground::layers(shop, shape)?.watched(self, wishes, shape)
            }
            Self::WatchedLarge => {
                let shape = thin(wishes.targets * 20);
                Ground::layers(shop, shape)?.watched(self, wishes, shape)
            }
            Self::Records => {
                let n_files = wishes.targets * 2;
                let inputs = Inputs { n_files, size: 200, per_target: 100, touched: false };
                Ground::recorded(shop, inputs)?.records(self, wishes)
            }
            Self::Content => {
                // A gigabyte, or less for a trial.
                let n_files = (wishes.targets / 50).max(1);
                let inputs = Inputs { n_files, size: 1 << 20, per_target: 10, touched: true };
                Ground::recorded(shop, inputs)?.content(self, wishes)
            }
            Self::Cold => Ground::layers(shop, layers)?.cold(self, wishes),
            Self::Cmake => Ground::project(shop, wishes.targets)?.up_to_date(
                self,
                wishes,
                "nothing to do, a project configured by CMake and really built",
            ),
            Self::Makefiles => Ground::makefiles(shop, wishes.targets)?.makefiles_race(self, wishes),
            Self::Externals => {
                let ground =
                    Ground::of_cmake(shop, "externals", |dir| cmake::generate_externals(dir, &shop.upcheck))?;
                ground.builds(
                    self,
                    wishes,
                    "nothing to do, ten external projects",
                    &[
                        ("upcheck_external_project", "upcheck"),
                        ("BUILD_ALWAYS", "always"),
                        ("never looked at", "never"),
                    ],
                )
            }
            Self::Globs => {
                let ground =
                    Ground::of_cmake(shop, "globs", |dir| cmake::generate_globs(dir, &shop.upcheck))?;
                ground.globs_race(self, wishes)
            }
        }
    }
}

/// The shape whose size is a number of files: with few headers for each source, so that a million is soon made.
fn thin(n_files: usize) -> Shape {
    // 2.31 files for each target.
    let n_targets = (n_files * 100 / 231).max(1);
    Shape { n_targets, headers_per_source: 12, discovered: Discovered::DepsLog }
}

fn tree_name(shape: Shape) -> String {
    let kind = match shape.discovered {
        Discovered::DepsLog => "layers",
        Discovered::Depfiles => "depfiles",
    };
    format!("{kind}-{}-{}", shape.n_targets, shape.headers_per_source)
}

/// A build that contenders run in, and what is known of it.
struct Ground<'a> {
    shop: &'a Workshop,
    name: String,
    dir: PathBuf,
    dir_of_1_11: PathBuf,
    /// Options that name its manifest for 1.11.
    options_of_1_11: &'static [&'static str],
    looked: Looked,
}

impl<'a> Ground<'a> {
    fn layers(shop: &'a Workshop, shape: Shape) -> Result<Self, String> {
        let wanted = format!("layers version {}", graph::VERSION);
        let name = tree_name(shape);
        let dir = shop.tree(&name, &wanted, |dir| shape.generate(dir).map_err(|error| error.to_string()))?;
        // A run that was interrupted may have left them newer.
        for source in [&shape.some_source(), COMMON_HEADER] {
            untouch(&dir.join(source)).map_err(|error| format!("{source}: {error}"))?;
        }
        Self::generated(shop, name, dir)
    }

    fn thin(shop: &'a Workshop, n_files: usize) -> Result<Self, String> {
        Self::layers(shop, thin(n_files))
    }

    fn variants(shop: &'a Workshop, n_targets: usize) -> Result<Self, String> {
        let (name, wanted) =
            (format!("variants-{n_targets}"), format!("variants version {}", variants::VERSION));
        let dir = shop.tree(&name, &wanted, |dir| {
            variants::generate(dir, n_targets).map_err(|error| error.to_string())
        })?;
        Self::generated(shop, name, dir)
    }

    fn recorded(shop: &'a Workshop, inputs: Inputs) -> Result<Self, String> {
        let Inputs { n_files, size, touched, .. } = inputs;
        let name = format!("recorded-{n_files}-{size}{}", if touched { "-touched" } else { "" });
        let wanted = format!("recorded version {}", recorded::VERSION);
        let dir = shop.tree(&name, &wanted, |dir| inputs.generate(dir, &shop.upcheck))?;
        let looked = Looked::of(inputs.n_targets(), inputs.paths().collect());
        Ok(Self { shop, name, dir_of_1_11: dir.clone(), dir, options_of_1_11: &[], looked })
    }

    fn generated(shop: &'a Workshop, name: String, dir: PathBuf) -> Result<Self, String> {
        let looked = Looked::at(&dir, &[])?;
        let options_of_1_11 = &["-f", MANIFEST_FOR_1_11];
        Ok(Self { shop, name, dir_of_1_11: dir.clone(), dir, options_of_1_11, looked })
    }

    fn project(shop: &'a Workshop, n_targets: usize) -> Result<Self, String> {
        // 400 files, or fewer for a trial.
        let n_files = (n_targets / 100).clamp(12, 400);
        let name = format!("cmake-{n_files}");
        // CMake writes full paths: a build that was moved is to be made anew.
        let place = shop.list("").display().to_string();
        let wanted = format!("project version {}\n{place}", project::VERSION);
        let ninjas = [Ninja::V1_13, Ninja::V1_11];
        let made = shop.tree(&name, &wanted, |dir| project::generate(dir, n_files, &ninjas))?;
        let dir = project::build_dir(&made, Ninja::V1_13);
        let dir_of_1_11 = project::build_dir(&made, Ninja::V1_11);
        let looked = Looked::at(&dir, &[])?;
        Ok(Self { shop, name, dir, dir_of_1_11, options_of_1_11: &[], looked })
    }

    fn makefiles(shop: &'a Workshop, n_targets: usize) -> Result<Self, String> {
        // 2,000 files, or fewer for a trial.
        let n_files = (n_targets / 25).clamp(20, 2_000);
        let name = format!("makefiles-{n_files}");
        // CMake writes full paths: a build that was moved is to be made anew.
        let place = shop.list("").display().to_string();
        let wanted = format!("makefiles version {}\n{place}", cmake::VERSION);
        let made = shop.tree(&name, &wanted, |dir| cmake::generate_makefiles(dir, n_files, &shop.upcheck))?;
        let dir = cmake::build_dir(&made, "make");
        let looked = Looked::of(n_files + n_files.div_ceil(20), cmake::files(n_files));
        Ok(Self { shop, name, dir_of_1_11: dir.clone(), dir, options_of_1_11: &[], looked })
    }

    /// Builds of CMake for cases that have only one size.
    fn of_cmake(
        shop: &'a Workshop,
        name: &str,
        generate: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Self, String> {
        let place = shop.list("").display().to_string();
        let wanted = format!("{name} version {}\n{place}", cmake::VERSION);
        let dir = shop.tree(name, &wanted, generate)?;
        let looked = Looked::of(0, Vec::new());
        Ok(Self { shop, name: name.into(), dir_of_1_11: dir.clone(), dir, options_of_1_11: &[], looked })
    }

    // ---- races --------------------------------------------------------------------------------------

    fn up_to_date(&self, case: Case, wishes: &Wishes<'_>, title: &str) -> Result<Race, String> {
        let mut contenders = vec![self.upcheck(Image::Warm, &[]), self.ninja(Ninja::V1_13, &[])];
        contenders.push(self.ninja(Ninja::V1_11, &[]));
        contenders.extend(self.floors()?);
        contenders.extend(self.rivals(wishes));
        Ok(self.race(case, wishes, title, contenders))
    }

    fn per_file(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        Ok(Race { per_file: true, ..self.up_to_date(case, wishes, "nothing to do, the cost per file")? })
    }

    fn depfiles(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let mut race = self.up_to_date(case, wishes, "nothing to do, discovered inputs in depfiles")?;
        let make = Path::new("make");
        let succeeds = Expected::Silent(0);
        if std::process::Command::new(make).arg("--version").output().is_ok() {
            let make = Contender::new("make -q", &self.dir, make, &makefile::OPTIONS, succeeds);
            // A Makefile in which nothing is ever stale would be quick too.
            let header = Before::Touch(vec![self.dir.join(COMMON_HEADER)]);
            make.clone().before(header).expecting(Expected::Silent(1)).check()?;
            race.contenders.push(make);
        } else {
            race.notes.push("make -q was NOT MEASURED: there is no make here".into());
        }
        Ok(race)
    }

    /// One file newer than what was built, and all as it was, in turn.
    fn touched(&self, case: Case, wishes: &Wishes<'_>, source: &str, kind: &str) -> Result<Race, String> {
        let touch = || Before::Touch(vec![self.dir.join(source)]);
        let quiet = self.upcheck(Image::Warm, &["-q"]).expecting(Expected::Silent(0));
        let untouched = quiet.clone().into();
        let said = |ninja, args: &[&str], expected| {
            let name = format!("{}, {kind} changed", ninja_name(ninja, args));
            self.ninja(ninja, args).named(&name).before(touch()).expecting(expected)
        };
        let contenders = vec![
            quiet
                .named(&format!("upcheck -q, {kind} changed"))
                .before(Before::RunThenTouch(untouched, vec![self.dir.join(source)]))
                .expecting(Expected::Silent(1)),
            self.upcheck(Image::Apart, &["-q"])
                .named("upcheck -q, nothing to do")
                .expecting(Expected::Silent(0)),
            said(Ninja::V1_13, &[], COMMANDS),
            said(Ninja::V1_13, &["--quiet"], Expected::Silent(0)),
            said(Ninja::V1_11, &[], COMMANDS),
            self.ninja(Ninja::V1_13, &[]).named("ninja 1.13 -n, nothing to do"),
        ];
        let n_stale = self.n_stale(touch)?;
        let title = format!("{source} changed, {n_stale} targets are stale; whether, not what");
        let contenders = contenders.into_iter().chain(self.floors()?).collect();
        Ok(self.race(case, wishes, &title, contenders))
    }

    /// How many targets are stale: upcheck and both ninjas have to say the same.
    fn n_stale(&self, touch: impl Fn() -> Before) -> Result<usize, String> {
        let ours = self.upcheck(Image::Without, &[]).before(touch()).answer()?;
        let ours = ours.split(' ').next().and_then(|number| number.replace(',', "").parse::<usize>().ok());
        for ninja in [Ninja::V1_13, Ninja::V1_11] {
            let theirs = self.ninja(ninja, &[]).before(touch()).answer()?;
            let theirs = theirs.lines().filter(|line| line.starts_with('[')).count();
            if ours != Some(theirs) {
                let ninja = ninja.number();
                return Err(format!("upcheck finds {ours:?} stale targets, ninja {ninja} {theirs}"));
            }
        }
        ours.ok_or_else(|| "upcheck does not say how many targets are stale".into())
    }

    fn targets(&self, case: Case, wishes: &Wishes<'_>, libraries: &[String]) -> Result<Race, String> {
        let all: Vec<_> = libraries.iter().map(String::as_str).collect();
        let one = all[all.len() / 2];
        let sample: Vec<_> = all.iter().copied().step_by(all.len().div_ceil(SAMPLE)).collect();
        let (n, n_sample) = (all.len(), sample.len());
        let one_by_one = |contender: &Contender| {
            let who = &contender.name;
            let contender = contender.clone().for_each(&sample);
            if n_sample == n {
                return contender.named(&format!("{who}, {n} targets one by one"));
            }
            let name = format!("{who}, {n} targets one by one: EXTRAPOLATED from {n_sample}");
            contender.named(&format!("{who}, {n_sample} of {n} targets one by one")).extrapolated(&name, n)
        };
        let mut contenders = Vec::new();
        for full in [self.upcheck(Image::Warm, &[]), self.ninja(Ninja::V1_13, &[])] {
            let who = &full.name;
            let asked =
                |targets: &[&str], what: &str| full.clone().with(targets).named(&format!("{who}, {what}"));
            contenders.extend([asked(&[], "everything"), asked(&[one], "1 target")]);
            contenders.extend([asked(&all, &format!("{n} targets at once")), one_by_one(&full)]);
        }
        contenders.extend(self.floors()?);
        let looked = Looked::at(&self.dir, &[one])?;
        contenders.push(self.floor(&looked, 1, "-one")?.named("floor of 1 target (1 thread)"));
        let title = format!("some targets against everything: {n} libraries can be asked for");
        Ok(self.race(case, wishes, &title, contenders))
    }

    fn first_run(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let mut contenders = vec![self.upcheck(Image::Without, &[]).named("upcheck check, no image")];
        if self.shop.has_images {
            contenders.push(self.upcheck(Image::Written, &[]).named("upcheck check, writes the image"));
        }
        contenders.extend([self.ninja(Ninja::V1_13, &[]), self.ninja(Ninja::V1_11, &[])]);
        contenders.extend(self.floors()?);
        contenders.extend(self.rivals(wishes));
        let race = self.race(case, wishes, "nothing to do, before there is an image", contenders);
        Ok(Race { image_dir: None, ..race })
    }

    fn cold(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let mut race = self.up_to_date(case, wishes, "nothing to do, cold caches")?;
        let cold = race.contenders.into_iter().map(|contender| contender.before(Before::ColdCaches));
        race.contenders = cold.collect();
        Ok(race)
    }

    fn records(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let graph = ["--from", "graph"];
        let mut contenders = vec![self.upcheck(Image::Warm, &graph)];
        contenders.push(self.upcheck(Image::Without, &graph).named("upcheck check, reads everything"));
        let listed = self.upcheck(Image::Without, &graph).with(&["--policy", "newer"]);
        contenders.push(listed.named("upcheck check, by times alone"));
        contenders.extend(self.floors()?);
        Ok(self.race(case, wishes, "nothing changed, inputs with records of success", contenders))
    }

    fn content(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let graph = ["--from", "graph"];
        let b3sum = run_tool("get-b3sum", B3SUM);
        let sums = "exec \"$0\" src/*/*";
        let b3sum = Contender::new("b3sum", &self.dir, Path::new("sh"), &["-c", sums], ANYTHING)
            .with(&[&b3sum.display().to_string()]);
        let contenders = vec![self.upcheck(Image::Without, &graph), b3sum];
        let race = self.race(case, wishes, "inputs touched and not changed", contenders);
        Ok(Race { image_dir: None, ..race })
    }

    /// Each of these builds, by the name of its contender, with nothing to do.
    fn builds(
        &self,
        case: Case,
        wishes: &Wishes<'_>,
        title: &str,
        builds: &[(&str, &str)],
    ) -> Result<Race, String> {
        let build = |&(name, kind): &(&str, &str)| {
            let dir = cmake::build_dir(&self.dir, kind);
            Contender::new(&format!("ninja, {name}"), &dir, Ninja::V1_13.path(), &[], ANYTHING)
        };
        let race = self.race(case, wishes, title, builds.iter().map(build).collect());
        Ok(Race { image_dir: None, ..race })
    }

    fn globs_race(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let builds = [
            ("upcheck_glob VERIFY", "verify"),
            ("upcheck_glob DIRS", "dirs"),
            ("CONFIGURE_DEPENDS", "cmake"),
            ("no look at globs", "plain"),
        ];
        let mut race = self.builds(case, wishes, "nothing to do, a hundred globs", &builds)?;
        // The look itself, without what ninja does around it.
        let dir = |kind| cmake::build_dir(&self.dir, kind);
        let verify = ["verify-globs", "CMakeFiles/upcheck/globs.cmake", "CMakeFiles/upcheck/globs.stamp"];
        race.contenders.insert(
            0,
            Contender::new("upcheck verify-globs", &dir("verify"), &self.shop.upcheck, &verify, ANYTHING),
        );
        let script = ["-P", "CMakeFiles/VerifyGlobs.cmake"];
        race.contenders.push(Contender::new(
            "cmake -P VerifyGlobs.cmake",
            &dir("cmake"),
            &cmake::cmake(),
            &script,
            ANYTHING,
        ));
        Ok(race)
    }

    fn makefiles_race(&self, case: Case, wishes: &Wishes<'_>) -> Result<Race, String> {
        let cmake = cmake::cmake();
        let build = ["--build", "."];
        let run = ["run", "--from", "cmake", "--", &cmake.display().to_string()];
        let mut contenders = vec![
            Contender::new("upcheck run -- cmake --build", &self.dir, &self.shop.upcheck, &run, ANYTHING)
                .with(&build),
            self.upcheck(Image::Warm, &["--from", "cmake"]),
            Contender::new("cmake --build", &self.dir, &cmake, &build, ANYTHING),
            Contender::new("make", &self.dir, Path::new("make"), &[], ANYTHING),
        ];
        contenders.extend(self.rivals(wishes));
        let race = self.race(case, wishes, "nothing to do, Makefiles of CMake", contenders);
        Ok(Race { image_dir: None, ..race })
    }

    fn race(&self, case: Case, wishes: &Wishes<'_>, title: &str, contenders: Vec<Contender>) -> Race {
        let mut notes = Vec::new();
        if !self.shop.has_images {
            notes.push("this upcheck has no --image-dir: it runs without an image everywhere".into());
        }
        if wishes.targets != USUAL_TARGETS {
            notes.push(format!("a trial: the usual size is --targets {USUAL_TARGETS}"));
        }
        Race {
            case: case.name(),
            title: title.into(),
            n_targets: self.looked.n_targets,
            n_files: self.looked.n_files(),
            rounds: wishes.rounds.min(case.most_rounds()),
            per_file: false,
            contenders,
            image_dir: self.shop.has_images.then(|| self.shop.image_dir(&self.name)),
            notes,
        }
    }
}

/// What upcheck has of an earlier run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Image {
    /// The image that an earlier run wrote.
    Warm,
    /// The same, in a folder that nobody else uses: it has not seen what others were shown.
    Apart,
    /// Nothing, and it is to write nothing either.
    Without,
    /// Nothing, so it writes an image each time.
    Written,
}

/// Contenders on this ground.
impl Ground<'_> {
    fn upcheck(&self, image: Image, args: &[&str]) -> Contender {
        let upcheck =
            Contender::new("upcheck check", &self.dir, &self.shop.upcheck, &["check"], NOTHING_TO_DO);
        let upcheck = upcheck.with(args);
        if !self.shop.has_images {
            return upcheck;
        }
        let kept = self.shop.image_dir(&self.name);
        let [apart, passing] =
            ["apart", "passing"].map(|what| self.shop.image_dir(&format!("{}-{what}", self.name)));
        let dir = |dir: &Path| dir.display().to_string();
        match image {
            Image::Without => upcheck.with(&["--no-image"]),
            Image::Warm => upcheck.with(&["--image-dir", &dir(&kept)]),
            Image::Apart => upcheck.with(&["--image-dir", &dir(&apart)]),
            Image::Written => upcheck.with(&["--image-dir", &dir(&passing)]).before(Before::Empty(passing)),
        }
    }

    fn ninja(&self, ninja: Ninja, args: &[&str]) -> Contender {
        let (dir, options) = match ninja {
            Ninja::V1_11 => (&self.dir_of_1_11, self.options_of_1_11),
            _ => (&self.dir, &[][..]),
        };
        Contender::new(&ninja_name(ninja, args), dir, ninja.path(), options, NO_WORK).with(&["-n"]).with(args)
    }

    fn floors(&self) -> Result<[Contender; 2], String> {
        Ok([
            self.floor(&self.looked, 1, "")?.named("floor (1 thread)"),
            self.floor(&self.looked, 2, "")?.named(FLOOR),
        ])
    }

    fn floor(&self, looked: &Looked, n_threads: usize, suffix: &str) -> Result<Contender, String> {
        let list = self.shop.list(&format!("{}{suffix}-{n_threads}", self.name));
        let failed = |error| format!("{}: {error}", list.display());
        let list = looked.write(list.clone(), n_threads).map_err(failed)?.display().to_string();
        let expected = Expected::Begins(format!("{} files, ", looked.n_files()).into());
        Ok(Contender::new("floor", &self.dir, &self.shop.floor, &[&list], expected))
    }

    fn rivals(&self, wishes: &Wishes<'_>) -> Vec<Contender> {
        let rival = |&(name, command): &(&str, &str)| {
            let command = format!("exec {command}");
            Contender::new(name, &self.dir, Path::new("sh"), &["-c", &command], ANYTHING)
        };
        wishes.rivals.iter().map(rival).collect()
    }
}

fn ninja_name(ninja: Ninja, args: &[&str]) -> String {
    let args: String = args.iter().map(|arg| format!(" {arg}")).collect();
    format!("ninja {} -n{args}", ninja.number())
}
