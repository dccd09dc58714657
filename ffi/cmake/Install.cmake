# Where everything goes in an installed tree, and the files by which it is found.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Upcheck")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
# A name of its own in a project that has upcheck as a part; GNUInstallDirs may have been asked there before.
set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/upcheck")
if(is_top)
  set(doc_dir "${CMAKE_INSTALL_DOCDIR}")
endif()
set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")

# ---- CMake ----------------------------------------------------------------------------------------

configure_package_config_file(cmake/UpcheckConfig.cmake.in "${generated}/UpcheckConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
# Like the ABI, see docs/INSTALL.md: while the major version is 0, each minor version may break what the one before had.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
else()
  set(compatible SameMajorVersion)
endif()
write_basic_package_version_file("${generated}/UpcheckConfigVersion.cmake" COMPATIBILITY ${compatible})
install(FILES "${generated}/UpcheckConfig.cmake" "${generated}/UpcheckConfigVersion.cmake" cmake/UpcheckTargets.cmake
  DESTINATION "${package_dir}")
# The functions for projects, which need nothing of the libraries.
install(FILES "${module_dir}/Upcheck.cmake" DESTINATION "${package_dir}")
install(DIRECTORY "${module_dir}/Upcheck" DESTINATION "${package_dir}" FILES_MATCHING PATTERN "*.cmake")

# ---- pkg-config -----------------------------------------------------------------------------------

# A path as seen from the folder of the .pc files, so that the whole tree can be moved.
function(upcheck_seen_from_pc result path)
  file(RELATIVE_PATH seen "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${path}")
  set(${result} "\${pcfiledir}/${seen}" PARENT_SCOPE)
endfunction()
upcheck_seen_from_pc(pc_prefix "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
upcheck_seen_from_pc(pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
string(REGEX REPLACE "/$" "" pc_libdir "${pc_libdir}")
upcheck_seen_from_pc(pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")

string(REPLACE ";" " " pc_native_libs "${native_libs}")
string(REPLACE ";" " " pc_cxx_native_libs "${cxx_native_libs}")
if(UPCHECK_SHARED OR UPCHECK_STATIC)
  # Where there is no shared library, everybody needs what the archive needs.
  set(pc_libs_public "")
  set(pc_libs_private "")
  if(UPCHECK_SHARED)
    set(pc_libs_private " ${pc_native_libs}")
  else()
    set(pc_libs_public " ${pc_native_libs}")
  endif()
  configure_file(upcheck.pc.in "${generated}/upcheck.pc" @ONLY)
  install(FILES "${generated}/upcheck.pc" DESTINATION "${pkgconfig_dir}")
endif()
if(UPCHECK_CXX)
  configure_file(upcheck_cxx.pc.in "${generated}/upcheck_cxx.pc" @ONLY)
  install(FILES "${generated}/upcheck_cxx.pc" DESTINATION "${pkgconfig_dir}")
endif()

# ---- what was built -------------------------------------------------------------------------------

if(UPCHECK_SHARED)
  # Debian wants shared libraries that are no programs, and its CMake says so; elsewhere they are executable.
  if(CMAKE_INSTALL_SO_NO_EXE)
    install(FILES "${stage}/lib/${shared_file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  else()
    install(PROGRAMS "${stage}/lib/${shared_file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(FILES "${stage}/lib/${shared_soname}" "${stage}/lib/${shared_link}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(UPCHECK_STATIC)
  install(FILES "${stage}/lib/libupcheck.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(UPCHECK_CXX)
  install(FILES "${stage}/lib/libupcheck_cxx.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY "${stage}/include/upcheck" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(UPCHECK_SHARED OR UPCHECK_STATIC OR UPCHECK_CXX)
  install(FILES c/include/upcheck.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(UPCHECK_CLI)
  install(PROGRAMS "${stage}/bin/upcheck" DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
# `cmake --install --strip`, which CMake does for what it has built itself. Names that are linked by stay.
function(upcheck_strip folder file) # OPTION...
  if(NOT IS_ABSOLUTE "${folder}")
    string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
  endif()
  string(REPLACE ";" " " options "${ARGN}")
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND \"${CMAKE_STRIP}\" ${options} \"\$ENV{DESTDIR}${folder}/${file}\" RESULT_VARIABLE status)
      if(NOT status EQUAL 0)
        message(FATAL_ERROR \"${CMAKE_STRIP} failed: \${status}\")
      endif()
    endif()")
endfunction()
if(CMAKE_STRIP AND NOT APPLE)
  if(UPCHECK_SHARED)
    upcheck_strip("${CMAKE_INSTALL_LIBDIR}" "${shared_file}" --strip-unneeded)
  endif()
  if(UPCHECK_STATIC)
    upcheck_strip("${CMAKE_INSTALL_LIBDIR}" libupcheck.a --strip-debug)
  endif()
  if(UPCHECK_CXX)
    upcheck_strip("${CMAKE_INSTALL_LIBDIR}" libupcheck_cxx.a --strip-debug)
  endif()
  if(UPCHECK_CLI)
    upcheck_strip("${CMAKE_INSTALL_BINDIR}" upcheck)
  endif()
endif()

# ---- documents, as they lie here, so that they find each other --------------------------------------

install(FILES "${root}/README.md" "${root}/LICENSE-APACHE" "${root}/LICENSE-MIT" DESTINATION "${doc_dir}")
install(DIRECTORY "${root}/docs" DESTINATION "${doc_dir}" FILES_MATCHING PATTERN "*.md" PATTERN "*.json"
  PATTERN "performance" EXCLUDE)
