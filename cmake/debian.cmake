# `cpack` in a build folder writes Debian packages of the library. tools/package does all of it, with
# the laboratory as a fourth package.

set(
  HEAPWISE_LABORATORY_ROOT
  ""
  CACHE PATH
  "Files of the laboratory as they lie below /, made by tools/package; empty: no such package"
)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "Heapwise")
set(CPACK_PACKAGE_CONTACT "Heapwise maintainers <maintainers@heapwise.invalid>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL runtime development)

# debian_package(COMPONENT NAME SECTION SUMMARY [DEPENDS])
function(debian_package component name section summary)
  string(TOUPPER ${component} upper)
  foreach(setting IN ITEMS "PACKAGE_NAME;${name}" "PACKAGE_SECTION;${section}" "PACKAGE_DEPENDS;${ARGN}")
    list(GET setting 0 key)
    list(SUBLIST setting 1 -1 value)
    list(JOIN value ", " value)
    set(CPACK_DEBIAN_${upper}_${key} "${value}" PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}" PARENT_SCOPE)
endfunction()

set(same_version "(= ${PROJECT_VERSION}-1)")
debian_package(runtime libheapwise libs "Memory pools, arenas and a collector: shared libraries")
debian_package(malloc libheapwise-malloc libs
  "A malloc and operator new in place of the system's, to preload or to link"
)
set(development_needs "libheapwise ${same_version}")
if(malloc_targets)
  list(APPEND CPACK_COMPONENTS_ALL malloc)
  list(APPEND development_needs "libheapwise-malloc ${same_version}")
endif()
debian_package(development libheapwise-dev libdevel
  "Headers, static libraries, CMake package and pkg-config files of Heapwise" ${development_needs}
)

if(HEAPWISE_LABORATORY_ROOT)
  list(APPEND CPACK_COMPONENTS_ALL laboratory)
  install(
    DIRECTORY "${HEAPWISE_LABORATORY_ROOT}/usr/"
    DESTINATION .
    USE_SOURCE_PERMISSIONS
    COMPONENT laboratory
  )
  # The packages for Python that lie beside it are compiled for one version of it.
  execute_process(
    COMMAND python3 -c "import sys; print(*sys.version_info[:2], sep='.')"
    OUTPUT_VARIABLE python_version
    OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY
  )
  string(REGEX REPLACE "^3\\." "" python_minor "${python_version}")
  math(EXPR next_minor "${python_minor} + 1")
  debian_package(laboratory heapwise devel
    "A laboratory that compares memory allocators on your own program"
    "python3 (>= ${python_version})" "python3 (<< 3.${next_minor})"
    "libc6 (>= 2.35)" "libstdc++6 (>= 12)" "libgcc-s1"
  )
  # Its other libraries lie beside it, under names that no package has.
  set(CPACK_DEBIAN_LABORATORY_PACKAGE_SHLIBDEPS OFF)
endif()

include(CPack)
