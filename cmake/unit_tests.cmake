# add_unit_tests(FOLDER): one doctest executable for each FOLDER/**/*.cpp below tests/, each of its
# cases a ctest test with the label FOLDER and the file's path in its name. The label of tests/unit/gc
# is unit_gc: an expression that matches `unit` matches it, and it can be chosen alone.
#
# Where HEAPWISE_GROUP_TESTS is set, the files of a folder of unit tests are one executable, most of
# them compiled in one go: the headers are read once, and one program is linked and asked for its
# cases. The cases are the same, and each is still a process of its own. Those of the heap need that:
# they choose options that a process keeps, as the number of shards, and compare figures of a heap that
# no other case has used. So about two dozen of them fail if the executable is started without `-tc`.
# The preset `apart` has one executable for each file.
#
# There the cases of a contract are one test: to start a process for each of a thousand cases takes several
# times as long as they do. A case whose figures are those of its whole process, or that a part of the
# suite leaves out by its name, is still a test of its own. doctest prints the count of cases that
# tools/suite/tally.py reads.

include(doctest)

option(HEAPWISE_GROUP_TESTS "Compile the files of a folder of unit tests into one executable" OFF)

# Files with sources, options, an environment or functions of the C library of their own.
set(
  HEAPWISE_TESTS_ALONE
  "^unit/gc/"
  "^unit/adapt/std_allocator_test$"
  "^unit/bench/(caller_rule|control_group|group_memory|memory_groups|output_stream|resolver|rings|sampled_blocks|size_budget|team|trace_writer)_test$"
  "^unit/heap/[a-z]+/(sharing|space)_test$"
  "^unit/(c_api|sanitized|without_exceptions)_test$"
)
list(JOIN HEAPWISE_TESTS_ALONE "|" HEAPWISE_TESTS_ALONE)

# Files that name what another file of their folder names too: of the executable, but compiled alone.
set(
  HEAPWISE_TESTS_COMPILED_APART
  "unit/(bench/sample|detail/free_list|hybrid/classes|arena_objects|heap)_test[.]cpp$"
  "unit/heap/[a-z]+/(bins|caches|invalid|large_stock|last_resort|purge|quarantine|spare_batch|statistics)_test[.]cpp$"
)
list(JOIN HEAPWISE_TESTS_COMPILED_APART "|" HEAPWISE_TESTS_COMPILED_APART)

# Where this is off, tests are left out that show here what they show in the build `dev`, which has
# all (docs/design/suite.md#what-only-the-long-suite-tests). It is off in the presets `aarch64`,
# `asan` and `tsan`; `make test-long` turns it on there.
option(HEAPWISE_ALL_TESTS "Also build the tests that show nothing here that they do not show elsewhere" ON)
set(HEAPWISE_TESTS_LEFT_OUT "^$")
if(NOT HEAPWISE_ALL_TESTS AND CMAKE_CROSSCOMPILING)
  # Bookkeeping, texts and adaptors, which do not depend on the processor. What stays: atomic operations,
  # sizes of pages, tags, system calls, threads, and registers and stacks that the collector reads.
  set(
    HEAPWISE_TESTS_LEFT_OUT
    "^contract/(hybrid_contract|pool_.+|typed_.+)_test$"
    "^unit/(adapt|observe|options)/"
    "^unit/hybrid/(best_fit|classes|scope_log)_test$"
    "^unit/(arena|arena_objects|checking)_test$"
    "^unit/heap/[a-z]+/(address_runs|batches|bins|block_runs|cache_stacks|invalid|large_.+|last_resort|linked|mixed|options|owned|quarantine|random_numbers|slice_map|space|statistics|uncommon)_test$"
    "^unit/gc/[a-z]+/(aligned|attachment_table|collection_report|cpp|debug|displacement|events|finalizers)_test$"
    "^unit/gc/[a-z]+/(growing_table|growth|huge_pages|kept|leaks|mark|marking_.+|misuse|options|pace|past_end)_test$"
    "^unit/gc/[a-z]+/(pauses|running_settings|runs|space|typed|visit|weak)_test$"
  )
elseif(NOT HEAPWISE_ALL_TESTS AND HEAPWISE_SANITIZE MATCHES "thread")
  # Contracts, and what one thread does; what threads do to pools and to the heap is in tests/stress. The
  # schedules of the heap need all of it compiled once more; the other tests of its threads stay.
  set(
    HEAPWISE_TESTS_LEFT_OUT
    "^contract/"
    "^stress/heap_(shards_)?schedule_test$"
    "^unit/gc/[a-z]+/(aligned|attachment_table|collection_report|copy_process|cpp|debug|displacement)_test$"
    "^unit/gc/[a-z]+/(finalizers|growth|held_world|huge_pages|kept|leaks|libraries|limits|mark)_test$"
    "^unit/gc/[a-z]+/(marking_copy|misuse|options|pace|past_end|pauses|redirect|running_settings|runs)_test$"
    "^unit/gc/[a-z]+/(signals|space|typed|unused_stack|visit|weak)_test$"
  )
