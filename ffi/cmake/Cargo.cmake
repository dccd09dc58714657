# How cargo is asked: for what platform, with what environment, and what its archives need when they are linked.
#
# Cargo's environment and configuration are the user's: RUSTFLAGS, CARGO_NET_OFFLINE, [build] and [target] sections work
# as everywhere. Only what decides where results lie is said here, against all of them.

find_program(UPCHECK_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" DOC "The cargo to build with")
if(NOT UPCHECK_CARGO)
  message(FATAL_ERROR "cargo is missing; upcheck is built with Rust (UPCHECK_CARGO names the cargo to use)")
endif()

# The platform is always named, so that results lie in a folder that is known, whatever cargo's configuration says.
set(cargo_target "${UPCHECK_CARGO_TARGET}")
if(NOT cargo_target)
  set(cargo_target "$ENV{CARGO_BUILD_TARGET}")
endif()
if(NOT cargo_target)
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "UPCHECK_CARGO_TARGET has to name the platform to build for (`rustc --print target-list`)")
  endif()
  execute_process(COMMAND "${UPCHECK_CARGO}" -vV WORKING_DIRECTORY "${root}" RESULT_VARIABLE status
    OUTPUT_VARIABLE said ERROR_VARIABLE error)
  if(NOT said MATCHES "\nhost: ([^\n]+)\n")
    message(FATAL_ERROR "${UPCHECK_CARGO} does not run (${status}):\n${said}${error}")
  endif()
  set(cargo_target "${CMAKE_MATCH_1}")
endif()

# Make gives its children a jobserver that only those reach that it takes for makes; cargo complains of what it cannot
# open. The headers of the C++ library come from a build script, which knows only where intermediate results lie.
set(cargo_environment "${CMAKE_COMMAND}" -E env --unset=MAKEFLAGS --unset=MFLAGS
  "CARGO_BUILD_BUILD_DIR=${UPCHECK_CARGO_TARGET_DIR}")

# What a Rust archive needs beside itself. Only rustc knows: it is asked with an archive that has nothing in it.
function(upcheck_native_libs result)
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/probe")
  file(REMOVE_RECURSE "${probe}")
  file(WRITE "${probe}/Cargo.toml" "[package]\nname = \"probe\"\nversion = \"0.0.0\"\nedition = \"2024\"\n"
    "[lib]\npath = \"lib.rs\"\ncrate-type = [\"staticlib\"]\n[workspace]\n")
  file(WRITE "${probe}/lib.rs" "")
  # From the workspace's folder: cargo looks for its configuration from there.
  execute_process(
    COMMAND ${cargo_environment} --unset=CARGO_BUILD_BUILD_DIR "${UPCHECK_CARGO}" rustc --offline
      --manifest-path "${probe}/Cargo.toml" --target "${cargo_target}" --target-dir "${probe}/target"
      -- --print native-static-libs
    WORKING_DIRECTORY "${root}" RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT said MATCHES "native-static-libs:([^\n]*)")
    message(FATAL_ERROR "rustc does not say what archives for ${cargo_target} need (${status}):\n${said}")
  endif()
  file(REMOVE_RECURSE "${probe}")
  string(STRIP "${CMAKE_MATCH_1}" libs)
  string(REPLACE " " ";" libs "${libs}")
  set(${result} "${libs}" PARENT_SCOPE)
endfunction()
upcheck_native_libs(native_libs)

# A target that runs cargo each time it is built; cargo knows whether there is something to do. What it MADE, below the
# folder of the profile it comes FROM, is copied to where it has the name and the links of the installed tree, AS, if it
# differs: what depends on it is not made anew in vain.
function(upcheck_cargo name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "ENVIRONMENT;ARGS;AFTER;MADE;AS;LINKS")
  set(commands
    COMMAND ${cargo_environment} ${arg_ENVIRONMENT} "${UPCHECK_CARGO}" ${arg_ARGS} --locked --target "${cargo_target}"
      --target-dir "${UPCHECK_CARGO_TARGET_DIR}" ${arg_AFTER})
  list(LENGTH arg_MADE last)
  math(EXPR last "${last} - 1")
  foreach(at RANGE ${last}) # ZIP_LISTS came with CMake 3.17
    list(GET arg_MADE ${at} made)
    list(GET arg_AS ${at} as)
    list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E copy_if_different
      "${UPCHECK_CARGO_TARGET_DIR}/${cargo_target}/${arg_FROM}/${made}" "${as}")
    get_filename_component(folder "${as}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
  endforeach()
  list(GET arg_AS 0 file)
  get_filename_component(file "${file}" NAME)
  foreach(link IN LISTS arg_LINKS)
    list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E create_symlink "${file}" "${link}")
  endforeach()
  set(all)
  if(UPCHECK_INSTALL)
    set(all ALL)
  endif()
  add_custom_target(${name} ${all} ${commands} BYPRODUCTS ${arg_AS} ${arg_LINKS} WORKING_DIRECTORY "${root}"
    COMMENT "cargo builds ${file}" USES_TERMINAL VERBATIM)
endfunction()
