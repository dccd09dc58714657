#[=======================================================================[.rst:
.. command:: upcheck_skip_passed_tests

  Has ``ctest`` skip tests that passed before, and for which nothing has changed since::

    upcheck_skip_passed_tests([TESTS <test>...]
                              [DIRECTORY <dir>]
                              [INPUTS <input>...]
                              [STORE <dir>])

  It is about the tests in the current directory and those below it, or in ``DIRECTORY``, whether they are added before
  or after the call; or only about ``TESTS`` there, which have to be known. Where several calls are about a test, what all
  of them say holds.

  A skipped test is ``Skipped`` to ``ctest``, with its own ``SKIP_RETURN_CODE``, or with 77. It is run again if it did not
  pass the last time, or if one of these is another one:

  * its program, and the shared libraries that this loads, as the dynamic loader says;
  * its command line, and files that are named there (``--data=<file>``, too), with their libraries if they are programs; a
    directory of the project that is named there counts with all that is in it but for names that begin with a dot;
  * ``INPUTS``: files, directories, and patterns as ``upcheck -i`` knows them, ``!<pattern>`` included. Relative ones are
    relative to the current source directory. Generator expressions are for files;
  * its ``REQUIRED_FILES``;
  * its ``ENVIRONMENT``, ``ENVIRONMENT_MODIFICATION``, ``WORKING_DIRECTORY`` and ``TIMEOUT``, and the environment variables
    ``LD_LIBRARY_PATH``, ``LD_PRELOAD``, ``PATH``, ``LANG``, ``LC_ALL`` and ``TZ``.

  What else a test reads, it has to be said with ``INPUTS``. That goes for plugins, too.

  These tests are left alone, because an exit status does not say that they passed, or because of what others leave for
  them or they for others: those with ``WILL_FAIL``, ``PASS_REGULAR_EXPRESSION``, ``FAIL_REGULAR_EXPRESSION``,
  ``SKIP_REGULAR_EXPRESSION``, ``TIMEOUT_AFTER_MATCH``, ``DEPENDS``, ``FIXTURES_SETUP``, ``FIXTURES_CLEANUP``,
  ``FIXTURES_REQUIRED``, ``RESOURCE_GROUPS``, ``GENERATED_RESOURCE_SPEC_FILE`` or ``DISABLED``; and those whose program is
  not there, or has no absolute path. So are tests that are found after the build, as by ``gtest_discover_tests()``.

  ``STORE``
    Where it is recorded what passed. By default ``CMakeFiles/upcheck/tests`` in the build directory.

  If the environment variable ``UPCHECK_RUN_ALL_TESTS`` is set, ``ctest`` runs all of them as if they had not been
  mentioned: do so for ``ctest -T memcheck`` and ``ctest -T coverage``.
#]=======================================================================]

function(upcheck_skip_passed_tests)
  set(function upcheck_skip_passed_tests)
  _upcheck_check_project(${function})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "DIRECTORY;STORE" "TESTS;INPUTS")
  _upcheck_check_arguments(${function})
  _upcheck_command(upcheck ${function})

  # ---- what it is about ---------------------------------------------------------------------------------

  set(source "${CMAKE_CURRENT_SOURCE_DIR}")
  if(DEFINED arg_DIRECTORY)
    get_filename_component(source "${arg_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    _upcheck_known_dirs(known "${CMAKE_SOURCE_DIR}")
    if(NOT "${source}" IN_LIST known)
      _upcheck_fail(${function} "DIRECTORY '${arg_DIRECTORY}' is no directory of the project, or not known yet")
    endif()
  endif()
  get_property(binary DIRECTORY "${source}" PROPERTY BINARY_DIR)
  get_property(tests DIRECTORY "${source}" PROPERTY TESTS)
  foreach(test IN LISTS arg_TESTS)
    if(NOT "${test}" IN_LIST tests)
      _upcheck_fail(${function} "TESTS: there is no test '${test}' in ${source}")
    endif()
  endforeach()
  set(store "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/tests")
  if(DEFINED arg_STORE)
    get_filename_component(store "${arg_STORE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()

  # ---- what ctest reads -----------------------------------------------------------------------------------

  # Each call has its number.
  get_property(number GLOBAL PROPERTY _UPCHECK_N_SKIPPING)
  if(NOT number)
    set(number 0)
  endif()
  math(EXPR number "${number} + 1")
  set_property(GLOBAL PROPERTY _UPCHECK_N_SKIPPING ${number})

  set(inputs "")
  foreach(input IN LISTS arg_INPUTS)
    _upcheck_test_input(input "${input}")
    _upcheck_quote(quoted "${input}")
    string(APPEND inputs "_upcheck_ctest_input(${number} ${quoted})\n")
  endforeach()
  set(generated "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/tests-${number}")
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    file(GENERATE OUTPUT "${generated}-$<CONFIG>.cmake" CONTENT "${inputs}")
    set(inputs_file "${generated}-\${CTEST_CONFIGURATION_TYPE}.cmake")
  else()
    file(GENERATE OUTPUT "${generated}-inputs.cmake" CONTENT "${inputs}")
    set(inputs_file "${generated}-inputs.cmake")
  endif()

  get_property(module GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
  set(words "")
  foreach(word IN ITEMS "${binary}" "${arg_TESTS}" "${upcheck}" "${store}" "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
    _upcheck_quote(quoted "${word}")
    string(APPEND words " ${quoted}")
  endforeach()
  # Older versions forget who has included a file when that includes another one.
  file(WRITE "${generated}.cmake" "set(_upcheck_file \"\${CMAKE_PARENT_LIST_FILE}\")
include(\"${module}/CTest.cmake\")
_upcheck_ctest(${number} \"\${_upcheck_file}\"${words})
include(\"${inputs_file}\" OPTIONAL)\n")
  set_property(DIRECTORY "${source}" APPEND PROPERTY TEST_INCLUDE_FILES "${generated}.cmake")
endfunction()

# Stores an input as upcheck is to read it.
function(_upcheck_test_input variable input)
  set(not "")
  if(input MATCHES "^!(.*)$")
    set(not "!")
    set(input "${CMAKE_MATCH_1}")
  endif()
  if(NOT input MATCHES "\\$<")
    set(file "${input}")
    if(NOT IS_ABSOLUTE "${input}")
      set(file "${CMAKE_CURRENT_SOURCE_DIR}/${input}")
    endif()
    if(IS_DIRECTORY "${file}")
      _upcheck_pattern(input "${file}")
      string(APPEND input "/**")
    elseif(NOT EXISTS "${file}" AND input MATCHES "[*?{[]" AND NOT IS_ABSOLUTE "${input}")
      _upcheck_pattern(source "${CMAKE_CURRENT_SOURCE_DIR}")
      set(input "${source}/${input}")
    else()
      set(input "${file}")
    endif()
  endif()
  set(${variable} "${not}${input}" PARENT_SCOPE)
endfunction()

# Stores all directories of the project that are known so far, from `dir` on.
function(_upcheck_known_dirs variable dir)
  set(known "${dir}")
  get_property(below DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
  foreach(sub IN LISTS below)
    _upcheck_known_dirs(dirs "${sub}")
    list(APPEND known ${dirs})
  endforeach()
  set(${variable} "${known}" PARENT_SCOPE)
endfunction()
