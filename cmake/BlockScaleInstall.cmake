# Install rules, and the package configuration that other projects find: from
# an install, or from this build tree.
include(CMakePackageConfigHelpers)

set(BLOCKSCALE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/BlockScale")

get_property(targets GLOBAL PROPERTY BLOCKSCALE_INSTALLED_TARGETS)
install(TARGETS ${targets}
  EXPORT BlockScaleTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/blockscale include/blockscale-c
  "${PROJECT_BINARY_DIR}/include/blockscale"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN CMakeFiles EXCLUDE)
install(DIRECTORY python/blockscale
  DESTINATION "${CMAKE_INSTALL_DATADIR}/blockscale/python"
  FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)

export(EXPORT BlockScaleTargets
  NAMESPACE BlockScale::
  FILE "${PROJECT_BINARY_DIR}/lib/cmake/BlockScale/BlockScaleTargets.cmake")
install(EXPORT BlockScaleTargets
  NAMESPACE BlockScale::
  DESTINATION "${BLOCKSCALE_CMAKE_DIR}")

configure_file(cmake/BlockScaleConfig.cmake.in
  "${PROJECT_BINARY_DIR}/lib/cmake/BlockScale/BlockScaleConfig.cmake" @ONLY)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/lib/cmake/BlockScale/BlockScaleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/lib/cmake/BlockScale/BlockScaleConfig.cmake"
  "${PROJECT_BINARY_DIR}/lib/cmake/BlockScale/BlockScaleConfigVersion.cmake"
  DESTINATION "${BLOCKSCALE_CMAKE_DIR}")
