//! Damaged images: it is as if they were not there.

use crate::asking::Image::{self, AtOnce, Made, Used};
use crate::asking::{OLD, ask_later, fresh, space, stale};
use crate::command::{Ran, upcheck_in};
use std::fs;
use std::path::PathBuf;
use upcheck::collect::os_disk;
use upcheck::image::checksum;
use upcheck_tests::answer::{Asked, Details, Later, Question, ask, build, images};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Something of everything that an image holds.
const ALL: &str = "rule cc\n  command = echo $out: a h > $out.d; cat $in > $out\n  depfile = $out.d\n\
                   rule logged\n  command = echo $out: b h > $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\n\
                   rule plain\n  command = cat $in > $out\n\
                   rule x\n  command = cat $in > $out; touch x\n\
                   build a.o: cc a\nbuild b.o: logged b |@ check\nbuild c.o: x c || dd\n  dyndep = dd\n\
                   build check: plain c\nbuild other: plain x.in\nbuild prog: plain a.o b.o c.o || order\n\
                   build order: phony a b\nbuild all: phony prog\ndefault all check\n";

fn everything(is_fresh: bool) -> Space {
    let dd = "ninja_dyndep_version = 1\nbuild c.o | x: dyndep | h\n";
    let files = [("build.ninja", ALL), ("a", ""), ("b", ""), ("c", ""), ("h", ""), ("x.in", ""), ("dd", dd)];
    let space = space(&files);
    build(&space, Ninja::V1_13, &Question::default());
    build(&space, Ninja::V1_13, &Question::about(&["other"]));
    if !is_fresh {
        space.write("h", "changed");
    }
    space
}

/// A build directory with its image and its state.
struct Whole {
    space: Space,
    is_fresh: bool,
    image: PathBuf,
    state: PathBuf,
    image_bytes: Vec<u8>,
    state_bytes: Vec<u8>,
    answer: Option<Details>,
}

impl Whole {
    fn new(is_fresh: bool) -> Self {
        let space = everything(is_fresh);
        let found = if is_fresh { fresh(Made) } else { stale(Made) };
        assert_eq!(ask_later(&space, Ninja::V1_13), found);
        let [image, state] = ["image", "state"].map(|kind| find(&space, kind));
        let (image_bytes, state_bytes) =
            (fs::read(&image).expect("an image"), fs::read(&state).expect("a state"));
        let mut whole = Self { space, is_fresh, image, state, image_bytes, state_bytes, answer: None };
        whole.is_used();
        whole.learn();
        whole
    }

    fn both() -> [Self; 2] {
        [true, false].map(Self::new)
    }

    /// Asks with such files in the folder, and once more: by then there is a good image again.
    #[track_caller]
    fn ask_with(&self, image: &[u8], state: &[u8], what: &str) {
        fs::write(&self.image, image).expect("an image");
        fs::write(&self.state, state).expect("a state");
        let found = self.ask(true);
        assert_eq!(found.details.is_fresh(), self.is_fresh, "{what}");
        assert!(self.answer.as_ref().is_none_or(|answer| *answer == found.details), "{what}: {found:?}");
        let again = self.ask(true);
        let image = Image::of(&again);
        assert_eq!(image, if self.is_fresh { AtOnce } else { Used }, "{what}, then {found:?}");
        assert_eq!(again.details, found.details, "{what}");
    }

    fn ask(&self, with_image: bool) -> Asked {
        let disk = Later(os_disk(self.space.path()).expect("a directory"));
        let images = images(&self.space);
        let images = with_image.then_some(&images);
        ask(&disk, Ninja::V1_13, &Question::default(), false, images).expect("an answer")
    }

    /// What the answer is without an image.
    fn learn(&mut self) {
        self.answer = Some(self.ask(false).details);
    }

    #[track_caller]
    fn is_used(&self) {
        self.ask_with(&self.image_bytes, &self.state_bytes, "nothing is wrong");
    }
}

fn find(space: &Space, kind: &str) -> PathBuf {
    let entries = fs::read_dir(space.images()).expect("a folder of images");
    let paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let is_it = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == kind);
    paths.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} in {paths:?}")).clone()
}

#[test]
fn every_byte_that_is_flipped() {
    let both = Whole::both();
    // Every other byte with everything fresh.
    for at in 0..both[0].image_bytes.len() {
        let whole = &both[at % 2];
        let mut bytes = whole.image_bytes.clone();
        bytes[at] ^= 1 << (at / 2 % 8);
        whole.ask_with(&bytes, &whole.state_bytes, &format!("byte {at} of the image"));
    }
    for at in 0..both[0].state_bytes.len() {
        let whole = &both[at % 2];
        let mut bytes = whole.state_bytes.clone();
        bytes[at] ^= 0xff;
        whole.ask_with(&whole.image_bytes, &bytes, &format!("byte {at} of the state"));
    }
}

