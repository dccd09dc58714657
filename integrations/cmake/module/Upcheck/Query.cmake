# What CMake is asked through its File API, so that the command knows the names of targets and the files of a configure.

# Asks, once for each build directory. CMake reads queries before it reads a project: what is asked here is answered by
# this very configure only since 3.27, which has a command for it. Before, the first build configures once more.
function(_upcheck_query)
  get_property(is_asked GLOBAL PROPERTY _UPCHECK_QUERY)
  if(is_asked)
    return()
  endif()
  set_property(GLOBAL PROPERTY _UPCHECK_QUERY TRUE)
  if(NOT CMAKE_VERSION VERSION_LESS 3.27)
    cmake_file_api(QUERY API_VERSION 1 CODEMODEL 2 CMAKEFILES 1)
    return()
  endif()
  set(file "${CMAKE_BINARY_DIR}/.cmake/api/v1/query/client-upcheck/query.json")
  set(query "{\"requests\":[{\"kind\":\"codemodel\",\"version\":2},{\"kind\":\"cmakeFiles\",\"version\":1}]}\n")
  set(old)
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(old STREQUAL query)
    return()
  endif()
  file(WRITE "${file}" "${query}")
  # An input of this configure that is newer than anything it makes, and no input of the next one.
  set(dir "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck")
  set(newer "not-answered-yet")
  file(WRITE "${dir}/${newer}" "CMake has to run once more to answer ${file}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar cf "${newer}.tar" "--mtime=2037-12-31 00:00:00" "${newer}"
    WORKING_DIRECTORY "${dir}" OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar xf "${newer}.tar" WORKING_DIRECTORY "${dir}" OUTPUT_QUIET ERROR_QUIET)
  file(REMOVE "${dir}/${newer}.tar")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dir}/${newer}")
endfunction()
