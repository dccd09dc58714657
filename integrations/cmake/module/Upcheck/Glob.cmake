#[=======================================================================[.rst:
.. command:: upcheck_glob

  Stores the files that match patterns, and has CMake run again when others do::

    upcheck_glob(<variable> [RECURSE] [FOLLOW_SYMLINKS]
                 [RELATIVE <dir>] [LIST_DIRECTORIES <bool>]
                 <pattern>...
                 [STRATEGY DIRS|VERIFY])

  The result is that of ``file(GLOB)``, with ``RECURSE`` that of ``file(GLOB_RECURSE)``. How the build notices that it
  would be another one says ``STRATEGY``:

  ``DIRS``
    The default. Each directory that was walked goes into the directory property ``CMAKE_CONFIGURE_DEPENDS``, and those
    above them, up to the top of the project. The build looks at their times, and starts no process. CMake runs again,
    without need, when any file appears or disappears in one of them.

  ``VERIFY``
    CMake runs again only if the result is another one, as with ``CONFIGURE_DEPENDS``. With the generator Ninja one process
    of ``upcheck`` looks at all globs of the build. With others it is ``CONFIGURE_DEPENDS``, for which CMake is started:
    there is no other way into the check at the beginning of their builds. ``DIRS`` holds where a name matches that has one
    of ``;"$@[]\`` in it. With Ninja, ``clean`` makes CMake run once more.

  With ``DIRS``, patterns that lead into the build directory, where files come and go with each build, get
  ``CONFIGURE_DEPENDS``, and a file that appears after the call, while CMake is still running, is noticed with
  the next one that appears, as an edit of ``CMakeLists.txt`` would be.
#]=======================================================================]

function(upcheck_glob variable)
  set(function upcheck_glob)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECURSE;FOLLOW_SYMLINKS" "RELATIVE;LIST_DIRECTORIES;STRATEGY" "")
  set(patterns "${arg_UNPARSED_ARGUMENTS}")
  unset(arg_UNPARSED_ARGUMENTS)
  _upcheck_check_arguments(${function})
  if(patterns STREQUAL "")
    _upcheck_fail(${function} "there is no pattern")
  endif()
  if(CONFIGURE_DEPENDS IN_LIST patterns)
    _upcheck_fail(${function} "CONFIGURE_DEPENDS is what it replaces: see STRATEGY")
  endif()
  if(arg_FOLLOW_SYMLINKS AND NOT arg_RECURSE)
    _upcheck_fail(${function} "FOLLOW_SYMLINKS is for RECURSE")
  endif()
  if(NOT DEFINED arg_STRATEGY)
    set(arg_STRATEGY DIRS)
  endif()
  _upcheck_check_choice(${function} STRATEGY "${arg_STRATEGY}" DIRS VERIFY)

  # ---- the options of file() --------------------------------------------------------------------------

  set(kind GLOB)
  set(links "")
  if(arg_RECURSE)
    set(kind GLOB_RECURSE)
    if(arg_FOLLOW_SYMLINKS)
      set(links FOLLOW_SYMLINKS)
    endif()
  endif()
  # What is listed by default is not the same for both.
  set(list_directories true)
  if(NOT DEFINED arg_LIST_DIRECTORIES AND arg_RECURSE OR DEFINED arg_LIST_DIRECTORIES AND NOT arg_LIST_DIRECTORIES)
    set(list_directories false)
  endif()
  set(options ${links} LIST_DIRECTORIES ${list_directories})
  if(DEFINED arg_RELATIVE)
    list(APPEND options RELATIVE "${arg_RELATIVE}")
  endif()

  # ---- how changes are noticed -------------------------------------------------------------------------

  if(NOT CMAKE_SCRIPT_MODE_FILE) # In a script nothing is built.
    set(strategy "${arg_STRATEGY}")
    if(strategy STREQUAL VERIFY)
      _upcheck_verify_glob(strategy "${kind}" "${links}" ${list_directories} ${patterns})
    endif()
    if(strategy STREQUAL DIRS)
      _upcheck_walked(dirs is_unfit "${kind}" "${links}" ${patterns})
      if(is_unfit)
        set(strategy CMAKE)
      else()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dirs})
      endif()
    endif()
    if(strategy STREQUAL CMAKE)
      list(APPEND options CONFIGURE_DEPENDS)
    endif()
  endif()
  file(${kind} result ${options} ${patterns})
  set(${variable} "${result}" PARENT_SCOPE)
endfunction()

