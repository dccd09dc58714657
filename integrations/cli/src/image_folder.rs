//! Where images are kept: where the user says, else in the user's cache folder.

use crate::args::Common;
use crate::run::bytes_of;
use etcetera::BaseStrategy;
use std::path::PathBuf;
use upcheck::collect::OneName;
use upcheck::content::DigestCache;
use upcheck::image::ImageFolder;
use upcheck::project::Settled;
use upcheck_ninja::Images;

/// Where images of the build directory are kept; `None` where none are wanted, or there is no place for them.
pub(crate) fn images(common: &Common) -> Option<Images> {
    let folder = folder(common)?;
    let place = upcheck::os_path::canonicalize(&common.directory).ok()?;
    Some(Images::new(folder, bytes_of(place.into_os_string())))
}

/// The digests that earlier checks found, which serve all builds.
pub(crate) fn digests(common: &Common) -> Option<DigestCache> {
    Some(DigestCache::open(ImageFolder::new(folder(common)?), DigestCache::NAME))
}

/// Where it is kept that everything was fresh, for a question of which these are the words.
pub(crate) fn settled(common: &Common, words: &str, sources: Vec<Vec<u8>>) -> Option<Settled> {
    let place = upcheck::os_path::canonicalize(&common.directory).ok()?;
    let question = [words.as_bytes(), b"\0", &bytes_of(place.into_os_string())].concat();
    Some(Settled::new(ImageFolder::new(folder(common)?), question, sources))
}

/// Which files of a directory have one name only, as earlier checks learnt.
pub(crate) fn one_name(common: &Common) -> Option<OneName> {
    let place = upcheck::os_path::canonicalize(&common.directory).ok()?;
    Some(OneName::open(ImageFolder::new(folder(common)?), &bytes_of(place.into_os_string())))
}

fn folder(common: &Common) -> Option<PathBuf> {
    if common.no_image {
        return None;
    }
    let told = common.image_dir.clone().filter(|folder| !folder.as_os_str().is_empty());
    told.or_else(default_folder)
}

/// `$XDG_CACHE_HOME/upcheck`, else `~/.cache/upcheck`; `%LOCALAPPDATA%\\upcheck` on Windows. A home that is relative
/// could be the build directory, in which nothing is ever written.
fn default_folder() -> Option<PathBuf> {
    let folder = etcetera::choose_base_strategy().ok()?.cache_dir().join("upcheck");
    folder.is_absolute().then_some(folder)
}
