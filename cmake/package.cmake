# What `cmake --install` gives users of the library: headers, both libraries, find_package, pkg-config.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heapwise")

set(malloc_targets "")
foreach(name IN ITEMS heapwise-malloc heapwise-malloc-fast heapwise-malloc-guarded heapwise-malloc-hardened)
  if(TARGET ${name})
    list(APPEND malloc_targets ${name} ${name}-static)
  endif()
endforeach()

# Three components, each a Debian package (debian.cmake): `runtime` is what a program linked to the
# pools or the collector loads, `malloc` what is preloaded, `development` everything for compiling.
install(
  TARGETS heapwise heapwise_static heapwise_shared heapwise_hybrid heapwise_gc_static heapwise_gc_shared
  EXPORT heapwiseTargets
  ARCHIVE COMPONENT development
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
)
if(malloc_targets)
  install(
    TARGETS ${malloc_targets}
    EXPORT heapwiseTargets
    ARCHIVE COMPONENT development
    LIBRARY COMPONENT malloc
  )
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/heapwise"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
)
install(EXPORT heapwiseTargets NAMESPACE heapwise:: DESTINATION "${package_dir}" COMPONENT development)

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/heapwiseConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/heapwiseConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/heapwiseConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion
)
install(
  FILES "${PROJECT_BINARY_DIR}/heapwiseConfig.cmake" "${PROJECT_BINARY_DIR}/heapwiseConfigVersion.cmake"
  DESTINATION "${package_dir}"
  COMPONENT development
)

# Relative to the .pc file, so that the installed tree may be moved.
file(RELATIVE_PATH relative_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
function(install_pkg_config template name description)
  configure_file(
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${template}.pc.in"
    "${PROJECT_BINARY_DIR}/${name}.pc"
    @ONLY
  )
  install(
    FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development
  )
endfunction()

install_pkg_config(heapwise heapwise "${PROJECT_DESCRIPTION}")
if(TARGET heapwise-malloc)
  install_pkg_config(heapwise-malloc heapwise-malloc "A malloc and operator new in place of the system's")
  install_pkg_config(heapwise-malloc heapwise-malloc-fast
    "A malloc and operator new in place of the system's, with fewer checks"
  )
  foreach(profile IN ITEMS guarded hardened)
    install_pkg_config(heapwise-malloc heapwise-malloc-${profile}
      "A malloc and operator new in place of the system's, which stops attacks: ${profile}"
    )
  endforeach()
endif()

include(debian)
