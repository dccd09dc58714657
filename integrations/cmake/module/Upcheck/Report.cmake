#[=======================================================================[.rst:
.. command:: upcheck_add_report_target

  Adds a target that says what a build would do, and why, and builds nothing::

    upcheck_add_report_target([NAME <name>] [TARGETS <target>...] [EXPLAIN] [FORMAT text|json|jsonl|names]
                              [OUTPUT <file>])

  ``cmake --build <dir> --target stale`` then prints the stale targets. It does well whether there are any or not; it
  fails if there is no answer. Build tools see to their own files first: if a configure is needed, ``cmake --build`` runs
  it before it comes to this target. ``upcheck -C <dir>`` does not, and names the file that asks for it.

  ``NAME``
    The name of the target, ``stale`` by default.

  ``TARGETS``
    What to ask about, by default all that is built by default.

  ``EXPLAIN``
    Print all reasons of each target, not only the first ones. It goes with the format ``text``.

  ``FORMAT``
    ``text`` by default; ``json`` and ``jsonl`` are for programs, and ``names`` are the names alone, one in a line.

  ``OUTPUT``
    A file to write the answer to, instead of printing it; relative to the current binary directory. It is left alone if
    it has that content already.

  What runs each time, like a custom target with ``ALL``, is always stale. CMake before 3.27 tells the names of targets
  only when it has run twice; the first build sees to that.
#]=======================================================================]

function(upcheck_add_report_target)
  set(function upcheck_add_report_target)
  cmake_parse_arguments(PARSE_ARGV 0 arg "EXPLAIN" "NAME;FORMAT;OUTPUT" "TARGETS")
  _upcheck_check_project(${function})
  _upcheck_check_arguments(${function})
  if(NOT DEFINED arg_NAME)
    set(arg_NAME stale)
  endif()
  if(TARGET "${arg_NAME}")
    _upcheck_fail(${function} "there is a target '${arg_NAME}' already; NAME gives it another name")
  endif()
  if(NOT DEFINED arg_FORMAT)
    set(arg_FORMAT text)
  endif()
  _upcheck_check_choice(${function} FORMAT "${arg_FORMAT}" text json jsonl names)
  if(arg_EXPLAIN AND NOT arg_FORMAT STREQUAL "text")
    _upcheck_fail(${function} "EXPLAIN goes with FORMAT text; '${arg_FORMAT}' has no other form")
  endif()
  _upcheck_command(command ${function})
  _upcheck_query()

  set(ask "${command}" check -C "${CMAKE_BINARY_DIR}" --from cmake --format ${arg_FORMAT})
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    list(APPEND ask --config "$<CONFIG>")
  endif()
  foreach(target IN LISTS arg_TARGETS)
    if(TARGET "${target}")
      get_target_property(aliased "${target}" ALIASED_TARGET)
      if(aliased)
        set(target "${aliased}")
      endif()
    endif()
    list(APPEND ask --target "${target}")
  endforeach()
  if(arg_EXPLAIN)
    list(APPEND ask --explain)
  endif()
  set(output)
  if(DEFINED arg_OUTPUT)
    get_filename_component(output "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  get_property(parts GLOBAL PROPERTY _UPCHECK_MODULE_DIR)
  # A list in one argument: CMake takes options for its own, wherever they stand.
  add_custom_target("${arg_NAME}"
    COMMAND "${CMAKE_COMMAND}" "-DASK=${ask}" "-DOUTPUT=${output}" -P "${parts}/ReportPrint.cmake"
    COMMENT "Asking what is stale" USES_TERMINAL VERBATIM)
  if(TARGET Upcheck::cli)
    # It may be a part of this build.
    add_dependencies("${arg_NAME}" Upcheck::cli)
  endif()
endfunction()
