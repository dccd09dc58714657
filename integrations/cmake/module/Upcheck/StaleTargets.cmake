#[=======================================================================[.rst:
.. command:: upcheck_stale_targets

  Stores a list of the stale targets of a build::

    upcheck_stale_targets(<variable> [BUILD_DIR <dir>] [TARGETS <target>...] [CONFIG <config>]
                          [REASONS <variable>] [RESULT <variable>])

  For scripts, and for what asks while a project is configured: then it is about the last configure's build. One process
  looks at everything, and changes nothing. ``<variable>`` has CMake's names, inputs before their users.

  ``BUILD_DIR``
    The build directory, by default that of the project. Relative to the current binary directory; in a script, to where
    it was started.

  ``TARGETS``, ``CONFIG``
    What to ask about, by default all that is built by default.

  ``REASONS``
    Stores a list with a reason for each of the targets: a code of ``docs/schema/report.json`` and mostly a path.

  ``RESULT``
    Stores ``fresh``, ``stale`` or what stood in the way. Without it, that ends with an error. It can be ``stale`` where
    the list is empty: because a configure is needed.

  As a script it prints the list::

    cmake -DBUILD_DIR=<dir> [-DTARGETS=<target>;...] [-DCONFIG=<config>] -P Upcheck.cmake

.. command:: upcheck_configure_check

  Stores whether a build directory has to be configured again before it is built::

    upcheck_configure_check(<dir> RESULT <variable> [REASON <variable>])

  ``RESULT`` is ``TRUE`` or ``FALSE``, and ``REASON`` names what asks for it: a code, and the file that is newer, missing
  or matches a glob. It is an error if the directory was never configured, or if CMake was not asked what is in it: see
  ``upcheck --write-query``.
#]=======================================================================]

function(upcheck_stale_targets variable)
  set(function upcheck_stale_targets)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BUILD_DIR;CONFIG;REASONS;RESULT" "TARGETS")
  _upcheck_check_arguments(${function})
  if(NOT DEFINED arg_BUILD_DIR)
    if(CMAKE_SCRIPT_MODE_FILE)
      _upcheck_fail(${function} "BUILD_DIR is missing, and a script (cmake -P) has none of its own")
    endif()
    set(arg_BUILD_DIR "${CMAKE_BINARY_DIR}")
  endif()
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    _upcheck_query()
  endif()
  set(options)
  if(DEFINED arg_CONFIG)
    list(APPEND options --config "${arg_CONFIG}")
  endif()
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND options --target "${target}")
  endforeach()
  _upcheck_ask(${function} "${arg_BUILD_DIR}" ${options})
  set(names)
  set(reasons)
  if(result STREQUAL "fresh" OR result STREQUAL "stale")
    _upcheck_stale_names("${json}")
  elseif(NOT DEFINED arg_RESULT)
    _upcheck_fail(${function} "${result}")
  endif()
  set(${variable} "${names}" PARENT_SCOPE)
  if(DEFINED arg_REASONS)
    set(${arg_REASONS} "${reasons}" PARENT_SCOPE)
  endif()
  if(DEFINED arg_RESULT)
    set(${arg_RESULT} "${result}" PARENT_SCOPE)
  endif()
endfunction()

function(upcheck_configure_check dir)
  set(function upcheck_configure_check)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RESULT;REASON" "")
  _upcheck_check_arguments(${function} RESULT)
  _upcheck_ask(${function} "${dir}")
  if(NOT result STREQUAL "fresh" AND NOT result STREQUAL "stale")
    _upcheck_fail(${function} "${result}")
  endif()
  set(is_needed FALSE)
  set(reason)
  if(json MATCHES "\"manifest_stale\":true")
    set(is_needed TRUE)
    # The first reason of that target says that it is the manifest, the others why; those that name a file say most.
    string(REGEX MATCH "\"code\":\"manifest-stale\".*" rest "${json}")
    string(FIND "${rest}" "\\u005d" end)
    string(SUBSTRING "${rest}" 0 ${end} rest)
    string(REGEX MATCHALL "{\"code\":\"[a-z-]*\"(,\"path\":\"([^\"\\]|\\\\.)*)?" others "${rest}")
    foreach(other IN LISTS others)
      if(NOT reason OR reason MATCHES "^upstream-stale")
        string(REGEX MATCH "^{\"code\":\"([a-z-]*)\"(,\"path\":\"(.*))?$" other "${other}")
        set(code "${CMAKE_MATCH_1}")
        _upcheck_from_json(path "${CMAKE_MATCH_3}")
        string(STRIP "${code} ${path}" reason)
      endif()
    endforeach()
  endif()
  set(${arg_RESULT} ${is_needed} PARENT_SCOPE)
  if(DEFINED arg_REASON)
    set(${arg_REASON} "${reason}" PARENT_SCOPE)
  endif()
