//! What is mounted and unmounted, and file systems that nobody vouches for; in mount namespaces of their own.

use crate::World;
use std::fs;
use std::path::Path;
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_watch::{View, Why};

/// What a test inside says where it does not get what it needs.
const NOT_ALLOWED: &str = "not allowed here: ";

/// Runs tests of this suite in a mount namespace of its own, so that nothing stays mounted.
fn inside(test: &str) {
    let own = std::env::current_exe().expect("this program");
    let view = View::here().expect("a view").to_bytes();
    let mut command = Command::new("unshare");
    command.args(["-m", "--propagation", "private"]).arg(own);
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    let output = match command.env("UPCHECK_TEST_VIEW", format!("{view:?}")).output() {
        Ok(output) => output,
        Err(error) => return not_tested(&format!("mounts; starting unshare: {error}")),
    };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if said.starts_with("unshare: ") {
        return not_tested(&format!("mounts; {}", said.trim()));
    }
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    for line in said.lines().filter_map(|line| line.strip_prefix(NOT_ALLOWED)) {
        not_tested(line);
    }
}

/// Mounts, or says that it may not.
fn mount(arguments: &[&str], at: &Path) -> bool {
    run(Command::new("mount").args(arguments).arg(at))
}

fn unmount(arguments: &[&str], at: &Path) {
    assert!(run(Command::new("umount").args(arguments).arg(at)), "what was mounted can be unmounted");
}

fn run(command: &mut Command) -> bool {
    let output = command.output().expect("a program");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = format!("\n{NOT_ALLOWED}{command:?}: {}\n", said.trim().replace('\n', " "));
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
    output.status.success()
}

