#[=======================================================================[.rst:
.. command:: upcheck_external_project

  Builds external projects anew when their sources have changed, and only then::

    upcheck_external_project(<name>... [WATCH <pattern>...] [OUTPUTS <file>...] [STORE <dir>])

  Each ``<name>`` was added by :command:`ExternalProject_Add` in the same directory, without ``BUILD_ALWAYS``, whose
  place this takes: with it, the build of each external project is entered each time. Here one process looks at the
  sources of all of them, those of other calls too, and the build of those is entered that are stale:

  - a file was edited, added, removed or renamed; what is only touched, or changed and changed back, is not stale,
  - the last build failed or was interrupted, or a source was edited while it was under way,
  - an output is missing, or was changed by somebody else,
  - it was never built under this function's eyes.

  Beside that, each project is built anew when CMake's own rules say so: when a project that it ``DEPENDS`` on was.

  ``WATCH``
    What to look at: files, directories with all that is beneath, and patterns (``**`` for any directories, ``!`` in
    front for what is not meant), absolute or as seen from the project's source directory. It has to be given if the
    project has ``BUILD_IN_SOURCE``. The default is the source directory, with hidden files, without ``.git`` and
    without those directories in it where the project is downloaded to and built. Links to directories are followed
    if they are there when the project is configured.

  ``OUTPUTS``
    Files that are made by the project, beside its ``BUILD_BYPRODUCTS``: absolute, or as seen from its build directory.
    ``<BINARY_DIR>`` and its like can be used as in ``ExternalProject_Add``.

  ``STORE``
    The directory where records of successes are kept, by default one in the build directory. There is one for all
    calls.

  The target ``upcheck_externals`` looks at all of them. It is built with each of them.
#]=======================================================================]

function(upcheck_external_project)
  set(function upcheck_external_project)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "STORE" "WATCH;OUTPUTS")
  set(names "${arg_UNPARSED_ARGUMENTS}")
  unset(arg_UNPARSED_ARGUMENTS)
  _upcheck_check_project(${function})
  _upcheck_check_arguments(${function})
  if(NOT names)
    _upcheck_fail(${function} "no external project is named")
  endif()
  _upcheck_command(command ${function})
  get_property(seen GLOBAL PROPERTY _UPCHECK_EXTERNALS)
  foreach(name IN LISTS names)
    _upcheck_check_external(${function} "${name}")
    if(name IN_LIST seen)
      _upcheck_fail(${function} "the external project '${name}' is named twice")
    endif()
    list(APPEND seen "${name}")
  endforeach()
  _upcheck_externals_store(${function})
  set_property(GLOBAL PROPERTY _UPCHECK_EXTERNALS "${seen}")

  set(dir "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/externals")
  file(MAKE_DIRECTORY "${dir}" "${dir}-begun")
  set(triggers)
  foreach(name IN LISTS names)
    list(APPEND triggers "${dir}/${name}")
    _upcheck_describe_external("${name}")
    _upcheck_add_external_steps("${name}")
  endforeach()
  _upcheck_look_at_externals("${triggers}")
endfunction()

# Says no to what cannot be watched.
function(_upcheck_check_external function name)
  _upcheck_external_property(is_external "${name}" IS_EXTERNAL_PROJECT)
  if(NOT is_external)
    _upcheck_fail(${function} "there is no external project '${name}'; ExternalProject_Add comes first")
  endif()
  # CMake extends a rule of a custom command only where it was made.
  get_target_property(made_in "${name}" BINARY_DIR)
  if(NOT made_in STREQUAL CMAKE_CURRENT_BINARY_DIR)
    _upcheck_fail(${function} "the external project '${name}' was added in another directory; call it there")
  endif()
  _upcheck_external_property(always "${name}" BUILD_ALWAYS)
  if(always)
    _upcheck_fail(${function} "the external project '${name}' has BUILD_ALWAYS, which enters its build each time")
  endif()
  _upcheck_external_property(in_source "${name}" BUILD_IN_SOURCE)
  if(in_source AND NOT arg_WATCH)
    _upcheck_fail(${function} "the external project '${name}' has BUILD_IN_SOURCE; name its sources with WATCH")
  endif()