elseif(NOT HEAPWISE_ALL_TESTS AND HEAPWISE_SANITIZE MATCHES "address")
  # Bookkeeping of pools, and most of the collector, whose memory this sanitizer does not know.
  set(
    HEAPWISE_TESTS_LEFT_OUT
    "^contract/(hybrid_contract|pool_(batch|growth|reset|source)|tagged_source|typed_.+)_test$"
    "^unit/gc/[a-z]+/(aligned|attachment_table|collection_report|copy_process|cpp|debug|displacement)_test$"
    "^unit/gc/[a-z]+/(events|growing_table|growth|held_world|huge_pages|kept|leaks|libraries|limits)_test$"
    "^unit/gc/[a-z]+/(marking_.+|misuse|options|pace|past_end|pauses|redirect|registration|roots)_test$"
    "^unit/gc/[a-z]+/(running_settings|runs|signals|space|stacks|thread_end|unused_stack|visit)_test$"
  )
endif()
list(JOIN HEAPWISE_TESTS_LEFT_OUT "|" HEAPWISE_TESTS_LEFT_OUT)

add_library(doctest_main OBJECT "${CMAKE_CURRENT_LIST_DIR}/doctest_main.cpp")
target_link_libraries(doctest_main PUBLIC doctest::doctest)
target_compile_features(doctest_main PUBLIC cxx_std_20)
# A check becomes one call, in which no exception is caught: it ends the test, which has failed.
target_compile_definitions(doctest_main PUBLIC DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
# It is not what is tested. An emulator runs it often enough to be worth optimizing.
if(NOT CMAKE_CROSSCOMPILING)
  target_compile_options(doctest_main PRIVATE -O0)
endif()

# What is quick is not optimized. A test sees no less so, and compiles in half or two thirds of the time.
# Under an emulator it would take up to fifteen times as long to run.
set(HEAPWISE_QUICK_OPTIONS)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_CROSSCOMPILING)
  set(HEAPWISE_QUICK_OPTIONS -O0)
endif()

# choose_way(NAME VARIABLE): whether the file of this name is compiled the quick or the usual way.
# Stress needs the speed; on the stack, what is not optimized keeps pointers for the collector. Without a
# sanitizer, unit tests would lose as much when they run as they gain when they are compiled.
function(choose_way name variable)
  set(way usual)
  if(NOT HEAPWISE_QUICK_OPTIONS)
    # One set of headers is compiled.
  elseif(
    name MATCHES "^contract/"
    OR (HEAPWISE_SANITIZE AND name MATCHES "^unit/" AND NOT name MATCHES "^unit/gc")
  )
    set(way quick)
  endif()
  set(${variable} ${way} PARENT_SCOPE)
endfunction()

# The usual headers, compiled once for each way in which tests are compiled. The preset `apart` does
# without: it shows that each file includes what it needs.
if(HEAPWISE_PRECOMPILE_TESTS)
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
  set(ways usual)
  if(HEAPWISE_QUICK_OPTIONS)
    list(APPEND ways quick)
  endif()
  foreach(way IN LISTS ways)
    add_library(${way}_headers OBJECT "${CMAKE_CURRENT_LIST_DIR}/empty.cpp")
    set_target_properties(${way}_headers PROPERTIES CXX_EXTENSIONS OFF)
    heapwise_use_compiled_headers(${way}_headers)
    target_link_libraries(
      ${way}_headers
      PRIVATE heapwise_hybrid heapwise_static heapwise_warnings doctest_main
    )
    target_compile_definitions(${way}_headers PRIVATE _GNU_SOURCE)
    target_precompile_headers(${way}_headers PRIVATE ${usual_headers})
  endforeach()
  if(TARGET quick_headers)
    target_compile_options(quick_headers PRIVATE ${HEAPWISE_QUICK_OPTIONS})
  endif()
endif()

# add_test_executable(TARGET FOLDER WAY SOURCE...): with what all tests are compiled and linked with.
# WAY: usual or quick.
function(add_test_executable target folder way)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Tests hand foreign objects to pools, and GCC warns of the write that is never reached.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  target_include_directories(
    ${target}
    PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/tests/${folder}"
  )
  target_link_libraries(${target} PRIVATE heapwise_hybrid heapwise_static heapwise_warnings doctest_main)
  # The others do not use it, and do not wait for it to be compiled.
  if(TARGET heapwise_bench AND folder STREQUAL "unit" AND NOT "${ARGN}" MATCHES "/unit/gc/")
    target_link_libraries(${target} PRIVATE heapwise_bench)
  endif()
  if(way STREQUAL "quick")
    target_compile_options(${target} PRIVATE ${HEAPWISE_QUICK_OPTIONS})
  endif()
  if(TARGET ${way}_headers)
    target_precompile_headers(${target} REUSE_FROM ${way}_headers)
    heapwise_use_compiled_headers(${target})
  endif()