#[test]
fn every_length_that_is_left() {
    let both = Whole::both();
    for length in 0..both[0].image_bytes.len() {
        let (whole, what) = (&both[length % 2], format!("the image cut to {length} bytes"));
        whole.ask_with(&whole.image_bytes[..length], &whole.state_bytes, &what);
    }
    for length in 0..both[0].state_bytes.len() {
        let (whole, what) = (&both[length % 2], format!("the state cut to {length} bytes"));
        whole.ask_with(&whole.image_bytes, &whole.state_bytes[..length], &what);
    }
    for whole in both {
        for more in [1, 8, 64, 4096] {
            for filler in [0, 0xff] {
                let longer = |bytes: &[u8]| [bytes, &vec![filler; more]].concat();
                whole.ask_with(&longer(&whole.image_bytes), &whole.state_bytes, "a longer image");
                whole.ask_with(&whole.image_bytes, &longer(&whole.state_bytes), "a longer state");
            }
        }
    }
}

#[test]
fn files_that_are_no_images() {
    for whole in Whole::both() {
        let text = b"upcheck\n".repeat(1000);
        let noise: Vec<u8> = (0..5000u64).map(|n| checksum(&n.to_ne_bytes()).to_ne_bytes()[0]).collect();
        for other in [&b""[..], b"\n", &[0; 64], &[0xff; 96], &[0; 10_000], &text, &noise] {
            whole.ask_with(other, &whole.state_bytes, "another image");
            whole.ask_with(&whole.image_bytes, other, "another state");
            whole.ask_with(other, other, "both");
        }
        whole.ask_with(&whole.state_bytes, &whole.image_bytes, "one for the other");
        whole.ask_with(&whole.image_bytes, &whole.image_bytes, "the image for the state");
        whole.ask_with(&whole.state_bytes, &whole.state_bytes, "the state for the image");
    }
}

#[test]
fn images_of_another_version_or_byte_order() {
    for whole in Whole::both() {
        // Magic, byte order, version, as the format has them.
        for (at, change) in [(0, 1u32), (8, 0x0403_0201 ^ 0x0102_0304), (12, 1), (12, 2), (12, 4), (12, !0)] {
            for which in 1..=3 {
                let changed = |bytes: &[u8]| {
                    let mut bytes = bytes.to_vec();
                    for (byte, change) in bytes[at..].iter_mut().zip(change.to_ne_bytes()) {
                        *byte ^= change;
                    }
                    bytes
                };
                let image =
                    if which & 1 != 0 { changed(&whole.image_bytes) } else { whole.image_bytes.clone() };
                let state =
                    if which & 2 != 0 { changed(&whole.state_bytes) } else { whole.state_bytes.clone() };
                whole.ask_with(&image, &state, &format!("{change:#x} at {at}"));
            }
        }
    }
}

#[test]
fn images_and_states_of_others() {
    let [mut one, other] = Whole::both();
    one.ask_with(&other.image_bytes, &other.state_bytes, "of another build directory");
    one.ask_with(&other.image_bytes, &one.state_bytes, "the image of another build directory");
    one.ask_with(&one.image_bytes, &other.state_bytes, "the state of another build directory");
    // Of the same directory, but of another image.
    one.space.write_at("build.ninja", format!("{ALL}#\n"), OLD);
    assert_eq!(ask_later(&one.space, Ninja::V1_13), fresh(Made));
    let (new_image, new_state) =
        (fs::read(&one.image).expect("an image"), fs::read(&one.state).expect("a state"));
    one.ask_with(&new_image, &one.state_bytes, "an old state");
    one.ask_with(&one.image_bytes, &new_state, "an old image");
    one.ask_with(&one.image_bytes, &one.state_bytes, "both old");
    one.space.write("h", "changed");
    one.is_fresh = false;
    one.learn();
    for (image, state) in [(&new_image, &new_state), (&one.image_bytes, &one.state_bytes)] {
        one.ask_with(image, state, "of before something changed");
    }
}

// ---- right checksums ----------------------------------------------------------------------------------------

const HEADER: usize = 64;
const ENTRY: usize = 32;

/// The tables of an image, by name.
fn tables(image: &[u8]) -> Vec<([u8; 8], Vec<u8>)> {
    let number = |at: usize| usize::from_ne_bytes(image[at..at + 8].try_into().expect("eight bytes"));
    let n_tables = u32::from_ne_bytes(image[24..28].try_into().expect("four bytes")) as usize;
    let entry = |table: usize| {
        let at = HEADER + table * ENTRY;
        let (start, length) = (number(at + 8), number(at + 16));
        (image[at..at + 8].try_into().expect("eight bytes"), image[start..start + length].to_vec())
    };
    (0..n_tables).map(entry).collect()
}

