# The targets of upcheck, for its installed tree and for its build tree alike. By hand, because CMake exports only what
# it has built itself.
#
# SCOPE is GLOBAL where the targets are to be seen in the whole project, empty otherwise.

# All that a library needs to say. A program has one of upcheck's libraries: they have the same functions in them. CMake
# compares the property among all that a program links, and names it when the values differ.
function(_upcheck_library target file include)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${file}"
    INTERFACE_INCLUDE_DIRECTORIES "${include}"
    COMPATIBLE_INTERFACE_STRING UPCHECK_ONE_LIBRARY_PER_PROGRAM)
endfunction()

function(upcheck_add_shared file soname include) # [SCOPE]
  add_library(Upcheck::upcheck SHARED IMPORTED ${ARGN})
  _upcheck_library(Upcheck::upcheck "${file}" "${include}")
  set_target_properties(Upcheck::upcheck PROPERTIES
    IMPORTED_SONAME "${soname}"
    INTERFACE_UPCHECK_ONE_LIBRARY_PER_PROGRAM "libupcheck, shared")
endfunction()

# `libs` begin with -l, so that CMake takes none of them for a target of the same name.
function(upcheck_add_archive file libs include) # [SCOPE]
  add_library(Upcheck::upcheck STATIC IMPORTED ${ARGN})
  _upcheck_library(Upcheck::upcheck "${file}" "${include}")
  set_target_properties(Upcheck::upcheck PROPERTIES
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_LINK_LIBRARIES "${libs}"
    INTERFACE_UPCHECK_ONE_LIBRARY_PER_PROGRAM "libupcheck.a")
endfunction()

function(upcheck_add_cxx_archive file libs include) # [SCOPE]
  add_library(Upcheck::upcheck_cxx STATIC IMPORTED ${ARGN})
  _upcheck_library(Upcheck::upcheck_cxx "${file}" "${include}")
  set_target_properties(Upcheck::upcheck_cxx PROPERTIES
    IMPORTED_LINK_INTERFACE_LANGUAGES CXX
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES "${libs}"
    INTERFACE_UPCHECK_ONE_LIBRARY_PER_PROGRAM "libupcheck_cxx.a")
endfunction()

function(upcheck_add_command file) # [SCOPE]
  add_executable(Upcheck::cli IMPORTED ${ARGN})
  set_target_properties(Upcheck::cli PROPERTIES IMPORTED_LOCATION "${file}")
endfunction()
