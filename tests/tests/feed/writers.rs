//! Who writes to files in unusual ways: through mappings, asynchronously, by names that are gone, or by none.

use crate::World;
use std::fs;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::writer::Writer;

/// A file that is remembered, and one of its size that is not wanted.
fn world() -> (World, Writer) {
    let world = World::new(&["a", "d/a"]);
    for path in ["a", "unwanted", "d/a"] {
        world.space.write(path, [b'0'; 8192]);
    }
    assert_eq!(world.settle(), 0);
    (world, Writer::new())
}

#[test]
fn a_file_that_is_made_and_mapped_is_asked_for_until_it_is_closed() {
    let (world, mut writer) = world();
    for last in ["unmap", "close"] {
        let first = if last == "unmap" { "close" } else { "unmap" };
        world.space.remove("a");
        for order in
            [&format!("create {}", world.text("a")), "size", "map", "store", "store", "msync", "store"]
        {
            writer.to(order);
            assert_eq!(world.asked(), 1, "{order}");
        }
        for order in [first, last] {
            writer.to(order);
            assert_eq!(world.asked(), 1, "{order}");
        }
        assert_eq!(world.settle(), 0);
    }
}

#[test]
fn a_file_that_is_mapped_while_it_is_put_in_place_is_asked_for() {
    let (world, mut writer) = world();
    writer.to(&format!("create {}", world.text("d/a.tmp")));
    writer.to("size");
    writer.to("map");
    world.look();
    fs::rename(world.full("d/a.tmp"), world.full("d/a")).expect("a renaming");
    for order in ["store", "msync", "store", "close", "store", "unmap"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_from_where_nobody_watches_is_asked_for() {
    let (world, mut writer) = world();
    let other = Space::new();
    let from = other.path().join("x");
    writer.to(&format!("create {}", from.display()));
    writer.to("size");
    writer.to("map");
    fs::rename(&from, world.full("a")).expect("a renaming");
    for order in ["store", "msync", "store", "close", "store", "unmap"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_that_is_only_mapped_or_written_to_asynchronously_is_asked_for_until_it_is_closed() {
    for (orders, last) in
        [(&["map", "store", "close", "msync", "store"][..], "unmap"), (&["asynchronous"], "close")]
    {
        let (world, mut writer) = world();
        writer.to(&format!("open {}", world.text("a")));
        assert_eq!(world.asked(), 1, "it was opened");
        for &order in orders {
            writer.to(order);
            assert_eq!(world.asked(), 1, "{order}");
        }
        writer.to(last);
        assert_eq!(world.asked(), 1, "{last}");
        assert_eq!(world.settle(), 0);
    }
}

#[test]
fn a_file_that_was_mapped_before_it_was_looked_at_is_asked_for_until_it_is_closed() {
    let world = World::new(&["a"]);
    world.space.write("a", [b'0'; 8192]);
    let mut writer = Writer::new();
    for order in [&format!("open {}", world.text("a")), "map", "close"] {
        writer.to(order);
    }
    assert_eq!(world.settle(), 1);
    for order in ["store", "msync", "store"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    writer.to("unmap");
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_that_two_have_open_is_asked_for_until_both_have_closed_it() {
    let (world, mut one) = world();
    let mut two = Writer::new();
    for writer in [&mut one, &mut two] {
        writer.to(&format!("open {}", world.text("a")));
        writer.to("map");
        writer.to("close");
    }
    one.to("unmap");
    for order in ["store", "msync", "store"] {
        two.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    two.to("unmap");
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_that_was_written_to_before_it_is_mapped_is_asked_for_until_it_is_closed() {
    let (world, mut writer) = world();
    writer.to(&format!("open {}", world.text("a")));
    writer.to("write");
    writer.to("map");
    for order in ["store", "msync", "store", "asynchronous"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    writer.to("unmap");
    writer.to("close");
    assert_eq!(world.settle(), 0);
}

#[test]
fn usual_and_unusual_calls_are_seen_at_once() {
    let (world, mut writer) = world();
    writer.to(&format!("open {}", world.text("a")));
    for order in ["write", "splice", "allocate", "chmod", "size", "write"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    writer.to("close");
    assert_eq!(world.settle(), 0);
}

#[test]
fn who_has_a_file_open_by_a_name_that_is_gone_is_seen() {
    let (world, mut writer) = world();
    // It has the file open by a name elsewhere, which is gone; the file has one name, and this one is wanted.
    let other = Space::new();
    let name = other.path().join("name");
    fs::hard_link(world.full("a"), &name).expect("a hard link");
    writer.to(&format!("open {}", name.display()));
    fs::remove_file(&name).expect("a removal");
    world.settle();
    for order in ["write", "chmod", "size"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    writer.to("close");
    assert_eq!(world.settle(), 0);
}

#[test]
fn who_may_only_read_but_changes_permissions_is_seen() {
    let (world, mut writer) = world();
    let other = Space::new();
    let name = other.path().join("name");
    fs::hard_link(world.full("a"), &name).expect("a hard link");
    writer.to(&format!("read-only {}", name.display()));
    fs::remove_file(&name).expect("a removal");
    world.settle();
    writer.to("chmod");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_that_was_made_without_a_name_is_asked_for() {
    let (world, mut writer) = world();
    let other = Space::new();
    for directory in [world.base.clone(), other.path().to_path_buf()] {
        writer.to(&format!("nameless {}", directory.display()));
        writer.to("size");
        world.space.remove("a");
        writer.to(&format!("link {}", world.text("a")));
        for order in ["write", "map", "store", "msync", "store", "unmap", "chmod", "close"] {
            writer.to(order);
            assert_eq!(world.asked(), 1, "{order}");
        }
    }
}

#[test]
fn who_opens_a_file_by_no_name_is_seen() {
    let (world, mut writer) = world();
    if let Err(error) = writer.try_to(&format!("handle {}", world.text("a"))) {
        return not_tested(&format!("files that are opened by their handles; {error}"));
    }
    writer.to("close");
    world.settle();
    // So that the kernel knows no name of the file. Where this is not allowed, it may know one.
    let _ = fs::write("/proc/sys/vm/drop_caches", "2");
    writer.to(&format!("handle {}", world.text("a")));
    for order in ["write", "chmod", "size"] {
        writer.to(order);
        assert_eq!(world.asked(), 1, "{order}");
    }
    writer.to("close");
    assert_eq!(world.settle(), 0);
}