#[test]
fn what_is_mounted_on_top_of_a_directory_or_a_file_is_seen() {
    inside("mounts::inside_on_top");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_on_top() {
    let world = World::new(&["d/a", "d/b", "d/e/a", "f", "../outside"]);
    for path in ["d/a", "d/e/a", "f", "other/a", "other/e/a", "other/f"] {
        world.space.write(path, path);
    }
    assert_eq!(world.settle(), 0);
    let (directory, file) = (world.full("d"), world.full("f"));
    let other = world.text("other");
    for (arguments, at) in [
        (&["-t", "tmpfs", "none"][..], &directory),
        (&["--bind", &other], &directory),
        (&["--bind", &format!("{other}/f")], &file),
    ] {
        assert!(mount(arguments, at), "root may mount in a namespace of its own");
        let asked = world.look();
        assert_eq!((asked.forgotten, world.memory.why()), (1, Some(Why::Mounts)), "{arguments:?}");
        // What is seen now is what is watched now.
        world.settle();
        world.space.write("d/a", "1");
        assert_eq!(world.asked(), 1);
        world.space.write("other/a", "1");
        world.space.write("other/f", "22");
        world.look();
        unmount(if arguments[0] == "-t" { &["-l"] } else { &[] }, at);
        assert_eq!(world.look().forgotten, 1, "{arguments:?}");
        assert_eq!(world.settle(), 0);
    }
    // One whose files are on another file system than it is itself, is asked for them.
    assert!(mount(&["--bind", "/dev/null"], &file));
    world.look();
    assert_eq!(world.settle(), 1);
    // Somewhere else entirely: that may be seen by nobody here, but who knows.
    assert!(mount(&["-t", "tmpfs", "none"], &world.full("other")));
    assert_eq!(world.look().forgotten, 1);
}

#[test]
fn a_file_system_that_goes_away_with_all_that_is_on_it_is_seen() {
    inside("mounts::inside_going_away");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_going_away() {
    let world = World::new(&["m/d/a", "m/b", "c"]);
    world.space.write("m/d/a", "below");
    world.space.write("c", "1");
    let at = world.full("m");
    for _ in 0..3 {
        assert!(mount(&["-t", "tmpfs", "none"], &at));
        world.space.write("m/d/a", "on top");
        world.settle();
        world.space.write("m/b", "1");
        world.look();
        unmount(&[], &at);
        world.look();
        assert_eq!(world.settle(), 0);
    }
}

#[test]
fn layers_are_not_vouched_for() {
    inside("mounts::inside_layers");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_layers() {
    let outer = Space::new();
    let at = |name: &str| outer.path().join(name);
    for name in ["upper", "both"] {
        fs::create_dir(at(name)).expect("a directory");
    }
    outer.write("lower/d/a", "1");
    outer.write("lower/d/b", "1");
    if !mount(&["-t", "tmpfs", "none"], &at("upper")) {
        return;
    }
    outer.write("upper/upper/x", "");
    outer.write("upper/work/x", "");
    outer.remove("upper/work/x");
    let [lower, upper, work] =
        ["lower", "upper/upper", "upper/work"].map(|name| at(name).display().to_string());
    let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    if !mount(&["-t", "overlay", "none", "-o", &layers], &at("both")) {
        return;
    }
    let world = World::at(Space::new(), at("both"), &["d/a", "d/b"]);
    assert_eq!(world.settle(), 2);
    // A layer that is changed on its own tells nobody.
    outer.write("lower/d/b", "22");
    world.look();
    unmount(&[], &at("both"));
    unmount(&["-l"], &at("upper"));
}

#[test]
fn the_upper_layer_of_others_is_not_vouched_for_itself() {
    inside("mounts::inside_upper_layer");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_upper_layer() {
    let space = Space::new();
    let at = space.path().to_path_buf();
    for name in ["m", "lower", "both"] {
        fs::create_dir(at.join(name)).expect("a directory");
    }
    if !mount(&["-t", "tmpfs", "none"], &at.join("m")) {
        return;
    }
    space.write("m/an upper/d/a", "1");
    space.write("m/beside/a", "1");
    fs::create_dir(at.join("m/work")).expect("a directory");
    let layers =
        "lowerdir=lower,upperdir=m/an upper,workdir=m/work".replace('=', &format!("={}/", at.display()));
    let base = at.join("m");
    let world = World::at(space, base, &["an upper/d/a", "beside/a"]);
    assert_eq!(world.settle(), 0);
    if !mount(&["-t", "overlay", "none", "-o", &layers], &at.join("both")) {
        return;
    }
    world.look();
    assert_eq!(world.settle(), 1);
    // Not every kernel tells of what it writes for an upper layer.
    let file = fs::OpenOptions::new().write(true).open(at.join("both/d/a")).expect("a file");
    std::io::Write::write_all(&mut &file, b"longer").expect("a write");
    world.look();
    drop(file);
    world.look();
    unmount(&[], &at.join("both"));
    unmount(&["-l"], &at.join("m"));
}

#[test]
fn other_file_systems_are_vouched_for_if_they_are_known_to_tell() {
    inside("mounts::inside_others");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_others() {
    let kinds = [
        ("mkfs.ext4 -q", "ext4", 0),
        ("mkfs.ext4 -q -I 128", "ext4", 0),
        ("mkfs.ext4 -q -O casefold", "ext4", 0),
        ("mkfs.xfs -q", "xfs", 0),
        ("mkfs.btrfs -q", "btrfs", 0),
        ("mkfs.f2fs -q", "f2fs", 0),
        ("mkfs.vfat", "vfat", 2),
    ];
    for (make, kind, n_asked) in kinds {
        let outer = Space::new();
        let image = outer.path().join("image");
        let size = if kind == "ext4" || kind == "vfat" { 16 << 20 } else { 400 << 20 };
        fs::File::create(&image).and_then(|file| file.set_len(size)).expect("an image");
        let there = outer.path().join("there");
        fs::create_dir(&there).expect("a directory");
        let made = run(Command::new("sh").args(["-c", &format!("{make} \"$1\""), "sh"]).arg(&image));
        let image = image.display().to_string();
        if !made || !mount(&["-o", "loop", "-t", kind, &image], &there) {
            continue;
        }
        let write = |name: &str, text: &str| fs::write(there.join(name), text).expect("a file");
        fs::create_dir(there.join("d")).expect("a directory");
        write("a", "1");
        write("d/a", "1");
        let world = World::at(Space::new(), there.clone(), &["a", "d/a"]);
        assert_eq!(world.settle(), n_asked, "{make}");
        for _ in 0..3 {
            write("d/a", "22");
            fs::rename(there.join("d"), there.join("e")).expect("a renaming");
            world.look();
            fs::rename(there.join("e"), there.join("d")).expect("a renaming");
            world.look();
        }
        if make.ends_with("casefold")
            && run(Command::new("chattr").arg("+F").arg({
                fs::create_dir(there.join("Folded")).expect("a directory");
                there.join("Folded")
            }))
        {
            write("Folded/A", "1");
            let world = World::at(Space::new(), there.clone(), &["Folded/a", "Folded/B"]);
            assert_eq!(world.settle(), 2, "names are found in other spellings");
            write("Folded/A", "22");
            write("Folded/b", "22");
            world.look();
        }
        unmount(&[], &there);
        world.look();
    }
}

#[test]
fn who_stands_in_another_namespace_has_another_view() {
    inside("mounts::inside_view");
}

#[test]
#[ignore = "run by the one above, in a namespace of its own"]
fn inside_view() {
    let view = format!("{:?}", View::here().expect("a view").to_bytes());
    assert_eq!(view, format!("{:?}", View::here().expect("a view").to_bytes()));
    if let Ok(outside) = std::env::var("UPCHECK_TEST_VIEW") {
        assert_ne!(view, outside);
    }
}