# Stores the directories in which something that matches can appear, and those above them: another directory may take the
# place of one of these, and bring its old time along, so that only the one above it shows it. And whether their times
# are of no use, because the build itself changes them, or they have names that lists do not leave as they are.
function(_upcheck_walked dirs_variable unfit_variable kind links) # PATTERN...
  set(walked "")
  foreach(pattern IN LISTS ARGN)
    if(NOT IS_ABSOLUTE "${pattern}")
      set(pattern "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
    endif()
    # Down to the first name with wildcards there is one directory; from there on, all that match so far.
    string(REGEX MATCH "^[^*?[]*/" root "${pattern}")
    get_filename_component(parent "${pattern}" DIRECTORY)
    string(LENGTH "${root}" length)
    string(SUBSTRING "${parent}/" ${length} -1 wild)
    string(REGEX REPLACE "/$" "" wild "${wild}")
    string(REGEX REPLACE "(.)/+$" "\\1" root "${root}")
    list(APPEND walked "${root}")
    string(REPLACE "/" ";" parts "${wild}")
    set(prefix "${root}")
    foreach(part IN LISTS parts)
      string(APPEND prefix "/${part}")
      _upcheck_dirs(found GLOB "" "${prefix}")
      list(APPEND walked ${found})
    endforeach()
    if(kind STREQUAL GLOB_RECURSE)
      _upcheck_dirs(found GLOB_RECURSE "${links}" "${prefix}/*")
      list(APPEND walked ${found})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES walked)

  get_filename_component(build "${CMAKE_BINARY_DIR}" REALPATH)
  set(dirs "")
  set(is_unfit FALSE)
  if("${walked}" MATCHES "[][\\]|;[^/]")
    set(is_unfit TRUE)
  endif()
  foreach(dir IN LISTS walked)
    get_filename_component(dir "${dir}" ABSOLUTE)
    # One that is not there yet shows in the one above it.
    while(NOT IS_DIRECTORY "${dir}")
      get_filename_component(dir "${dir}" DIRECTORY)
    endwhile()
    get_filename_component(real "${dir}" REALPATH)
    string(FIND "${real}/" "${build}/" at)
    if(at EQUAL 0)
      set(is_unfit TRUE)
    endif()
    list(APPEND dirs "${dir}")
    get_filename_component(above "${dir}" DIRECTORY)
    # Outside of the project only the nearest one: those above it belong to others.
    string(FIND "${dir}/" "${CMAKE_SOURCE_DIR}/" at)
    if(NOT at EQUAL 0)
      list(APPEND dirs "${above}")
    elseif(NOT "${above}" IN_LIST walked)
      while(NOT "${dir}" STREQUAL "${CMAKE_SOURCE_DIR}")
        get_filename_component(dir "${dir}" DIRECTORY)
        list(APPEND dirs "${dir}")
      endwhile()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES dirs)
  set(${dirs_variable} "${dirs}" PARENT_SCOPE)
  set(${unfit_variable} ${is_unfit} PARENT_SCOPE)
endfunction()

# Stores the directories among what matches.
function(_upcheck_dirs variable kind links pattern)
  file(${kind} all ${links} LIST_DIRECTORIES true "${pattern}")
  file(${kind} files ${links} LIST_DIRECTORIES false "${pattern}")
  if(all AND files)
    list(REMOVE_ITEM all ${files})
  endif()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# Has each build compare the globs with what they match now, for the Ninja generator: a custom command that always runs,
# and touches what CMake's own rule depends on. Stores the strategy: CMAKE for other generators; DIRS where names match
# that lists and scripts do not leave as they are.
function(_upcheck_verify_glob variable kind links list_directories) # PATTERN...
  set(dir "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck")
  set(text "")
  foreach(pattern IN LISTS ARGN)
    if(NOT IS_ABSOLUTE "${pattern}")
      set(pattern "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
    endif()
    file(${kind} paths ${links} LIST_DIRECTORIES ${list_directories} "${pattern}")
    if("${paths}" MATCHES "[]\"$@[\\]|;[^/]" OR "${pattern}" MATCHES "[\"$@;\\]")
      set(${variable} DIRS PARENT_SCOPE)
      return()
    endif()
    string(APPEND text "file(${kind} NEW_GLOB ${links} LIST_DIRECTORIES ${list_directories} \"${pattern}\")\n")
    string(APPEND text "set(OLD_GLOB")
    if(NOT paths STREQUAL "")
      string(REPLACE ";" "\"\n  \"" paths "${paths}")
      string(APPEND text "\n  \"${paths}\"")
    endif()
    string(APPEND text ")\n")
  endforeach()

  if(NOT CMAKE_GENERATOR STREQUAL Ninja)
    set(${variable} CMAKE PARENT_SCOPE)
    return()
  endif()
  get_property(is_begun GLOBAL PROPERTY _UPCHECK_GLOBS_ARE_VERIFIED)
  if(is_begun)
    file(APPEND "${dir}/globs.cmake" "${text}")
  else()
    set_property(GLOBAL PROPERTY _UPCHECK_GLOBS_ARE_VERIFIED TRUE)
    _upcheck_command(upcheck upcheck_glob)
    file(WRITE "${dir}/globs.cmake" "# Globs and their results, as in CMake's VerifyGlobs.cmake.\n${text}")
    if(NOT EXISTS "${dir}/globs.stamp")
      file(WRITE "${dir}/globs.stamp" "")
    endif()
    # Without a command it is a mere name, and there never is such a file.
    add_custom_command(OUTPUT "${dir}/always" COMMENT "" VERBATIM)
    add_custom_command(OUTPUT "${dir}/globs.stamp"
      COMMAND "${upcheck}" verify-globs "${dir}/globs.cmake" "${dir}/globs.stamp"
      DEPENDS "${dir}/always"
      COMMENT "Checking globs" VERBATIM)
    add_custom_target(upcheck_globs DEPENDS "${dir}/globs.stamp")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dir}/globs.stamp")
  endif()
endfunction()
