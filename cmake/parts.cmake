# Which parts are built beside the library: HEAPWISE_WITH_LAB and HEAPWISE_WITH_TESTS, and why.
#
# The options are ON, OFF or AUTO. With AUTO a part is built if what it needs is found. With ON its own
# CMakeLists.txt stops if something is missing.

if(PROJECT_IS_TOP_LEVEL)
  set(beside AUTO)
else()
  set(beside OFF)
endif()
set(
  HEAPWISE_BUILD_LAB
  ${beside}
  CACHE STRING
  "Build the native half of the laboratory, bench/ and experiments/ (needs xxhash and zstd): ON, OFF or AUTO"
)
set(
  HEAPWISE_BUILD_TESTS
  ${beside}
  CACHE STRING
  "Build the unit, contract and stress tests (needs doctest, and what the laboratory needs if it is built): ON, OFF or AUTO"
)
set_property(CACHE HEAPWISE_BUILD_LAB HEAPWISE_BUILD_TESTS PROPERTY STRINGS AUTO ON OFF)

# Without a kind of build, the compiler would not optimize.
get_property(has_many_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT has_many_configurations)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "The kind of build" FORCE)
endif()

# heapwise_choose_part(NAME OPTION MISSING...): sets HEAPWISE_WITH_<NAME>, and says what was chosen.
function(heapwise_choose_part name option)
  set(chosen "${${option}}")
  set(reason "${option}=${chosen}")
  if(chosen STREQUAL "AUTO")
    set(chosen ON)
    set(reason "what it needs is here")
    if(ARGN)
      set(chosen OFF)
      list(JOIN ARGN ", " missing)
      set(reason "missing: ${missing}")
    endif()
  endif()
  set(HEAPWISE_WITH_${name} "${chosen}" PARENT_SCOPE)
  if(chosen)
    message(STATUS "Heapwise: ${name} is built (${reason})")
  else()
    message(STATUS "Heapwise: ${name} is not built (${reason})")
  endif()
endfunction()

set(missing "")
if(NOT HEAPWISE_BUILD_LAB STREQUAL "OFF")
  find_path(HEAPWISE_XXHASH_INCLUDE xxhash.h)
  find_library(HEAPWISE_ZSTD zstd)
  find_path(HEAPWISE_ZSTD_INCLUDE zstd.h)
  if(NOT HEAPWISE_XXHASH_INCLUDE)
    list(APPEND missing "xxhash.h")
  endif()
  if(NOT HEAPWISE_ZSTD OR NOT HEAPWISE_ZSTD_INCLUDE)
    list(APPEND missing "libzstd")
  endif()
endif()
heapwise_choose_part(LAB HEAPWISE_BUILD_LAB ${missing})
if(HEAPWISE_BUILD_TESTS STREQUAL "AUTO")
  find_package(doctest 2.4 QUIET)
  if(NOT doctest_FOUND)
    list(APPEND missing "doctest")
  endif()
endif()
heapwise_choose_part(TESTS HEAPWISE_BUILD_TESTS ${missing})
