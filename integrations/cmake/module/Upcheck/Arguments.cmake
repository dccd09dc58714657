# What all functions do with their arguments: complain of what is unknown, empty or missing, by name.

# Ends with an error of the function.
function(_upcheck_fail function text)
  message(FATAL_ERROR "${function}: ${text}")
endfunction()

# Says no to arguments that cmake_parse_arguments(PARSE_ARGV n arg ...) could not place, to keywords without a value, and
# to missing ones among those in ARGN. A macro, since it is about the variables of the function that calls it.
macro(_upcheck_check_arguments function) # REQUIRED...
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    string(REPLACE ";" ", " _upcheck_text "${arg_UNPARSED_ARGUMENTS}")
    _upcheck_fail(${function} "unknown argument: ${_upcheck_text}")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    string(REPLACE ";" ", " _upcheck_text "${arg_KEYWORDS_MISSING_VALUES}")
    _upcheck_fail(${function} "no value given for ${_upcheck_text}")
  endif()
  foreach(_upcheck_text ${ARGN})
    if(NOT DEFINED arg_${_upcheck_text} OR "${arg_${_upcheck_text}}" STREQUAL "")
      _upcheck_fail(${function} "${_upcheck_text} is missing")
    endif()
  endforeach()
  unset(_upcheck_text)
endmacro()

# Says no to a value that is none of those in ARGN.
function(_upcheck_check_choice function keyword value) # CHOICE...
  if(NOT "${value}" IN_LIST ARGN)
    string(REPLACE ";" ", " choices "${ARGN}")
    _upcheck_fail(${function} "${keyword} '${value}' is none of ${choices}")
  endif()
endfunction()

# Says no where there is no project: in a script (cmake -P), where there is nothing to build.
function(_upcheck_check_project function)
  if(CMAKE_SCRIPT_MODE_FILE)
    _upcheck_fail(${function} "it needs a project, and this is a script (cmake -P)")
  endif()
endfunction()

# Says no to names in ARGN that are no targets, as far as they are known yet.
function(_upcheck_check_targets function keyword) # TARGET...
  foreach(target IN LISTS ARGN)
    if(NOT TARGET "${target}")
      _upcheck_fail(${function} "${keyword}: there is no target '${target}'")
    endif()
  endforeach()
endfunction()

# Stores the text as an argument that is nothing but this text, for code that is to be evaluated.
function(_upcheck_quote variable text)
  set(fill "=")
  while("${text}]" MATCHES "]${fill}]")
    string(APPEND fill "=")
  endwhile()
  # What follows the newline is the text.
  set(${variable} "[${fill}[\n${text}]${fill}]" PARENT_SCOPE)
endfunction()

# Runs code, which sees the variables of the function that calls this.
function(_upcheck_eval code)
  if(CMAKE_VERSION VERSION_LESS 3.18)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/upcheck/evaluated.cmake")
    file(WRITE "${file}" "${code}")
    include("${file}")
  else()
    cmake_language(EVAL CODE "${code}")
  endif()
endfunction()

# Stores the pattern that matches the path and nothing else.
function(_upcheck_pattern variable path)
  string(REGEX REPLACE "([][*?{}!,\\])" "\\\\\\1" pattern "${path}")
  set(${variable} "${pattern}" PARENT_SCOPE)
endfunction()
