# Builds upcheck for C and C++ and installs it, in one command:
#
#   cmake -DPREFIX=/usr/local -P ffi/install.cmake
#
# What -D can say, in front of -P:
#   PREFIX           where to; required
#   BUILD            where to build, target/install if not given; what cargo made stays there and is used again
#   STRIP=OFF        keep debug information, which is most of what is installed
#   UPCHECK_...      the options of ffi/CMakeLists.txt, for instance UPCHECK_CLI=OFF
#   CMAKE_...        CMake's own, for instance CMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu
# The environment variable DESTDIR is put in front of all places, as everywhere.
cmake_minimum_required(VERSION 3.16...4.0)

if(NOT PREFIX)
  message(FATAL_ERROR "Where to? cmake -DPREFIX=/usr/local -P ffi/install.cmake")
endif()
if(NOT BUILD)
  set(BUILD "${CMAKE_CURRENT_LIST_DIR}/../target/install")
endif()
# Both are as seen from where the command is given.
get_filename_component(prefix "${PREFIX}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
get_filename_component(build "${BUILD}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "failed: ${command}")
  endif()
endfunction()

set(options "-DCMAKE_INSTALL_PREFIX=${prefix}")
get_cmake_property(names CACHE_VARIABLES)
foreach(name IN LISTS names)
  if(name MATCHES "^(UPCHECK|CMAKE)_" AND NOT name MATCHES "^CMAKE_(ROOT|[A-Z]*COMMAND)$")
    string(REPLACE ";" "\\;" value "${${name}}")
    list(APPEND options "-D${name}=${value}")
  endif()
endforeach()
# CMake's own choice is make, even where there is only ninja.
find_program(make_program NAMES make gmake)
find_program(ninja_program NAMES ninja ninja-build)
if(NOT DEFINED ENV{CMAKE_GENERATOR} AND NOT make_program AND ninja_program)
  list(APPEND options -G Ninja)
endif()

# The options of an earlier run are not those of this one.
file(REMOVE "${build}/CMakeCache.txt")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${build}" ${options})
run("${CMAKE_COMMAND}" --build "${build}")
set(strip --strip)
if(DEFINED STRIP AND NOT STRIP)
  set(strip)
endif()
run("${CMAKE_COMMAND}" --install "${build}" ${strip})
