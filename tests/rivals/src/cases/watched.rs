//! Builds that a daemon watches, against the same without it: nothing changed, one file, many files at once, and the first time.

use super::{ANYTHING, Case, Expected, Ground, Image, NO_WORK, NOTHING_TO_DO, Wishes};
use crate::contender::{Before, Contender};
use crate::graph::Shape;
use crate::race::Race;
use std::path::{Path, PathBuf};
use upcheck_tests::tools::Ninja;

/// So many sources change at once, at most.
const MANY: usize = 10_000;

/// Why it cannot be measured here.
pub(super) fn obstacle() -> Option<String> {
    (!cfg!(target_os = "linux")).then(|| "there is no daemon here".into())
}

impl Ground<'_> {
    pub(super) fn watched(&self, case: Case, wishes: &Wishes<'_>, shape: Shape) -> Result<Race, String> {
        let sources: Vec<PathBuf> = shape.sources().take(MANY).map(|source| self.dir.join(source)).collect();
        let many = format!("{} sources changed", sources.len());
        let one = vec![self.dir.join(shape.some_source())];
        let asked = |image| {
            let watch: &[&str] = if image == Image::Warm { &["--watch"] } else { &["--no-watch"] };
            self.upcheck(image, watch)
        };
        let changed = |image, files: &[PathBuf], what: &str| {
            let before = asked(image).before(match image {
                Image::Warm => Before::Settle(Box::new(asked(image))),
                _ => Before::Nothing,
            });
            let name = format!("{}, {what}", name(image));
            asked(image)
                .with(&["-q"])
                .named(&name)
                .before(Before::RunThenTouch(Box::new(before), files.to_vec()))
                .expecting(Expected::Silent(1))
        };
        let quiet = |image: Image| asked(image).named(name(image)).expecting(NOTHING_TO_DO);
        let stop = Contender::new("stop", &self.dir, &self.shop.upcheck, &["watch", "stop"], ANYTHING);
        let mut contenders = vec![
            quiet(Image::Warm).before(Before::Settle(Box::new(asked(Image::Warm)))),
            Contender::new("a process that does nothing", &self.dir, Path::new("true"), &[], ANYTHING),
            quiet(Image::Apart),
            quiet(Image::Without),
            Contender::new("ninja 1.13 -n", &self.dir, Ninja::V1_13.path(), &["-n"], NO_WORK),
        ];
        for (files, what) in [(&one, "one source changed"), (&sources, many.as_str())] {
            contenders
                .extend([Image::Warm, Image::Apart, Image::Without].map(|image| changed(image, files, what)));
        }
        let first = quiet(Image::Warm).named("upcheck check --watch, which starts the daemon");
        contenders.push(first.before(Before::Run(Box::new(stop))));
        contenders.extend(self.floors()?);
        contenders.extend(self.rivals(wishes));
        Ok(self.race(case, wishes, "watched by a daemon, and not", contenders))
    }
}

fn name(image: Image) -> &'static str {
    match image {
        Image::Warm | Image::Written => "upcheck check, watched",
        Image::Apart => "upcheck check --no-watch",
        Image::Without => "upcheck check --no-watch --no-image",
    }
}
