# Records that a build has succeeded: cmake -DCOMMAND=... -DDIR=... -DGENERATOR=... [-DCONFIG=...] -P this file [index].
#
# `index` is what CMake's instrumentation says of a build: a failed one is not recorded. What cannot be recorded is no
# reason for a build to fail.
cmake_minimum_required(VERSION 3.16...4.0)

math(EXPR last "${CMAKE_ARGC} - 1")
set(index "${CMAKE_ARGV${last}}")
if(index MATCHES "[.]json$")
  file(READ "${index}" index)
  string(JSON dir GET "${index}" dataDir)
  string(JSON n LENGTH "${index}" snippets)
  if(n EQUAL 0)
    return()
  endif()
  math(EXPR last "${n} - 1")
  foreach(at RANGE ${last})
    string(JSON snippet GET "${index}" snippets ${at})
    file(READ "${dir}/${snippet}" snippet)
    string(JSON result ERROR_VARIABLE error GET "${snippet}" result)
    if(NOT result EQUAL 0)
      return()
    endif()
  endforeach()
endif()

if(GENERATOR MATCHES "Makefiles")
  execute_process(COMMAND "${COMMAND}" record -C "${DIR}" --from cmake --policy mtime-and-digest-input
    RESULT_VARIABLE status ERROR_VARIABLE error)
else()
  # Ninja keeps the records; what is asked now is prepared for the next check.
  set(config)
  if(CONFIG)
    set(config --config "${CONFIG}")
  endif()
  execute_process(COMMAND "${COMMAND}" check --quiet -C "${DIR}" --from cmake ${config}
    RESULT_VARIABLE status ERROR_VARIABLE error)
endif()
# Exit status 1: something is not recorded, or stale.
if(NOT status EQUAL 0 AND NOT status EQUAL 1)
  message(STATUS "Nothing is recorded: ${status} ${error}")
endif()