endfunction()

# One store for all, since one process looks at all.
macro(_upcheck_externals_store function)
  set(store "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/external-records")
  if(DEFINED arg_STORE)
    get_filename_component(store "${arg_STORE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  get_property(_upcheck_text GLOBAL PROPERTY _UPCHECK_EXTERNALS_STORE)
  if(NOT _upcheck_text)
    set_property(GLOBAL PROPERTY _UPCHECK_EXTERNALS_STORE "${store}")
  elseif(NOT DEFINED arg_STORE)
    set(store "${_upcheck_text}")
  elseif(NOT store STREQUAL _upcheck_text)
    _upcheck_fail(${function} "STORE is '${store}' here, and '${_upcheck_text}' in an earlier call")
  endif()
endmacro()

# What ExternalProject_Get_Property gives, which ends with an error if there is no such property.
function(_upcheck_external_property variable name property)
  set(value)
  if(TARGET "${name}")
    get_property(value TARGET "${name}" PROPERTY _EP_${property})
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# ---- what is watched ------------------------------------------------------------------------------

# Adds an external project to the graph. Its name there is that of its trigger, which is its first output.
function(_upcheck_describe_external name)
  _upcheck_external_property(source "${name}" SOURCE_DIR)
  _upcheck_external_property(binary "${name}" BINARY_DIR)
  set(globs)
  if(arg_WATCH)
    foreach(pattern IN LISTS arg_WATCH)
      _upcheck_watch_given("${source}" "${pattern}")
    endforeach()
  else()
    _upcheck_watch_source("${name}" "${source}")
  endif()

  set(outputs "\"${name}\"")
  get_property(configures TARGET "${name}" PROPERTY _EP_CONFIGURE_COMMAND SET)
  if(NOT configures)
    # CMake's own: whoever edits the cache wants to see the project built with it.
    list(APPEND arg_OUTPUTS "${binary}/CMakeCache.txt")
  endif()
  foreach(property BUILD_BYPRODUCTS INSTALL_BYPRODUCTS)
    _upcheck_external_property(byproducts "${name}" ${property})
    list(APPEND arg_OUTPUTS ${byproducts})
  endforeach()
  set(seen)
  foreach(output IN LISTS arg_OUTPUTS)
    foreach(tag SOURCE_DIR SOURCE_SUBDIR BINARY_DIR INSTALL_DIR TMP_DIR STAMP_DIR DOWNLOAD_DIR LOG_DIR)
      if(output MATCHES "<${tag}>")
        _upcheck_external_property(value "${name}" ${tag})
        string(REPLACE "<${tag}>" "${value}" output "${output}")
      endif()
    endforeach()
    # What only the generator can resolve is looked at by the generated build alone.
    if(output MATCHES "[$]<")
      continue()
    endif()
    get_filename_component(output "${output}" ABSOLUTE BASE_DIR "${binary}")
    if(NOT output IN_LIST seen)
      list(APPEND seen "${output}")
      _upcheck_json(output "${output}")
      string(APPEND outputs ",${output}")
    endif()
  endforeach()

  get_property(graph GLOBAL PROPERTY _UPCHECK_EXTERNALS_GRAPH)
  if(graph)
    string(APPEND graph ",\n")
  endif()
  set_property(GLOBAL PROPERTY _UPCHECK_EXTERNALS_GRAPH "${graph}{\"outputs\":[${outputs}],\n\"globs\":[${globs}]}")
endfunction()

# Adds what somebody has written down to `globs`.
function(_upcheck_watch_given source pattern)
  set(not)
  if(pattern MATCHES "^!(.*)$")
    set(not "!")
    set(pattern "${CMAKE_MATCH_1}")
  endif()
  get_filename_component(path "${pattern}" ABSOLUTE BASE_DIR "${source}")
  if(pattern MATCHES "[][*?{}\\]" AND NOT EXISTS "${path}")
    if(NOT IS_ABSOLUTE "${pattern}")
      _upcheck_escape_pattern(source "${source}")
      set(pattern "${source}/${pattern}")
    endif()
    _upcheck_add_pattern("${not}${pattern}")
  else()
    # A file, a directory, or what will be one of them when it is downloaded.
    _upcheck_escape_pattern(escaped "${path}")
    _upcheck_add_pattern("${not}${escaped}")
    _upcheck_watch_beneath("${not}${escaped}" "${path}")
  endif()
  set(globs "${globs}" PARENT_SCOPE)
endfunction()

# Adds all that is in the source directory to `globs`, but what ExternalProject itself puts there.
function(_upcheck_watch_source name source)
  _upcheck_escape_pattern(escaped "${source}")
  _upcheck_watch_beneath("${escaped}" "${source}")
  set(others "${CMAKE_BINARY_DIR}")
  foreach(property BINARY_DIR STAMP_DIR TMP_DIR DOWNLOAD_DIR LOG_DIR INSTALL_DIR)
    _upcheck_external_property(dir "${name}" ${property})
    list(APPEND others "${dir}")
  endforeach()
  foreach(dir IN LISTS others)
    string(FIND "${dir}/" "${source}/" at)
    if(at EQUAL 0 AND NOT dir STREQUAL source)
      _upcheck_escape_pattern(dir "${dir}")
      _upcheck_watch_beneath("!${dir}" "")
    endif()
  endforeach()
  foreach(git "${escaped}/.git" "${escaped}/**/.git")
    _upcheck_add_pattern("!${git}")
    _upcheck_watch_beneath("!${git}" "")
  endforeach()
  set(globs "${globs}" PARENT_SCOPE)
endfunction()

# Adds a pattern for all files beneath a directory to `globs`. What is hidden is only matched by patterns with a dot: it
# takes one for each directory on the way that is hidden, and here they are two. A directory that is a link is not entered
# by `**`.
function(_upcheck_watch_beneath pattern dir)
  _upcheck_add_pattern("${pattern}/{**,**/.*,**/.*/**,**/.*/**/.*,**/.*/**/.*/**,**/.*/**/.*/**/.*}")
  if(IS_DIRECTORY "${dir}" AND NOT pattern MATCHES "^!")
    file(GLOB_RECURSE entries LIST_DIRECTORIES true "${dir}/*")
    foreach(entry IN LISTS entries)
      if(IS_SYMLINK "${entry}" AND IS_DIRECTORY "${entry}")
        _upcheck_escape_pattern(entry "${entry}")
        _upcheck_watch_beneath("${entry}" "")
      endif()
    endforeach()
  endif()
  set(globs "${globs}" PARENT_SCOPE)
endfunction()

# Adds a pattern to `globs`, which are what stands between brackets in JSON: CMake's own lists do not take all characters.
function(_upcheck_add_pattern pattern)
  _upcheck_json(pattern "${pattern}")
  if(globs)
    string(APPEND globs ",")
  endif()
  set(globs "${globs}${pattern}" PARENT_SCOPE)
endfunction()

# A path as the pattern that matches it alone.
function(_upcheck_escape_pattern variable path)
  string(REGEX REPLACE "([][*?{},!\\])" "\\\\\\1" path "${path}")
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# A text as JSON has it.
function(_upcheck_json variable text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# ---- when it is built -----------------------------------------------------------------------------

# Two steps around the project's own: before its build the sources are put on record as they are then, so that an edit
# during the build is not lost; and after it, that it succeeded. The first one runs when the trigger was touched, and
# when a step before it was run.
function(_upcheck_add_external_steps name)
  get_property(parts GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
  set(script "${CMAKE_COMMAND}" "-DCOMMAND=${command}" "-DDIR=${dir}" "-DSTORE=${store}" "-DNAME=${name}")
  ExternalProject_Add_Step("${name}" upcheck_begin
    COMMAND ${script} -DBEGIN=ON -P "${parts}/ExternalRecord.cmake"
    COMMENT "Noting the sources of '${name}'"
    DEPENDS "${dir}/${name}" upcheck_externals
    DEPENDEES configure
    DEPENDERS build)
  ExternalProject_Add_Step("${name}" upcheck_record
    COMMAND ${script} -P "${parts}/ExternalRecord.cmake"
    COMMENT "Recording the success of '${name}'"
    DEPENDEES install)
endfunction()

# The target that looks at all of them. Ninja has to be told which files it may touch, and it can only be told when the
# target is made: so that is done when all calls were. CMake before 3.19 knows no such moment: there each call after the
# first one has a target of its own, which has only to name its files.
function(_upcheck_look_at_externals triggers)
  get_property(earlier GLOBAL PROPERTY _UPCHECK_EXTERNAL_TRIGGERS)
  set_property(GLOBAL APPEND PROPERTY _UPCHECK_EXTERNAL_TRIGGERS ${triggers})
  if(TARGET upcheck_externals)
    list(LENGTH earlier n)
    add_custom_target(upcheck_externals_${n} COMMAND "${CMAKE_COMMAND}" -E echo_append BYPRODUCTS ${triggers}
      COMMENT "Looking at more external projects" VERBATIM)
    add_dependencies(upcheck_externals_${n} upcheck_externals)
    _upcheck_write_externals()
  elseif(CMAKE_VERSION VERSION_LESS 3.19)
    _upcheck_add_externals_target()
  elseif(NOT earlier)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _upcheck_add_externals_target)
  endif()
endfunction()

function(_upcheck_add_externals_target)
  _upcheck_command(command upcheck_external_project)
  get_property(store GLOBAL PROPERTY _UPCHECK_EXTERNALS_STORE)
  get_property(triggers GLOBAL PROPERTY _UPCHECK_EXTERNAL_TRIGGERS)
  get_property(parts GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
  set(dir "${CMAKE_BINARY_DIR}/CMakeFiles/upcheck/externals")
  # CMake is started only if something is stale, or if there is trouble.
  add_custom_target(upcheck_externals
    COMMAND "${command}" check --quiet -C "${dir}" --from graph -f "${dir}.json" --records "${store}"
      || "${CMAKE_COMMAND}" "-DCOMMAND=${command}" "-DDIR=${dir}" "-DSTORE=${store}"
        "-DNAMES=$<TARGET_PROPERTY:upcheck_externals,UPCHECK_NAMES>" -P "${parts}/ExternalCheck.cmake"
    BYPRODUCTS ${triggers} COMMENT "Looking at external projects" VERBATIM)
  if(TARGET Upcheck::cli)
    # It may be a part of this build.
    add_dependencies(upcheck_externals Upcheck::cli)
  endif()
  # When it is written, all calls were, and it is left alone if it is the same.
  file(GENERATE OUTPUT "${dir}.json" CONTENT "$<TARGET_PROPERTY:upcheck_externals,UPCHECK_GRAPH>\n")
  # For `upcheck --from cmake`, which asks what this target asks.
  file(GENERATE OUTPUT "${dir}.store" CONTENT "${store}\n")
  _upcheck_write_externals()
endfunction()

function(_upcheck_write_externals)
  get_property(graph GLOBAL PROPERTY _UPCHECK_EXTERNALS_GRAPH)
  # The policy is said because without any record, times alone would count. No path has a generator expression in it,
  # whatever it looks like.
  string(REPLACE "$<" "$<1:$><" graph "${graph}")
  set_property(TARGET upcheck_externals PROPERTY UPCHECK_GRAPH
    "{\"version\":1,\"policy\":\"mtime-and-digest-input\",\"targets\":[\n${graph}\n]}")
  get_property(names GLOBAL PROPERTY _UPCHECK_EXTERNALS)
  string(REPLACE ";" ":" names "${names}")
  set_property(TARGET upcheck_externals PROPERTY UPCHECK_NAMES "${names}")
endfunction()