endfunction()

# discover_contract(TARGET NAME): the cases of a contract as tests.
function(discover_contract target name)
  set(alone)
  if(name MATCHES "^contract/pool_(contract|live)_test$")
    set(alone "*touches nothing*")
  elseif(name STREQUAL "contract/hybrid_contract_test")
    set(alone "*a freed block is used again*")
  endif()
  set(others)
  if(alone)
    set(others "--test-case-exclude=${alone}")
    discover_test_group(${target} CASES "${alone}" PROPERTIES LABELS contract TIMEOUT ${arg_TIMEOUT_S})
  endif()
  add_test(NAME "${name}: all cases" COMMAND ${target} ${others})
  math(EXPR timeout_s "3 * ${arg_TIMEOUT_S}")
  set_tests_properties("${name}: all cases" PROPERTIES LABELS contract TIMEOUT ${timeout_s})
endfunction()

# add_test_group(GROUP FILE...): one executable of files of tests/unit, without their suffix.
function(add_test_group group)
  string(MAKE_C_IDENTIFIER "grouped_${group}" target)
  list(TRANSFORM ARGN REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/\\1.cpp" OUTPUT_VARIABLE sources)
  choose_way(${group}/ way)
  add_test_executable(${target} unit ${way} ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  list(FILTER sources INCLUDE REGEX "${HEAPWISE_TESTS_COMPILED_APART}")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  discover_test_group(${target} PROPERTIES LABELS unit TIMEOUT ${arg_TIMEOUT_S} ${surroundings})
endfunction()

# discover_test_group(TARGET [CASES PATTERN] PROPERTIES ...): as doctest_discover_tests, but with the
# file of each case in its name.
function(discover_test_group target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASES" "PROPERTIES")
  get_target_property(emulator ${target} CROSSCOMPILING_EMULATOR)
  if(NOT emulator)
    set(emulator)
  endif()
  set(tests_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake")
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    BYPRODUCTS "${tests_file}"
    COMMAND
      "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${target}>" -D "EMULATOR=${emulator}" -D
      "PROPERTIES=${arg_PROPERTIES}" -D "CASES=${arg_CASES}" -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}" -D
      "OUTPUT=${tests_file}" -P "${PROJECT_SOURCE_DIR}/cmake/list_cases.cmake"
    VERBATIM
  )
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
  file(
    WRITE "${include_file}"
    "if(EXISTS \"${tests_file}\")\n"
    "  include(\"${tests_file}\")\n"
    "else()\n"
    "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\n"
    "endif()\n"
  )
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()

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
  set(groups)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cpp$" "" name "${folder}/${file}")
    if(name MATCHES "${HEAPWISE_TESTS_LEFT_OUT}")
      continue()
    endif()
    if(HEAPWISE_GROUP_TESTS AND folder STREQUAL "unit" AND NOT name MATCHES "${HEAPWISE_TESTS_ALONE}")
      string(REGEX MATCH "^unit(/[a-z]+)?/" group "${name}") # those of all folders of the heap are one
      string(REGEX REPLACE "/$" "" group "${group}")
      list(APPEND groups "${group}")
      list(APPEND files_of_${group} "${name}")
      continue()
    endif()
    set(label "${folder}")
    if(folder STREQUAL "unit" AND file MATCHES "^gc/")
      set(label unit_gc)
    endif()
    string(MAKE_C_IDENTIFIER "${name}" target)
    choose_way(${name} way)
    add_test_executable(${target} ${folder} ${way} "${root}/${file}")
    # An emulator keeps a table of the pages of all its addresses, which each process pays for. Only
    # these tests need 64 GiB.
    if(CMAKE_CROSSCOMPILING AND name STREQUAL "unit/heap/space/space_test")
      list(
        TRANSFORM CMAKE_CROSSCOMPILING_EMULATOR
        REPLACE "^0x200000000$" "0x1000000000"
        OUTPUT_VARIABLE emulator
      )
      set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "${emulator}")
    endif()
    if(HEAPWISE_GROUP_TESTS AND folder STREQUAL "contract")
      discover_contract(${target} ${name})
    else()
      doctest_discover_tests(${target}
        TEST_PREFIX "${name}: "
        PROPERTIES LABELS "${label}" TIMEOUT "${arg_TIMEOUT_S}"
          ${surroundings}
      )
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    add_test_group(${group} ${files_of_${group}})
  endforeach()
endfunction()
