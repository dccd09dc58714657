# Touches the triggers of the external projects that are stale: cmake -DCOMMAND=... -DDIR=... -DSTORE=... -DNAMES=a:b -P this file.
#
# It is started when the check has found something, see ExternalProject.cmake.
cmake_minimum_required(VERSION 3.16...4.0)

set(ask "${COMMAND}" check -C "${DIR}" --from graph -f "${DIR}.json" --records "${STORE}" --color never)
execute_process(COMMAND ${ask} --format names RESULT_VARIABLE status OUTPUT_VARIABLE stale ERROR_VARIABLE error)
if(status EQUAL 0 OR status EQUAL 1)
  string(REGEX REPLACE "\n$" "" stale "${stale}")
  string(REPLACE "\n" ";" stale "${stale}")
else()
  # Who does not know builds.
  message(WARNING "upcheck: all external projects are built, since nobody can say which of them are stale: ${error}")
  string(REPLACE ":" ";" stale "${NAMES}")
endif()

# Why is of interest only where there was a build before.
set(known)
foreach(name IN LISTS stale)
  if(EXISTS "${DIR}/${name}")
    list(APPEND known "${name}")
  endif()
endforeach()
if(known AND NOT status GREATER 1)
  execute_process(COMMAND ${ask} ${known} OUTPUT_VARIABLE text ERROR_QUIET)
  # The first line only counts.
  string(REGEX MATCH "\n\n.*" text "${text}")
  string(STRIP "${text}" text)
  message(STATUS "External projects are stale:\n${text}")
endif()

foreach(name IN LISTS stale)
  file(TOUCH "${DIR}/${name}")
endforeach()
