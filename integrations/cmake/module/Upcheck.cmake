#[=======================================================================[.rst:
Upcheck
-------

Asks which targets of a build are stale, reports them, and skips what need not run, from CMake 3.16 on.

.. code-block:: cmake

  find_package(Upcheck CONFIG REQUIRED)   # or include(.../Upcheck.cmake)

Each function is documented at the top of its file in ``Upcheck/``:

.. parsed-literal::

  `upcheck_glob`_ (<variable> [RECURSE] <pattern>... [STRATEGY DIRS|VERIFY])
  `upcheck_add_custom_command`_ (OUTPUT <file>... COMMAND <command>... [DEPENDS <input>...])
  `upcheck_skip_passed_tests`_ ([TESTS <test>...] [INPUTS <file>...])
  `upcheck_add_report_target`_ ([NAME <name>] [TARGETS <target>...])
  `upcheck_external_project`_ (<name>... [WATCH <dir>...])
  `upcheck_stale_targets`_ (<variable> [BUILD_DIR <dir>] [TARGETS <target>...])
  `upcheck_configure_check`_ (<dir> RESULT <variable>)
  `upcheck_record_after_build`_ ()

Variables
^^^^^^^^^

.. variable:: UPCHECK_EXECUTABLE

  The command ``upcheck`` that is used. If it is not set, it is that of the installed package, or else the one that
  ``find_program()`` finds.

Imported targets
^^^^^^^^^^^^^^^^

``Upcheck::cli``
  The command, as an executable. Defined if the command was found.
#]=======================================================================]

if(CMAKE_VERSION VERSION_LESS 3.16)
  message(FATAL_ERROR "Upcheck: CMake 3.16 or later is needed, this is ${CMAKE_VERSION}")
endif()

include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.16...4.0)

# The folder of the parts, which functions ask for when they run: there CMAKE_CURRENT_LIST_DIR is their caller's.
set_property(GLOBAL PROPERTY _UPCHECK_MODULE_DIR "${CMAKE_CURRENT_LIST_DIR}/Upcheck")

include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Query.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Glob.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/CustomCommand.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/SkipPassedTests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Report.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/ExternalProject.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/StaleTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Upcheck/Record.cmake")

_upcheck_find_command()

# cmake -P Upcheck.cmake
if(CMAKE_SCRIPT_MODE_FILE AND COMMAND _upcheck_script)
  get_filename_component(_upcheck_script_file "${CMAKE_SCRIPT_MODE_FILE}" ABSOLUTE)
  if(_upcheck_script_file STREQUAL CMAKE_CURRENT_LIST_FILE)
    _upcheck_script()
  endif()
  unset(_upcheck_script_file)
endif()

cmake_policy(POP)
