# The native half of the laboratory: all that is run lies below ${PROJECT_BINARY_DIR}/native as it
# lies below HEAPWISE_NATIVE_INSTALL_DIR when it is installed.
#
# heapwise_native(TARGET [FOLDER]): put the target's file there, and install it.
# add_experiments(): one executable for each experiments/<family>/<name>.cpp.

set(HEAPWISE_NATIVE_DIR "${PROJECT_BINARY_DIR}/native")

include(CheckCXXCompilerFlag)
include(experiment_declarations)

function(heapwise_native target)
  set(folder "${ARGV1}")
  set_target_properties(
    ${target}
    PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${HEAPWISE_NATIVE_DIR}/${folder}"
      LIBRARY_OUTPUT_DIRECTORY "${HEAPWISE_NATIVE_DIR}/${folder}"
      CXX_EXTENSIONS OFF
  )
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/bench")
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_link_libraries(${target} PRIVATE heapwise_warnings)
  # What is measured is built as its users build: -O2, not CMake's -O3.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  if(HEAPWISE_NATIVE_INSTALL_DIR)
    install(
      TARGETS ${target}
      RUNTIME DESTINATION "${HEAPWISE_NATIVE_INSTALL_DIR}/${folder}" COMPONENT native
      LIBRARY DESTINATION "${HEAPWISE_NATIVE_INSTALL_DIR}/${folder}" COMPONENT native
    )
  endif()
endfunction()

