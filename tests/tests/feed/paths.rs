//! What happens to where paths lead: directories that are replaced, links that are turned, permissions that are taken.

use crate::{World, link};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn rename(world: &World, from: &str, to: &str) {
    fs::rename(world.full(from), world.full(to)).expect("a renaming");
}

/// A build directory beside its sources, and another set of both to put in their places.
fn world() -> World {
    let space = upcheck_tests::space::Space::new();
    for tree in ["one", "two"] {
        for path in ["build/out/a", "build/out/deep/er/a", "src/a", "src/deep/a"] {
            space.write(&format!("{tree}/{path}"), tree);
        }
    }
    space.write("one/build/only-one", "1");
    let base = space.path().join("one/build");
    let wanted = ["out/a", "out/deep/er/a", "../src/a", "../src/deep/a", "only-one", "../src/b"];
    let world = World::at(space, base, &wanted);
    assert_eq!(world.settle(), 0);
    world
}

#[test]
fn a_directory_that_is_replaced_takes_all_beneath_it_along() {
    for (directory, n_beneath) in
        [("out", 2), ("out/deep", 1), ("out/deep/er", 1), ("../src", 3), ("../src/deep", 1)]
    {
        let world = world();
        let two =
            format!("../../two/{}", directory.strip_prefix("../").unwrap_or(&format!("build/{directory}")));
        rename(&world, directory, "../../gone");
        rename(&world, &two, directory);
        assert_eq!(world.asked(), n_beneath, "{directory}");
        assert_eq!(world.settle(), 0);
        // It is watched as well as the one that was there.
        let one = "../src/a";
        fs::write(world.full(one), "new").expect("a write");
        assert_eq!(world.asked(), 1, "{directory}");
        // What went away may be asked for in vain: its files are watched until they are removed or renamed.
        if directory == "out" {
            fs::write(world.full("../../gone/a"), "new").expect("a write");
            assert!(world.asked() <= 1);
        }
    }
}

#[test]
fn a_directory_that_goes_away_and_comes_back_is_looked_at_again() {
    let world = world();
    rename(&world, "out", "../../gone");
    assert_eq!(world.asked(), 2);
    fs::write(world.full("../../gone/a"), "new").expect("a write");
    rename(&world, "../../gone", "out");
    assert_eq!(world.asked(), 2);
}

#[test]
fn two_directories_that_are_exchanged_are_both_looked_at() {
    let world = world();
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    let cwd = rustix::fs::CWD;
    rustix::fs::renameat_with(cwd, world.full("out"), cwd, world.full("../src"), flags).expect("an exchange");
    assert_eq!(world.asked(), 5);
}