/// An image of these tables with everything about it right, and its id.
fn image_of(header: &[u8], tables: &[([u8; 8], Vec<u8>)]) -> (Vec<u8>, u64) {
    let mut entries = Vec::new();
    let mut bodies = Vec::new();
    for (name, bytes) in tables {
        let start = (HEADER + tables.len() * ENTRY + bodies.len()).next_multiple_of(64);
        bodies.resize(start - HEADER - tables.len() * ENTRY, 0);
        bodies.extend_from_slice(bytes);
        entries.extend_from_slice(name);
        for number in [start as u64, bytes.len() as u64, checksum(bytes)] {
            entries.extend(number.to_ne_bytes());
        }
    }
    let mut image = header[..HEADER].to_vec();
    let id = checksum(&entries);
    image[16..24].copy_from_slice(&((HEADER + entries.len() + bodies.len()) as u64).to_ne_bytes());
    image[32..40].copy_from_slice(&id.to_ne_bytes());
    (([image, entries, bodies]).concat(), id)
}

/// Every image in which one table has another length.
fn of_wrong_length(image: &[u8]) -> Vec<(String, Vec<u8>, u64)> {
    let good = tables(image);
    let mut all = Vec::new();
    for at in 0..good.len() {
        let bytes = &good[at].1;
        let shorter = |n: usize| bytes[..bytes.len().saturating_sub(n)].to_vec();
        let longer = |n: usize, filler| [&bytes[..], &vec![filler; n]].concat();
        let twice = [&bytes[..], bytes].concat();
        let others = [
            shorter(1),
            shorter(4),
            shorter(8),
            shorter(20),
            shorter(48),
            shorter(bytes.len() / 2),
            Vec::new(),
        ];
        let more = [longer(1, 0), longer(4, 0), longer(8, 0), longer(48, 0xff), longer(240, 0), twice];
        for other in others.into_iter().chain(more).filter(|other| other != bytes) {
            let mut tables = good.clone();
            let what = format!(
                "{} of {} for {} bytes",
                String::from_utf8_lossy(&good[at].0),
                other.len(),
                bytes.len()
            );
            tables[at].1 = other;
            let (image, id) = image_of(image, &tables);
            all.push((what, image, id));
        }
    }
    all
}

/// A state that belongs to an image of that id.
fn state_for(state: &[u8], id: u64) -> Vec<u8> {
    let mut tables = tables(state);
    let report = tables.iter_mut().find(|(name, _)| name.starts_with(b"report")).expect("a report");
    report.1[..8].copy_from_slice(&id.to_ne_bytes());
    image_of(state, &tables).0
}

#[test]
fn tables_of_wrong_length_with_right_checksums() {
    for whole in Whole::both() {
        let (image, id) = image_of(&whole.image_bytes, &tables(&whole.image_bytes));
        assert_eq!(
            (&image, state_for(&whole.state_bytes, id)),
            (&whole.image_bytes, whole.state_bytes.clone())
        );
        for (what, image, id) in of_wrong_length(&whole.image_bytes) {
            whole.ask_with(&image, &state_for(&whole.state_bytes, id), &what);
        }
        for (what, state, _) in of_wrong_length(&whole.state_bytes) {
            whole.ask_with(&whole.image_bytes, &state, &what);
        }
    }
}

// ---- the command --------------------------------------------------------------------------------------------

#[test]
fn the_command_answers_the_same_and_makes_a_good_image() {
    let space = everything(true);
    let upcheck = |space: &Space, args: &str| {
        let mut command = upcheck_in(space.path());
        command.args(args.split_whitespace()).arg("--image-dir").arg(space.images());
        Ran::new(command.output().expect("upcheck starts"))
    };
    for (is_fresh, status) in [(true, 0), (false, 1)] {
        if !is_fresh {
            space.write("h", "changed");
        }
        let expected = upcheck(&space, "--explain --commands --no-image");
        assert_eq!(expected.status, status);
        assert_eq!(upcheck(&space, "--explain --commands"), expected);
        let files = [find(&space, "image"), find(&space, "state")];
        let good = files.clone().map(|file| fs::read(file).expect("an image"));
        for (which, file) in files.iter().enumerate() {
            for at in (0..good[which].len()).step_by(97) {
                for cut in [true, false] {
                    let mut bytes = good[which].clone();
                    bytes[at] ^= 0x55;
                    fs::write(file, if cut { &bytes[..at] } else { &bytes[..] }).expect("a damaged image");
                    assert_eq!(
                        upcheck(&space, "--explain --commands"),
                        expected,
                        "{at} of {}",
                        file.display()
                    );
                    let json: serde_json::Value =
                        serde_json::from_str(&upcheck(&space, "--format json").answer(status)).expect("JSON");
                    let image = json["summary"]["image"].as_str().expect("a word");
                    assert!(["used", "updated"].contains(&image), "{image}");
                }
            }
        }
    }
}
