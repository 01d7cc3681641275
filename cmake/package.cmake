# What `cmake --install` gives users of the library: headers, both libraries, find_package, pkg-config.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heapwise")

install(TARGETS heapwise heapwise_static heapwise_shared EXPORT heapwiseTargets COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heapwise"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library)
install(EXPORT heapwiseTargets NAMESPACE heapwise:: DESTINATION "${package_dir}" COMPONENT library)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/heapwiseConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/heapwiseConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heapwiseConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/heapwiseConfig.cmake"
  "${PROJECT_BINARY_DIR}/heapwiseConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT library)

# Relative to the .pc file, so that the installed tree may be moved.
file(RELATIVE_PATH relative_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${CMAKE_CURRENT_LIST_DIR}/heapwise.pc.in" "${PROJECT_BINARY_DIR}/heapwise.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/heapwise.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
