#[=======================================================================[.rst:
.. command:: upcheck_record_after_build

  Puts successes on record after each build::

    upcheck_record_after_build([METHOD TARGET|INSTRUMENTATION])

  With Makefiles, content can then decide instead of times: ``upcheck -C <dir> --policy mtime-and-digest-input`` calls
  fresh what was only touched, or changed and changed back, and ``upcheck run`` with that policy does not start a build for
  it. ``make`` itself goes by times, as before. With ninja, whose own logs are the records, it only brings up to date what
  the next check uses to be fast.

  It is called once, at the end of the topmost ``CMakeLists.txt``. What is built by default is recorded, and only when all
  of it was built.

  ``METHOD``
    ``TARGET``: a last target, ``upcheck_record``, depends on all others, and runs when a program or a library was made.
    What only custom commands make has to wait for that. ``INSTRUMENTATION``: CMake's own, which tells that a build has
    ended; from CMake 4.3 on, with Makefiles. It starts each command of the build by way of ``ctest``. This is the default
    where it can be had; with ninja it would make each build look as if a configure was needed.
#]=======================================================================]

function(upcheck_record_after_build)
  set(function upcheck_record_after_build)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "METHOD" "")
  _upcheck_check_project(${function})
  _upcheck_check_arguments(${function})
  _upcheck_command(command ${function})
  if(NOT CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
    _upcheck_fail(${function} "it is about the whole build; call it in the topmost CMakeLists.txt, at its end")
  endif()
  if(TARGET upcheck_record)
    _upcheck_fail(${function} "it was called already")
  endif()
  set(can_instrument FALSE)
  if(NOT CMAKE_VERSION VERSION_LESS 4.3 AND CMAKE_GENERATOR MATCHES "Makefiles")
    set(can_instrument TRUE)
  endif()
  if(NOT DEFINED arg_METHOD)
    set(arg_METHOD TARGET)
    if(can_instrument)
      set(arg_METHOD INSTRUMENTATION)
    endif()
  endif()
  _upcheck_check_choice(${function} METHOD "${arg_METHOD}" TARGET INSTRUMENTATION)
  if(arg_METHOD STREQUAL "INSTRUMENTATION" AND NOT can_instrument)
    _upcheck_fail(${function} "METHOD INSTRUMENTATION takes CMake 4.3 and Makefiles")
  endif()
  _upcheck_query()

  get_property(parts GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
  set(script "${CMAKE_COMMAND}" "-DCOMMAND=${command}" "-DDIR=${CMAKE_BINARY_DIR}" "-DGENERATOR=${CMAKE_GENERATOR}")
  if(arg_METHOD STREQUAL "INSTRUMENTATION")
    cmake_instrumentation(API_VERSION 1 DATA_VERSION 1 HOOKS postBuild postCMakeBuild
      CALLBACK ${script} -P "${parts}/RecordBuild.cmake")
    return()
  endif()
  set(targets)
  _upcheck_default_targets("${CMAKE_SOURCE_DIR}")
  set(config)
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    set(config "-DCONFIG=$<CONFIG>")
  endif()
  # A file, so that what is up to date stays so.
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck")
  set(stamp "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/recorded")
  if(is_multi_config)
    # CMake before 3.20 has no generator expressions in names of outputs, nor have all generators.
    string(APPEND stamp "-${CMAKE_CFG_INTDIR}")
  endif()
  # It is there before all is recorded, so that it is recorded, too.
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    COMMAND ${script} ${config} -P "${parts}/RecordBuild.cmake"
    DEPENDS ${targets} COMMENT "Recording what was built" VERBATIM)
  add_custom_target(upcheck_record ALL DEPENDS "${stamp}")
endfunction()

# Adds the targets of a directory, and of those below it, to `targets`: those that are built by default.
function(_upcheck_default_targets dir)
  get_property(is_excluded DIRECTORY "${dir}" PROPERTY EXCLUDE_FROM_ALL)
  get_property(own DIRECTORY "${dir}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS own)
    get_target_property(type "${target}" TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    get_property(is_set TARGET "${target}" PROPERTY EXCLUDE_FROM_ALL SET)
    set(is_left_out "${is_excluded}")
    if(is_set)
      get_property(is_left_out TARGET "${target}" PROPERTY EXCLUDE_FROM_ALL)
    endif()
    if(NOT is_left_out)
      list(APPEND targets "${target}")
      if(type STREQUAL "OBJECT_LIBRARY")
        # It has no file of its own.
        list(APPEND targets "$<TARGET_OBJECTS:${target}>")
      endif()
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS subdirectories)
    get_property(is_left_out DIRECTORY "${subdirectory}" PROPERTY EXCLUDE_FROM_ALL)
    if(NOT is_left_out)
      _upcheck_default_targets("${subdirectory}")
    endif()
  endforeach()
  set(targets "${targets}" PARENT_SCOPE)
endfunction()
