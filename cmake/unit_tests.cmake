# add_unit_tests(FOLDER): one doctest executable for each FOLDER/**/*.cpp below tests/, each of its
# cases a ctest test with the label FOLDER and the file's path in its name. The label of tests/unit/gc
# is unit_gc: an expression that matches `unit` matches it, and it can be chosen alone.

include(doctest)

add_library(doctest_main OBJECT "${CMAKE_CURRENT_LIST_DIR}/doctest_main.cpp")
target_link_libraries(doctest_main PUBLIC doctest::doctest)
target_compile_features(doctest_main PUBLIC cxx_std_20)
# A check becomes one call, in which no exception is caught: it ends the test, which has failed.
target_compile_definitions(doctest_main PUBLIC DOCTEST_CONFIG_SUPER_FAST_ASSERTS)

# The usual headers, compiled once for each way in which tests are compiled. A build whose tests
# include all that they need without it (dev) shows that nothing is missing. Compilers called through
# ccache do without: it refuses what was compiled so, unless it is told to be less careful.
if(HEAPWISE_PRECOMPILE_TESTS AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(
    usual_headers
    <algorithm>
    <array>
    <atomic>
    <cstdint>
    <cstdio>
    <cstring>
    <memory>
    <new>
    <set>
    <string>
    <thread>
    <vector>
    <doctest/doctest.h>
  )
  foreach(way IN ITEMS usual quick)
    add_library(${way}_headers OBJECT "${CMAKE_CURRENT_LIST_DIR}/empty.cpp")
    set_target_properties(${way}_headers PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(${way}_headers PRIVATE heapwise_static heapwise_warnings doctest_main)
    target_compile_definitions(${way}_headers PRIVATE _GNU_SOURCE)
    target_precompile_headers(${way}_headers PRIVATE ${usual_headers})
  endforeach()
  if(HEAPWISE_SANITIZE)
    target_compile_options(quick_headers PRIVATE -O0)
  endif()
endif()

function(add_unit_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT_S" "")
  # Unit tests look into the bins: of one shard, however many processors there are.
  set(surroundings)
  if(folder STREQUAL "unit")
    set(surroundings ENVIRONMENT "HEAPWISE_MALLOC_SHARDS=1")
  endif()
  set(root "${PROJECT_SOURCE_DIR}/tests/${folder}")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.cpp")
  if(NOT TARGET heapwise_bench)
    list(FILTER files EXCLUDE REGEX "^bench/")
  endif()
  foreach(file IN LISTS files)
    set(label "${folder}")
    if(folder STREQUAL "unit" AND file MATCHES "^gc/")
      set(label unit_gc)
    endif()
    string(REGEX REPLACE "\\.cpp$" "" name "${folder}/${file}")
    string(MAKE_C_IDENTIFIER "${name}" target)
    add_executable(${target} "${root}/${file}")
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    # Tests hand foreign objects to pools, and GCC warns of the write that is never reached.
    target_compile_options(
      ${target}
      PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>
    )
    target_include_directories(
      ${target}
      PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests" "${root}"
    )
    target_link_libraries(${target} PRIVATE heapwise_static heapwise_warnings doctest_main)
    if(TARGET heapwise_bench)
      target_link_libraries(${target} PRIVATE heapwise_bench)
    endif()
    # A sanitizer sees no less in what is not optimized, and clang compiles it in a third of the time.
    # Stress needs the speed; on the stack, what is not optimized keeps pointers for the collector.
    set(way quick)
    if(folder STREQUAL "stress" OR file MATCHES "^gc")
      set(way usual)
    elseif(HEAPWISE_SANITIZE)
      target_compile_options(${target} PRIVATE -O0)
    endif()
    if(TARGET ${way}_headers)
      target_precompile_headers(${target} REUSE_FROM ${way}_headers)
    endif()
    # An emulator keeps a table of the pages of all its addresses, which each process pays for. Only
    # these tests need 64 GiB.
    if(CMAKE_CROSSCOMPILING AND name STREQUAL "unit/heap/space_test")
      list(
        TRANSFORM CMAKE_CROSSCOMPILING_EMULATOR
        REPLACE "^0x400000000$" "0x1000000000"
        OUTPUT_VARIABLE emulator
      )
      set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "${emulator}")
    endif()
    doctest_discover_tests(${target}
      TEST_PREFIX "${name}: "
      PROPERTIES LABELS "${label}" TIMEOUT "${arg_TIMEOUT_S}"
        ${surroundings}
    )
  endforeach()
endfunction()
