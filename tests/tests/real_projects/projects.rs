//! What is built, and what is edited in it.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    CMake,
    Meson,
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
    /// Replaces text in the list by other text that begins with it (nothing: at the end), to change some flags.
    pub(crate) flags: (&'static str, &'static str),
    /// The same, to add a source file of this name to the library.
    pub(crate) new_source: &'static str,
    pub(crate) new_source_entry: (&'static str, &'static str),
    /// An option that changes the flags of every object, and the one that takes it back.
    pub(crate) all_flags: (&'static str, &'static str),
    /// A target that is never there.
    pub(crate) always_stale: &'static str,
}

pub(crate) const LIBICAL: Project = Project {
    name: "libical3",
    system: System::CMake,
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
    flags: (
        "",
        "set_source_files_properties(icaltime.c icaltimezone.c PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n",
    ),
    new_source: "src/libical/upcheck_probe.c",
    new_source_entry: ("", "target_sources(ical PRIVATE upcheck_probe.c)\n"),
    all_flags: ("-DCMAKE_C_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_C_FLAGS="),
    always_stale: "install",
};

pub(crate) const MBEDTLS: Project = Project {
    name: "mbedtls",
    system: System::CMake,
    options: &["-DENABLE_TESTING=OFF", "-DENABLE_PROGRAMS=OFF", "-DUSE_SHARED_MBEDTLS_LIBRARY=ON"],
    header: "include/mbedtls/aes.h",
    header_users: 15,
    header_library: "library/libmbedcrypto.so",
    generated: None,
    source: "library/aes.c",
    object: "library/CMakeFiles/mbedcrypto.dir/aes.c.o",
    library: "library/libmbedcrypto.so",
    list: "library/CMakeLists.txt",
    flags: ("", "set_source_files_properties(aes.c PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n"),
    new_source: "library/upcheck_probe.c",
    new_source_entry: ("", "target_sources(mbedcrypto PRIVATE upcheck_probe.c)\n"),
    all_flags: ("-DUNSAFE_BUILD=ON", "-DUNSAFE_BUILD=OFF"),
    always_stale: "install",
};

pub(crate) const TAGLIB: Project = Project {
    name: "taglib",
    system: System::CMake,
    options: &["-DBUILD_SHARED_LIBS=ON", "-DBUILD_TESTING=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"],
    header: "taglib/flac/flacmetadatablock.h",
    header_users: 10,
    header_library: "taglib/libtag.so",
    generated: None,
    source: "taglib/flac/flacpicture.cpp",
    object: "taglib/CMakeFiles/tag.dir/flac/flacpicture.cpp.o",
    library: "taglib/libtag.so",
    list: "taglib/CMakeLists.txt",
    flags: (
        "",
        "set_source_files_properties(flac/flacpicture.cpp PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n",
    ),
    new_source: "taglib/upcheck_probe.cpp",
    new_source_entry: ("", "target_sources(tag PRIVATE upcheck_probe.cpp)\n"),
    all_flags: ("-DCMAKE_CXX_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_CXX_FLAGS="),
    always_stale: "install",
};

/// Builds programs that generate its tables; Meson marks what they make, and symbol lists, with restat.
pub(crate) const FRIBIDI: Project = Project {
    name: "fribidi",
    system: System::Meson,
    options: &["-Ddocs=false"],
    header: "lib/fribidi-joining.h",
    header_users: 10,
    header_library: "lib/libfribidi.so.0.4.0",
    generated: Some(("gen.tab/unidata/BidiMirroring.txt", "gen.tab/fribidi-unicode-version.h")),
    source: "lib/fribidi-shape.c",
    object: "lib/libfribidi.so.0.4.0.p/fribidi-shape.c.o",
    library: "lib/libfribidi.so.0.4.0",
    list: "lib/meson.build",
    flags: ("c_args: ['-DHAVE_CONFIG_H'", "c_args: ['-DHAVE_CONFIG_H', '-DUPCHECK_PROBE'"),
    new_source: "lib/upcheck_probe.c",
    new_source_entry: ("  'fribidi.c',\n", "  'fribidi.c',\n  'upcheck_probe.c',\n"),
    all_flags: ("-Dc_args=-DUPCHECK_PROBE", "-Dc_args="),
    always_stale: "test",
};