endfunction()

# Asks about a build directory. Stores `result`, as in RESULT, and `json`: without square brackets and semicolons, which
# have a meaning in CMake's lists.
function(_upcheck_ask function dir) # OPTION...
  _upcheck_command(command ${function})
  get_filename_component(dir "${dir}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  execute_process(COMMAND "${command}" check -C "${dir}" --from cmake --format json ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE json ERROR_VARIABLE error)
  if(status EQUAL 0)
    set(result fresh)
  elseif(status EQUAL 1)
    set(result stale)
  else()
    string(STRIP "${error}" error)
    string(REGEX REPLACE "^upcheck: error: " "" error "${error}")
    if(NOT error)
      set(error "${command}: ${status}")
    endif()
    set(result "${error}")
  endif()
  string(REPLACE "[" "\\u005b" json "${json}")
  string(REPLACE "]" "\\u005d" json "${json}")
  string(REPLACE ";" "\\u003b" json "${json}")
  set(result "${result}" PARENT_SCOPE)
  set(json "${json}" PARENT_SCOPE)
endfunction()

# Stores `names` and `reasons` of the stale targets of CMake. string(JSON) came with CMake 3.19.
function(_upcheck_stale_names json)
  set(names)
  set(reasons)
  set(open "\\\\u005b")
  set(text "(([^\"\\]|\\\\.)*)")
  set(entry "\"cmake_target\":\"${text}\"(,\"[a-z_]*\":\"${text}\")*,\"reasons\":${open}{\"code\":\"([a-z-]*)\"")
  string(REGEX MATCHALL "${entry}(,\"path\":\"${text}\")?" entries "${json}")
  foreach(entry IN LISTS entries)
    string(REGEX MATCH "\"cmake_target\":\"([^\"]*)\"" name "${entry}")
    set(name "${CMAKE_MATCH_1}")
    string(REGEX MATCH "\"code\":\"([a-z-]*)\"(,\"path\":\"(.*)\")?$" code "${entry}")
    set(code "${CMAKE_MATCH_1}")
    _upcheck_from_json(path "${CMAKE_MATCH_3}")
    string(STRIP "${code} ${path}" reason)
    list(FIND names "${name}" at)
    if(at EQUAL -1)
      list(APPEND names "${name}")
      set(reason_of_${name} "${reason}")
    elseif(reason_of_${name} MATCHES "^upstream-stale")
      # A reason of its own says more than that something before it is stale.
      set(reason_of_${name} "${reason}")
    endif()
  endforeach()
  foreach(name IN LISTS names)
    list(APPEND reasons "${reason_of_${name}}")
  endforeach()
  set(names "${names}" PARENT_SCOPE)
  set(reasons "${reasons}" PARENT_SCOPE)
endfunction()

# A text as it was before it was written as JSON, as an item of a list.
function(_upcheck_from_json variable text)
  string(REPLACE "\\u005b" "[" text "${text}")
  string(REPLACE "\\u005d" "]" text "${text}")
  string(REPLACE "\\u003b" "\\;" text "${text}")
  string(REPLACE "\\\"" "\"" text "${text}")
  string(REPLACE "\\\\" "\\" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# cmake -DBUILD_DIR=... -P Upcheck.cmake
function(_upcheck_script)
  if(NOT BUILD_DIR)
    message(FATAL_ERROR "Which build? cmake -DBUILD_DIR=<dir> [-DTARGETS=<target>;...] [-DCONFIG=<config>] -P Upcheck.cmake")
  endif()
  set(options)
  if(TARGETS)
    list(APPEND options TARGETS ${TARGETS})
  endif()
  if(CONFIG)
    list(APPEND options CONFIG "${CONFIG}")
  endif()
  upcheck_stale_targets(stale BUILD_DIR "${BUILD_DIR}" ${options})
  # message() writes to standard error.
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${stale}")
endfunction()
