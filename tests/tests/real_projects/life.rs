//! The edits: what people do in a build directory, and what happens to them.

use crate::projects::{Project, System};
use crate::work::{Work, is_compilation, nothing, touch};
use upcheck_tests::answer::{Answer, Question, look_past};

/// Before anything in a build directory.
const OLD: i64 = 1_000_000_000_000_000_000;

impl Work {
    pub(crate) fn first_build(&mut self) {
        self.stale("never built");
        self.interrupt_build(20);
        self.stale("first build interrupted");
        self.rebuild("first build");
        for args in [&["check"][..], &["check", "--exact"]] {
            let (status, output) = self.upcheck(args);
            assert_eq!(status, Some(0), "{output}");
        }
        let always = [self.project.always_stale];
        assert_ne!(self.agreed("never there", &always), nothing(), "{always:?}");
    }

    pub(crate) fn edit_headers(&mut self) {
        let Project { header, header_users, header_library, generated, .. } = *self.project;
        self.touch(header);
        let objects = self.stale("header touched").iter().filter(|command| is_compilation(command)).count();
        assert!(objects >= header_users, "{header} is used by {objects} objects, not {header_users}");
        let (status, output) = self.upcheck(&["why", header_library]);
        assert_eq!(status, Some(1), "{output}");
        assert!(output.contains(header), "{header} is the cause:\n{output}");
        for target in self.some_targets() {
            self.agreed("header touched", &[&target]);
        }
        self.interrupt_build(2);
        self.stale("rebuild interrupted");
        self.rebuild("header touched");

        if let Some((input, output)) = generated {
            self.touch(input);
            self.stale("input of a generated header touched");
            self.rebuild("input of a generated header touched");
            self.build.remove(output);
            self.stale("generated header deleted");
            self.rebuild("generated header deleted");
        }
    }

    pub(crate) fn edit_outputs(&mut self) {
        let Project { object, library, .. } = *self.project;
        self.build.remove(object);
        self.stale("object deleted");
        self.rebuild("object deleted");

        // Ninja does not look whether outputs are as it left them, but its deps log does.
        touch(&self.build, object);
        self.stale("object touched");
        self.rebuild("object touched");

        self.build.set_mtime(object, OLD);
        self.stale("object aged");
        self.rebuild("object aged");

        touch(&self.build, library);
        self.agreed("library touched", &[]);
        self.rebuild("library touched");
        self.build.set_mtime(library, OLD);
        self.stale("library aged");
        self.rebuild("library aged");
    }

    /// Takes a header and a source file away, and puts them back as they were.
    pub(crate) fn lose_inputs(&mut self) {
        let Project { header, source, .. } = *self.project;
        let lost = self.lose(header);
        self.stale("header removed");
        self.put_back(header, &lost);
        self.fresh("header put back");

        self.touch(source);
        let touched = self.agreed("source touched", &[]);
        let lost = self.lose(source);
        self.agreed("source removed", &[]);
        // Where ninja has only an error, upcheck still says what the source would be needed for.
        assert_eq!(look_past(&self.build, self.version, &Question::default()), touched);
        self.put_back(source, &lost);
        self.rebuild("source put back");
    }

    pub(crate) fn fail(&mut self) {
        let Project { header, source, .. } = *self.project;
        let good = self.source.read(source);
        self.source.write(source, [&good[..], b"\n#error no good\n"].concat());
        self.touch(header);
        let (built, _) = self.run_build(&["-k", "0"]);
        assert!(!built, "{source} is an error");
        self.stale("build failed in part");
        self.source.write(source, good);
        self.stale("error corrected");
        self.rebuild("error corrected");
    }

    pub(crate) fn damage_logs(&mut self) {
        for log in [".ninja_deps", ".ninja_log"] {
            let whole = self.build.read(log);
            self.build.remove(log);
            self.stale(&format!("{log} deleted"));
            // In the middle of a line or record. To half a line ninja appends the next, and so loses both.
            self.build.write(log, &whole[..whole.len() * 3 / 5 + 1]);
            self.stale(&format!("{log} cut off"));
            let (built, output) = self.run_build(&[]);
            assert!(built, "{output}");
            self.agreed(&format!("{log} cut off, built once"), &[]);
            self.rebuild(&format!("{log} cut off"));
        }
        self.tool("recompact");
        self.fresh("logs recompacted");
    }

    pub(crate) fn reconfigure(&mut self) {
        let Project { header, list, flags, new_source, new_source_entry, all_flags, .. } = *self.project;
        self.edit_list(flags);
        self.stale_manifest("flags edited");
        self.touch(header);
        self.stale_manifest("flags edited, header touched");
        self.configure(&[]);
        self.stale("flags edited, header touched, configured");
        self.rebuild("flags edited");

        // Ninja configures by itself.
        self.touch(list);
        self.stale_manifest("list touched");
        self.rebuild("list touched");

        let before = self.source.read(list);
        self.source.write(new_source, "int upcheck_probe(void);\nint upcheck_probe(void) { return 1; }\n");
        self.edit_list(new_source_entry);
        self.stale_manifest("source added");
        self.configure(&[]);
        self.stale("source added, configured");
        self.rebuild("source added");

        self.source.write(list, before);
        self.stale_manifest("source taken out");
        self.configure(&[]);
        self.source.remove(new_source);
        self.stale("source taken out, configured");
        self.rebuild("source taken out");

        let (on, off) = all_flags;
        self.configure(&[on]);
        self.stale("all flags changed");
        self.configure(&[off]);
        // Not fresh with Meson: it has ninja record the outputs' own times, and those that restat kept are old.
        let Answer::Run(commands) = self.agreed("all flags as before", &[]) else {
            panic!("no error is expected")
        };
        assert!(!commands.iter().any(|command| is_compilation(command)), "{commands:?}");
        self.rebuild("all flags as before");
        if self.project.system == System::CMake {
            self.watch_globs();
        }
    }

    /// From now on every build begins with a command that looks for new files, and may rewrite the manifest:
    /// for a dry run the manifest is always stale.
    pub(crate) fn watch_globs(&mut self) {
        let Project { header, list, .. } = *self.project;
        let before = self.source.read(list);
        self.edit_list(("", "file(GLOB probe CONFIGURE_DEPENDS *.c *.cpp)\n"));
        for state in ["glob added", "glob added, built"] {
            self.stale_manifest(state);
            let (built, output) = self.run_build(&[]);
            assert!(built, "{output}");
        }
        self.touch(header);
        self.stale_manifest("glob added, header touched");
        self.source.write(list, before);
        self.rebuild("glob taken out");
    }

    pub(crate) fn end(&mut self) {
        self.tool("clean");
        self.stale("cleaned");
    }
}
