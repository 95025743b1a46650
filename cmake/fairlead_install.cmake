# What an install holds beside the targets: package files for CMake and pkg-config, platform files,
# published values, manual pages. The install() of a target stands beside the target (EXPORT
# fairleadTargets for libraries that CMake users link).
include(CMakePackageConfigHelpers)
set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fairlead)

install(EXPORT fairleadTargets NAMESPACE fairlead:: DESTINATION ${_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fairleadConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/fairleadConfig.cmake INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/fairleadConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/fairleadConfig.cmake
  ${PROJECT_BINARY_DIR}/package/fairleadConfigVersion.cmake DESTINATION ${_package_dir})

# pkg-config: paths relative to the file, so that a prefix chosen at install time holds.
file(RELATIVE_PATH FAIRLEAD_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/fairlead.pc.in ${PROJECT_BINARY_DIR}/package/fairlead.pc
  @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/fairlead.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# fairlead_system_package(NAME DESCRIPTION LIBRARIES [REQUIRED PACKAGE] [FOLDER folder]):
# fairlead-NAME.pc. FOLDER: of the headers that programs include by their plain names, where it is
# not the system's.
function(fairlead_system_package name description libraries)
  cmake_parse_arguments(PARSE_ARGV 3 package "" "FOLDER" "")
  set(FAIRLEAD_PC_FOLDER ${name})
  if(package_FOLDER)
    set(FAIRLEAD_PC_FOLDER ${package_FOLDER})
  endif()
  set(FAIRLEAD_PC_NAME ${name})
  set(FAIRLEAD_PC_DESCRIPTION "${description}")
  set(FAIRLEAD_PC_LIBS "${libraries}")
  set(FAIRLEAD_PC_REQUIRES "${package_UNPARSED_ARGUMENTS}")
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fairlead-system.pc.in
    ${PROJECT_BINARY_DIR}/package/fairlead-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/fairlead-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
fairlead_system_package(mpi "MPI for C and C++" -lmpi_abi)
fairlead_system_package(amudp "The interface of AMUDP, for GASNet's udp-conduit"
  "-lfairlead_amudp -lfairlead_am")
fairlead_system_package(dsm "Page-based shared memory" -lfairlead_dsm fairlead
  FOLDER dsm/treadmarks)
get_property(_has_fortran GLOBAL PROPERTY FAIRLEAD_HAS_FORTRAN)
if(_has_fortran)
  fairlead_system_package(mpifort "MPI for Fortran (gfortran)" -lfairlead_mpifort fairlead-mpi)
endif()

file(GLOB _platforms CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/platforms/*.toml)
install(FILES ${_platforms} DESTINATION ${CMAKE_INSTALL_DATADIR}/fairlead/platforms)
file(GLOB _published CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/published/*.toml)
install(FILES ${_published} DESTINATION ${CMAKE_INSTALL_DATADIR}/fairlead/published)
file(GLOB _manuals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${_manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
