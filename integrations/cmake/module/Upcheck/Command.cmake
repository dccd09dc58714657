# The command upcheck: where it is.

# Finds the command, and defines Upcheck::cli unless there is one. That none is found is said only by what needs it.
function(_upcheck_find_command)
  if(NOT UPCHECK_EXECUTABLE AND NOT CMAKE_SCRIPT_MODE_FILE AND TARGET Upcheck::cli)
    get_target_property(location Upcheck::cli IMPORTED_LOCATION)
    set(UPCHECK_EXECUTABLE "${location}")
  endif()
  if(NOT UPCHECK_EXECUTABLE)
    # The module of an installed tree is in PREFIX/lib/cmake/Upcheck, or PREFIX/lib/PLATFORM/cmake/Upcheck.
    get_property(dir GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
    get_filename_component(prefix "${dir}/../../../.." ABSOLUTE)
    find_program(UPCHECK_EXECUTABLE upcheck HINTS "${prefix}/bin" "${prefix}/../bin" DOC "The command upcheck")
    mark_as_advanced(UPCHECK_EXECUTABLE)
  endif()
  if(NOT UPCHECK_EXECUTABLE)
    return()
  endif()
  get_filename_component(path "${UPCHECK_EXECUTABLE}" ABSOLUTE)
  set_property(GLOBAL PROPERTY _UPCHECK_EXECUTABLE "${path}")
  if(NOT CMAKE_SCRIPT_MODE_FILE AND NOT TARGET Upcheck::cli)
    # Functions are there for the whole project, so the target is, too.
    add_executable(Upcheck::cli IMPORTED GLOBAL)
    set_target_properties(Upcheck::cli PROPERTIES IMPORTED_LOCATION "${path}")
  endif()
endfunction()

# Stores the path of the command. It is an error of the function if there is none.
function(_upcheck_command variable function)
  get_property(path GLOBAL PROPERTY _UPCHECK_EXECUTABLE)
  if(NOT path)
    _upcheck_fail(${function} "the command 'upcheck' was not found; set UPCHECK_EXECUTABLE to its path")
  endif()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()