#[test]
fn the_base_that_is_replaced_is_looked_at_again_even_if_it_is_held_open() {
    let world = world();
    let open = fs::File::open(&world.base).expect("the base");
    rename(&world, "../../one", "../../gone");
    fs::rename(world.space.path().join("two"), world.space.path().join("one")).expect("a renaming");
    assert_eq!(world.asked(), 6);
    drop(open);
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_disk_whose_base_is_another_directory_by_now_does_not_use_the_memory() {
    use upcheck::Plan;
    use upcheck::collect::{UnixDisk, collect};
    let world = world();
    let old = UnixDisk::new(&world.base).expect("the base");
    rename(&world, "../../one", "../../gone");
    fs::rename(world.space.path().join("two"), world.space.path().join("one")).expect("a renaming");
    for _ in 0..3 {
        world.look();
        let plan = Plan::new(&world.files, world.files.ids());
        let watched = collect(&upcheck_watch::WatchedDisk::new(&old, &world.memory), &plan, 1);
        let plain = collect(&old, &plan, 1);
        for file in world.files.ids() {
            assert_eq!(watched.stat(file), plain.stat(file), "{}", world.files.path(file).escape_ascii());
        }
    }
}

#[test]
fn an_empty_directory_that_is_made_again_is_not_mistaken_for_the_old_one() {
    let world = World::new(&["d/a"]);
    fs::create_dir(world.full("d")).expect("a directory");
    assert_eq!(world.settle(), 0);
    // Somebody stands in it, so it is not told that it is gone.
    let open = fs::File::open(world.full("d")).expect("a directory");
    fs::remove_dir(world.full("d")).expect("a removal");
    world.space.write("d/a", "1");
    assert_eq!(world.asked(), 1);
    drop(open);
}

#[test]
fn links_in_a_path_are_watched_and_what_they_lead_to() {
    let world = World::new(&["current/a", "l/x/a", "../outside/a"]);
    for path in ["v1/a", "v2/a", "real/x/a"] {
        world.space.write(path, path);
    }
    link("v1", &world.full("current"));
    link("m", &world.full("l"));
    link(world.full("real"), &world.full("m"));
    assert_eq!(world.settle(), 0);
    // The link is turned.
    link("v2", &world.full("next"));
    rename(&world, "next", "current");
    assert_eq!(world.asked(), 1);
    // What it leads to changes, is replaced, and goes away.
    world.space.write("v2/a", "3");
    assert_eq!(world.asked(), 1);
    world.space.write("v1/a", "not in use");
    assert!(world.asked() <= 1);
    rename(&world, "v2", "v3");
    assert_eq!(world.asked(), 1);
    rename(&world, "v1", "v2");
    assert_eq!(world.asked(), 1);
    // A link to a link.
    fs::remove_file(world.full("m")).expect("a removal");
    assert_eq!(world.asked(), 1);
    link("v2/..", &world.full("m"));
    assert_eq!(world.asked(), 1);
    world.space.write("x/a", "1");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_way_up_out_of_a_link_leads_to_where_the_link_does() {
    // `far/..` is `elsewhere`, not the base. The names are as a canonical path may have them.
    let world = World::new(&["near/a"]);
    world.space.write("elsewhere/deep/x", "");
    world.space.write("elsewhere/a", "1");
    link("elsewhere/deep", &world.full("far"));
    link("far/..", &world.full("near"));
    assert_eq!(world.settle(), 0);
    world.space.write("elsewhere/a", "22");
    assert_eq!(world.asked(), 1);
    world.space.write("other/deep/x", "");
    world.space.write("other/a", "333");
    fs::remove_file(world.full("far")).expect("a removal");
    link("other/deep", &world.full("far"));
    assert_eq!(world.asked(), 1);
    assert_eq!(world.settle(), 0);
}

#[test]
fn links_in_circles_and_too_many_are_left_to_the_disk() {
    let world = World::new(&["loop/a", "l0/a"]);
    link("loop", &world.full("loop"));
    world.space.write("l60/a", "1");
    for n in 0..60 {
        link(format!("l{}", n + 1), &world.full(&format!("l{n}")));
    }
    assert_eq!(world.settle(), 2);
    fs::remove_file(world.full("l50")).expect("a removal");
    fs::remove_file(world.full("loop")).expect("a removal");
    world.space.write("loop/a", "1");
    world.asked();
    assert_eq!(world.settle(), 1);
}

#[test]
fn a_file_that_becomes_a_directory_and_back_is_seen() {
    let world = World::new(&["d/a", "d"]);
    world.space.write("d", "1");
    world.settle();
    world.space.remove("d");
    world.space.write("d/a", "1");
    world.asked();
    fs::remove_dir_all(world.full("d")).expect("a removal");
    world.space.write("d", "1");
    world.asked();
    assert_eq!(world.settle(), 0);
}

/// Root may do everything: what is forbidden to others is looked at by them.
#[test]
fn permissions_on_the_way_are_part_of_the_answer() {
    if crate::is_root() {
        let ran = run_as_nobody("paths::inside_permissions");
        return assert!(ran, "as nobody");
    }
    inside_permissions();
}

#[test]
#[ignore = "run by the one above, if that is run by root"]
fn inside_permissions() {
    assert!(!crate::is_root());
    let world = World::new(&["d/e/a", "d/a"]);
    world.space.write("d/e/a", "1");
    world.space.write("d/a", "1");
    assert_eq!(world.settle(), 0);
    let set = |path: &str, mode| {
        fs::set_permissions(world.full(path), fs::Permissions::from_mode(mode)).expect("permissions");
    };
    for (path, without) in [("d", 0o600), ("d/e", 0o600), ("d/e", 0o300), ("d", 0o300), ("d", 0)] {
        set(path, without);
        world.look();
        world.look();
        set(path, 0o700);
        world.look();
        world.look();
    }
    set("d/e/a", 0);
    world.look();
    // A file that may not be read may not be watched either.
    assert_eq!(world.settle(), 1);
    set("d/e/a", 0o400);
    world.look();
    assert_eq!(world.settle(), 0);
}

/// Runs a test of this suite as another user, in a process of its own.
fn run_as_nobody(test: &str) -> bool {
    let own = std::env::current_exe().expect("this program");
    // A copy where everybody may read it.
    let space = upcheck_tests::space::Space::new();
    let copy = space.path().join("suite");
    fs::copy(&own, &copy).expect("a copy");
    for path in [space.path(), Path::new(&copy)] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(&copy);
    command.args(["--exact", test, "--ignored", "--test-threads=1"]).env("TMPDIR", "/tmp");
    let output = command.output().expect("setpriv");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said.contains("1 passed")
}
