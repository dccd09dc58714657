//! `upcheck run -- cmake --build`: the build tool is started only if something is stale.

use crate::command::upcheck_in;
use crate::project::{ALL, Project};

#[test]
fn the_build_tool_is_started_only_if_something_is_stale() {
    for kind in ALL {
        let project = Project::built(kind);
        let run = |args: &[&str]| {
            let build = project.build_dir();
            let output = upcheck_in(&project.source())
                .arg("run")
                .arg("-C")
                .arg(&build)
                .args(["--from", "cmake"])
                .args(args)
                .arg("--")
                .arg(project.cmake_path())
                .arg("--build")
                .arg(&build)
                .output()
                .expect("upcheck starts");
            (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
        };
        assert_eq!(run(&[]), (Some(0), String::new()), "{kind:?}: nothing is stale");
        project.touch(&project.source().join("lib/text.c"));
        let (status, printed) = run(&["--target", "bundle"]);
        assert_eq!((status, printed), (Some(0), String::new()), "{kind:?}: not what was asked about");
        let (status, printed) = run(&[]);
        assert_eq!(status, Some(0), "{kind:?}: {printed}");
        assert!(printed.contains("text.c.o"), "{kind:?}: {printed}");
        let (status, printed) = run(&["--always"]);
        assert!(status == Some(0) && !printed.is_empty(), "{kind:?}: {printed}");

        // What fails is stale again, and its status is that of the tool.
        project.write("lib/net.c", "int net(void) { return unknown; }\n");
        project.touch(&project.source().join("lib/net.c"));
        for _ in 0..2 {
            let (status, printed) = run(&[]);
            assert!(status != Some(0) && printed.contains("net.c.o"), "{kind:?}: {status:?} {printed}");
        }
    }
}
