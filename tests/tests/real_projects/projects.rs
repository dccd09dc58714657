//! What is built, and what is edited in it.

/// Text, and what is written in its place, which begins with it. No text: at the end.
pub(crate) type Replacement = (&'static str, String);

pub(crate) enum System {
    /// The library is this target of CMake's.
    CMake(&'static str),
    /// Text in the list behind which flags and a source file are added.
    Meson { flags: (&'static str, &'static str), new_source: (&'static str, &'static str) },
}

/// What is built, and what is edited in it. Paths are relative to the source tree or to the build directory.
pub(crate) struct Project {
    /// Debian's source package.
    pub(crate) name: &'static str,
    pub(crate) system: System,
    pub(crate) options: &'static [&'static str],
    /// A header that only the deps log knows, of how many objects at least, and what those are linked into.
    pub(crate) header: &'static str,
    pub(crate) header_users: usize,
    pub(crate) header_library: &'static str,
    /// What a header that the build generates is made from, and that header.
    pub(crate) generated: Option<(&'static str, &'static str)>,
    /// A source file and what it is compiled to.
    pub(crate) source: &'static str,
    pub(crate) object: &'static str,
    /// What the object is linked into.
    pub(crate) library: &'static str,
    /// The build system's file that lists the sources of that.
    pub(crate) list: &'static str,
    /// An option that changes the flags of every object, and the one that takes it back.
    pub(crate) all_flags: (&'static str, &'static str),
}

impl Project {
    /// A target that is never there.
    pub(crate) fn always_stale(&self) -> &'static str {
        match self.system {
            System::CMake(_) => "install",
            System::Meson { .. } => "test",
        }
    }

    /// A source file for the library that is not there yet.
    pub(crate) fn new_source(&self) -> String {
        let (_, kind) = self.source.rsplit_once('.').expect("a source's name has an end");
        format!("{}/{PROBE}.{kind}", self.list_folder())
    }

    /// What changes the flags of some objects, when it is done to the list.
    pub(crate) fn new_flags(&self) -> Replacement {
        match self.system {
            System::CMake(_) => {
                let source = self.in_list(self.source);
                let flags = "PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE";
                ("", format!("set_source_files_properties({source} {flags})\n"))
            }
            System::Meson { flags: (after, added), .. } => (after, format!("{after}{added}")),
        }
    }

    /// What adds the new source to the library, when it is done to the list.
    pub(crate) fn new_source_entry(&self) -> Replacement {
        match self.system {
            System::CMake(library) => {
                ("", format!("target_sources({library} PRIVATE {})\n", self.in_list(&self.new_source())))
            }
            System::Meson { new_source: (after, added), .. } => (after, format!("{after}{added}")),
        }
    }

    fn list_folder(&self) -> &'static str {
        self.list.rsplit_once('/').expect("the list is in a folder").0
    }

    /// A path as the list has it.
    fn in_list<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.list_folder()).expect("beside the list").trim_start_matches('/')
    }
}

const PROBE: &str = "upcheck_probe";

pub(crate) const LIBICAL: Project = Project {
    name: "libical3",
    system: System::CMake("ical"),
    options: &[
        "-DICAL_GLIB=OFF",
        "-DGOBJECT_INTROSPECTION=OFF",
        "-DICAL_BUILD_DOCS=OFF",
        "-DLIBICAL_BUILD_TESTING=OFF",
        "-DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON",
    ],
    header: "src/libical/icptrholder_cxx.h",
    header_users: 5,
    header_library: "lib/libical_cxx.so",
    generated: Some(("design-data/value-types.csv", "src/libical/icalderivedvalue.h")),
    source: "src/libical/icaltime.c",
    object: "src/libical/CMakeFiles/ical.dir/icaltime.c.o",
    library: "lib/libical.so",
    list: "src/libical/CMakeLists.txt",
    all_flags: ("-DCMAKE_C_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_C_FLAGS="),
};

pub(crate) const MBEDTLS: Project = Project {
    name: "mbedtls",
    system: System::CMake("mbedcrypto"),
    options: &["-DENABLE_TESTING=OFF", "-DENABLE_PROGRAMS=OFF", "-DUSE_SHARED_MBEDTLS_LIBRARY=ON"],
    header: "include/mbedtls/aes.h",
    header_users: 15,
    header_library: "library/libmbedcrypto.so",
    generated: None,
    source: "library/aes.c",
    object: "library/CMakeFiles/mbedcrypto.dir/aes.c.o",
    library: "library/libmbedcrypto.so",
    list: "library/CMakeLists.txt",
    all_flags: ("-DUNSAFE_BUILD=ON", "-DUNSAFE_BUILD=OFF"),
};

pub(crate) const TAGLIB: Project = Project {
    name: "taglib",
    system: System::CMake("tag"),
    options: &["-DBUILD_SHARED_LIBS=ON", "-DBUILD_TESTING=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"],
    header: "taglib/flac/flacmetadatablock.h",
    header_users: 10,
    header_library: "taglib/libtag.so",
    generated: None,
    source: "taglib/flac/flacpicture.cpp",
    object: "taglib/CMakeFiles/tag.dir/flac/flacpicture.cpp.o",
    library: "taglib/libtag.so",
    list: "taglib/CMakeLists.txt",
    all_flags: ("-DCMAKE_CXX_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_CXX_FLAGS="),
};

/// Builds programs that generate its tables; Meson marks what they make, and symbol lists, with restat.
pub(crate) const FRIBIDI: Project = Project {
    name: "fribidi",
    system: System::Meson {
        flags: ("c_args: ['-DHAVE_CONFIG_H'", ", '-DUPCHECK_PROBE'"),
        new_source: ("  'fribidi.c',\n", "  'upcheck_probe.c',\n"),
    },
    options: &["-Ddocs=false"],
    header: "lib/fribidi-joining.h",
    header_users: 10,
    header_library: "lib/libfribidi.so.0.4.0",
    generated: Some(("gen.tab/unidata/BidiMirroring.txt", "gen.tab/fribidi-unicode-version.h")),
    source: "lib/fribidi-shape.c",
    object: "lib/libfribidi.so.0.4.0.p/fribidi-shape.c.o",
    library: "lib/libfribidi.so.0.4.0",
    list: "lib/meson.build",
    all_flags: ("-Dc_args=-DUPCHECK_PROBE", "-Dc_args="),
};
