# Asks, and does well whatever the answer is: cmake -DASK=COMMAND;... [-DOUTPUT=file] -P this file
#
# Exit status 1 is an answer to the command, and an error to whatever builds.
cmake_minimum_required(VERSION 3.16...4.0)

if(NOT OUTPUT)
  execute_process(COMMAND ${ASK} RESULT_VARIABLE status)
else()
  get_filename_component(dir "${OUTPUT}" DIRECTORY)
  file(MAKE_DIRECTORY "${dir}")
  execute_process(COMMAND ${ASK} RESULT_VARIABLE status OUTPUT_FILE "${OUTPUT}.new")
  if(status EQUAL 0 OR status EQUAL 1)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${OUTPUT}.new" "${OUTPUT}" RESULT_VARIABLE copied)
    if(NOT copied EQUAL 0)
      set(status "${OUTPUT} was not written")
    endif()
  endif()
  file(REMOVE "${OUTPUT}.new")
endif()
if(NOT status EQUAL 0 AND NOT status EQUAL 1)
  message(FATAL_ERROR "upcheck does not know what is stale (${status})")
endif()