# heapwise_flags(VARIABLE LANGUAGE): the flags as the compiler sees them, for the first line that an
# experiment prints.
function(heapwise_flags variable language)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(flags "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    string(APPEND flags " -O2")
  endif()
  get_directory_property(everywhere COMPILE_OPTIONS)
  list(JOIN everywhere " " everywhere)
  string(APPEND flags " ${everywhere}")
  string(REGEX REPLACE " +" " " flags "${flags}")
  string(STRIP "${flags}" flags)
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

option(HEAPWISE_PRECOMPILE_EXPERIMENTS "Compile the headers that most experiments include once" OFF)
set(
  HEAPWISE_EXPERIMENTS
  ""
  CACHE STRING
  "Experiments that are built, as family/name with semicolons between them; empty: all"
)

# The preset `release` shows that no experiment misses an #include. With a sanitizer, most experiments
# are not compiled here, but only read by tests/sanitize/test_other_experiments.py.
if(HEAPWISE_PRECOMPILE_EXPERIMENTS OR (HEAPWISE_SANITIZE AND HEAPWISE_PRECOMPILE_TESTS))
  add_library(experiment_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/empty.cpp")
  set_target_properties(experiment_headers PROPERTIES CXX_EXTENSIONS OFF)
  heapwise_use_compiled_headers(experiment_headers)
  target_compile_features(experiment_headers PRIVATE cxx_std_20)
  target_compile_definitions(experiment_headers PRIVATE _GNU_SOURCE)
  if(HEAPWISE_SANITIZE)
    target_compile_options(experiment_headers PRIVATE -O0)
  else()
    target_compile_options(experiment_headers PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  target_link_libraries(
    experiment_headers
    PRIVATE heapwise_warnings heapwise_bench heapwise_hybrid heapwise_static
  )
  target_precompile_headers(
    experiment_headers
    PRIVATE
      <algorithm>
      <array>
      <atomic>
      <memory>
      <mutex>
      <string>
      <thread>
      <vector>
      "${PROJECT_SOURCE_DIR}/bench/harness/experiment.hpp"
      "${PROJECT_SOURCE_DIR}/bench/harness/memory/mapped_array.hpp"
  )
endif()

function(add_experiment file family name)
  set(target experiment_${family}_${name})
  heapwise_read_declarations("${file}" build choices)
  string(REPLACE ", " ";" choices "${choices}")
  add_executable(${target} "${file}")
  # No race is to be found in a loop on one thread.
  if(with_sanitizers IN_LIST choices)
    set_property(GLOBAL APPEND PROPERTY HEAPWISE_CONCURRENT_EXPERIMENTS ${target})
  elseif(HEAPWISE_SANITIZE)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  # A sanitizer sees no less in what is not optimized, which clang compiles in half of the time.
  if(HEAPWISE_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(TARGET experiment_headers AND (HEAPWISE_SANITIZE OR NOT aligned_loops IN_LIST choices))
    target_precompile_headers(${target} REUSE_FROM experiment_headers)
    heapwise_use_compiled_headers(${target})
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  heapwise_native(${target} "experiments/${family}")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/experiments/${family}")
  target_compile_definitions(${target} PRIVATE "HEAPWISE_EXPERIMENT_ID=\"${family}/${name}\"")
  target_link_libraries(${target} PRIVATE heapwise_bench heapwise_hybrid heapwise_static)
  # Where an item takes a cycle or two, where its loop happens to lie would decide the figure.
  if(aligned_loops IN_LIST choices AND NOT HEAPWISE_SANITIZE) # with the options of their headers
    target_compile_options(${target} PRIVATE -falign-loops=64 -falign-functions=64)
  endif()
  heapwise_read_declarations("${file}" optional libraries)
  foreach(library IN LISTS libraries)
    heapwise_link_optional(${target} "${library}")
  endforeach()
  heapwise_read_declarations("${file}" "build again" builds)
  foreach(build IN LISTS builds)
    string(REGEX REPLACE "^([^ ]+) = .*" "\\1" build_name "${build}")
    string(REGEX REPLACE "^[^ ]+ = " "" flags "${build}")
    string(REPLACE " " ";" flags "${flags}")
    list(GET flags 0 compiler)
    if(compiler STREQUAL "clang")
      list(POP_FRONT flags)
      heapwise_clang_build("${file}" ${family} ${name} ${build_name} ${flags})
    else()
      heapwise_second_build(${family} ${name} ${build_name} ${flags})
    endif()
  endforeach()
endfunction()

# Compiles an experiment once more, with other flags and into a folder of the build's name
# (bench/harness/builds.hpp). It is a program of its own: functions of templates that were compiled
# for this processor alone never meet those of the usual build.
function(heapwise_second_build family name build)
  if(HEAPWISE_SANITIZE)
    return()
  endif()
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "HEAPWISE_HAS${flag}" known)
    check_cxx_compiler_flag("${flag}" ${known})
    if(NOT ${known})
      return()
    endif()
  endforeach()
  set(first experiment_${family}_${name})
  set(target ${first}_${build})
  get_target_property(sources ${first} SOURCES)
  add_executable(${target} "${sources}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  heapwise_native(${target} "experiments/${family}/${build}")
  get_target_property(includes ${first} INCLUDE_DIRECTORIES)
  get_target_property(libraries ${first} LINK_LIBRARIES)
  get_target_property(definitions ${first} COMPILE_DEFINITIONS)
  get_target_property(options ${first} COMPILE_OPTIONS)
  target_include_directories(${target} PRIVATE ${includes})
  target_link_libraries(${target} PRIVATE ${libraries})
  heapwise_flags(flags CXX)
  list(JOIN ARGN " " more)
  target_compile_definitions(
    ${target}
    PRIVATE
      ${definitions}
      "HEAPWISE_EXPERIMENT_BUILD=\"${build}\""
      "HEAPWISE_EXPERIMENT_FLAGS=\"${flags} ${more}\""
  )
  target_compile_options(${target} PRIVATE ${options} ${ARGN})
  add_dependencies(${first} ${target})
endfunction()

# The same by clang, if it is installed and another compiler builds the rest. CMake knows one compiler
# for a language, so a command compiles this one file.
function(heapwise_clang_build file family name build)
  find_program(HEAPWISE_CLANG NAMES clang++-19 clang++)
  mark_as_advanced(HEAPWISE_CLANG)
  if(
    HEAPWISE_SANITIZE
    OR CMAKE_CROSSCOMPILING
    OR NOT HEAPWISE_CLANG
    OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
  )
    return()
  endif()
  set(first experiment_${family}_${name})
  set(target ${first}_${build})
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.o")
  heapwise_flags(flags CXX)
  list(JOIN ARGN " " more)
  separate_arguments(all_flags UNIX_COMMAND "${flags}")
  set(included "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(defined "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND
      ${CMAKE_CXX_COMPILER_LAUNCHER} "${HEAPWISE_CLANG}" -std=c++20 ${all_flags}
      "$<$<BOOL:${included}>:-I$<JOIN:${included},;-I>>" "$<$<BOOL:${defined}>:-D$<JOIN:${defined},;-D>>"
      "$<TARGET_PROPERTY:${first},COMPILE_OPTIONS>" -Wno-everything ${ARGN} -MD -MF "${object}.d" -c "${file}"
      -o "${object}"
    DEPENDS "${file}"
    DEPFILE "${object}.d"
    COMMENT "Building CXX object ${target}.o by clang"
    COMMAND_EXPAND_LISTS
    VERBATIM
  )
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_executable(${target} "${object}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
  heapwise_native(${target} "experiments/${family}/${build}")
  get_target_property(includes ${first} INCLUDE_DIRECTORIES)
  get_target_property(libraries ${first} LINK_LIBRARIES)
  get_target_property(definitions ${first} COMPILE_DEFINITIONS)
  target_include_directories(${target} PRIVATE ${includes})
  target_link_libraries(${target} PRIVATE ${libraries})
  target_compile_definitions(
    ${target}
    PRIVATE
      ${definitions}
      "HEAPWISE_EXPERIMENT_BUILD=\"${build}\""
      "HEAPWISE_EXPERIMENT_FLAGS=\"${flags} ${more}\""
  )
  add_dependencies(${first} ${target})
endfunction()

function(add_experiments)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/experiments/*/*.cpp")
  # What takes by far the longest to compile is begun first: nothing waits for it in the end.
  set(longest "")
  foreach(file IN LISTS files)
    heapwise_read_declarations("${file}" build choices)
    if(begun_first IN_LIST choices)
      list(APPEND longest "${file}")
    endif()
  endforeach()
  list(REMOVE_ITEM files ${longest})
  set(wanted ${HEAPWISE_EXPERIMENTS})
  foreach(file IN LISTS longest files)
    get_filename_component(name "${file}" NAME_WE)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(family "${folder}" NAME)
    if(NOT HEAPWISE_EXPERIMENTS OR "${family}/${name}" IN_LIST HEAPWISE_EXPERIMENTS)
      add_experiment("${file}" ${family} ${name})
      list(REMOVE_ITEM wanted "${family}/${name}")
    endif()
  endforeach()
  if(wanted)
    message(FATAL_ERROR "Heapwise: HEAPWISE_EXPERIMENTS names ${wanted}, which there is not")
  endif()
endfunction()
