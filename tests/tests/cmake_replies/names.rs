//! Which target a file belongs to, as the generated builds have them.

use crate::builds::{ALL, Build};
use upcheck_cmake::names::{self, Names};

#[test]
fn all_that_ninja_makes_belongs_to_the_right_target() {
    for which in ALL.into_iter().filter(|(_, generator)| *generator != "Unix Makefiles") {
        let build = Build::sample(which);
        let reply = build.read();
        for configuration in 0..reply.configurations.len() {
            let names = Names::new(&reply, configuration);
            let text = manifest(&build, &names.manifest());
            let config = &reply.configurations[configuration].name;
            let mut n_known = 0;
            for output in outputs(&text) {
                let found = names.target(&output).map(|target| &*target.name);
                let shown = String::from_utf8_lossy(&output).into_owned();
                let expected = belongs(&shown, &build.directory().display().to_string(), config);
                assert_eq!(found, expected, "{shown} of {which:?}");
                n_known += usize::from(found.is_some());
            }
            assert!(n_known > 20, "{n_known}");
        }
    }
}

/// What the sample's files belong to, by what they are called. Of the outputs of a rule CMake only tells the first.
fn belongs(output: &str, build: &str, config: &str) -> Option<&'static str> {
    let output = output.strip_prefix(&format!("{build}/")).unwrap_or(output);
    let mut output = output.to_owned();
    if !config.is_empty() {
        for (old, new) in
            [(format!("/{config}/"), "/"), (format!(":{config}"), ""), (format!("-{config}"), "")]
        {
            output = output.replace(&old, new);
        }
        output = output.replace(&format!("_{}", config.to_uppercase()), "");
    }
    let order = "cmake_object_order_depends_target_";
    let output = output.strip_prefix(order).unwrap_or(&output);
    Some(match output {
        "app" | "program" | "app/program" | "app/CMakeFiles/app.dir/main.c.o" => "app",
        "bundle" | "CMakeFiles/bundle" | "all.txt" => "bundle",
        "nothing" | "CMakeFiles/nothing" => "nothing",
        "never" | "CMakeFiles/never" => "never",
        "below" | "lib/below" | "lib/CMakeFiles/below" => "below",
        "text" | "libtext.a" | "lib/libtext.a" | "lib/CMakeFiles/text.dir/text.c.o" => "text",
        "net"
        | "libnet.so"
        | "lib/libnet.so"
        | "lib/libnet.so.1"
        | "lib/libnet.so.1.2"
        | "lib/CMakeFiles/net.dir/net.c.o" => "net",
        "objs" | "lib/objs" | "lib/CMakeFiles/objs.dir/o1.c.o" => "objs",
        "zfirst"
        | "libzfirst.a"
        | "app/libzfirst.a"
        | "app/CMakeFiles/zfirst.dir/z.c.o"
        | "app/version.h" => "zfirst",
        _ => return None,
    })
}

/// A manifest with all that it includes.
fn manifest(build: &Build, name: &str) -> String {
    let text = String::from_utf8(build.space.read(&format!("build/{name}"))).expect("a manifest");
    text.lines().fold(String::new(), |all, line| match line.strip_prefix("include ") {
        Some(other) => all + &manifest(build, other),
        None => all + line + "\n",
    })
}

/// All outputs of a manifest.
fn outputs(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("build "));
    let mut outputs = Vec::new();
    for line in lines {
        let line = line.replace("$:", "\0");
        let names = line.split(": ").next().unwrap_or_default();
        for name in names.split(' ').filter(|name| !name.is_empty() && *name != "|" && !name.contains('$')) {
            outputs.push(name.replace('\0', ":").into_bytes());
        }
    }
    outputs
}

#[test]
fn what_is_asked_of_ninja_is_there_and_makes_the_target() {
    for which in ALL.into_iter().filter(|(_, generator)| *generator != "Unix Makefiles") {
        let build = Build::sample(which);
        let reply = build.read();
        for (at, configuration) in reply.configurations.iter().enumerate() {
            let names = Names::new(&reply, at);
            let outputs = outputs(&manifest(&build, &names.manifest()));
            for name in
                configuration.targets.iter().map(|target| &*target.name).chain(["all", "lib/all", "test"])
            {
                let requests = names.requests(name).expect("a target");
                let known: Vec<_> = requests.iter().filter(|request| outputs.contains(request)).collect();
                assert!(!known.is_empty(), "{name} of {which:?}");
                if !matches!(name, "all" | "lib/all" | "test") {
                    for request in known {
                        assert_eq!(names.target(request).map(|target| &*target.name), Some(name));
                    }
                }
            }
        }
    }
}

#[test]
fn files_of_makefiles_belong_to_the_right_target() {
    for which in ALL.into_iter().filter(|(_, generator)| *generator == "Unix Makefiles") {
        let build = Build::sample(which);
        let reply = build.read();
        let names = Names::new(&reply, 0);
        for (path, expected) in [
            ("app/program", Some("app")),
            ("lib/libnet.so", Some("net")),
            ("lib/libnet.so.1", Some("net")),
            ("lib/libnet.so.1.2", Some("net")),
            ("lib/CMakeFiles/objs.dir/o1.c.o", Some("objs")),
            ("CMakeFiles/bundle.dir/all", Some("bundle")),
            ("CMakeFiles/bundle", Some("bundle")),
            ("all.txt", Some("bundle")),
            ("app/version.h", Some("zfirst")),
            ("lib/below", Some("below")),
            ("../src/app/main.c", None),
            ("Makefile", None),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(names.target(path.as_bytes()).map(|target| &*target.name), expected, "{path}");
            let full = build.made(path);
            assert_eq!(names.target(&full).map(|target| &*target.name), expected, "{path}");
        }
    }
}

#[test]
fn a_configuration_is_the_one_that_is_named_or_that_the_build_takes() {
    for which in ALL {
        let build = Build::sample(which);
        let reply = build.read();
        let find = |name| names::configuration(&build.directory(), &reply, name).expect("a manifest");
        assert_eq!(find(None), Ok(0));
        assert_eq!(find(Some("Release")), Ok(usize::from(build.is_multi_config())));
        if build.is_multi_config() {
            let unknown = find(Some("release")).expect_err("an error").to_string();
            assert_eq!(unknown, "unknown configuration 'release', there are 'Debug', 'Release'");
            build.generate(&["-DCMAKE_DEFAULT_BUILD_TYPE=Release"]);
            assert_eq!(find(None), Ok(1));
        } else {
            assert_eq!(find(Some("release")), Ok(0));
        }
    }
}

#[test]
fn a_name_that_is_none_gets_the_nearest_one() {
    let build = Build::sample(("4", "Ninja"));
    let reply = build.read();
    let names = Names::new(&reply, 0);
    let error = |name: &str| names.requests(name).expect_err("no such target").to_string();
    assert_eq!(error("bundel"), "unknown target 'bundel', did you mean 'bundle'?");
    assert_eq!(error("instal"), "unknown target 'instal', did you mean 'install'?");
    assert_eq!(error("my::text"), "unknown target 'my::text'");
    assert_eq!(error("iface"), "nothing is made for the target 'iface'");
    assert_eq!(error(""), "unknown target ''");
}
