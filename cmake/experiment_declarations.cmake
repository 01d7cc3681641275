# How an experiment is built stands in the experiment, in comments of one line:
#
#   // optional: TBB = package TBB target TBB::tbb without thread
#   // optional: URING = header liburing.h library uring
#   // build: aligned_loops, begun_first, with_sanitizers
#   // build again: O3_native = -O3 -march=native
#   // build again: clang_O3_native = clang -O3 -march=native
#
# An `optional` library that is found is linked, and HEAPWISE_HAS_<NAME> is defined. `without` names
# the sanitizers under which it stays out, `any` all of them. The line may stand in a header of
# "sources/" that the experiment includes.
#
# heapwise_read_declarations(FILE KIND VARIABLE): what stands after "// KIND: ", one item a line.
# heapwise_link_optional(TARGET DECLARATION)

set(HEAPWISE_DECLARATION "^// (optional|build|build again): (.+)$")

# Each declaration of a file and of the headers of its family that it includes, into a property of
# the build, so that a header is read once.
function(heapwise_lines_of file variable)
  get_property(known GLOBAL PROPERTY "HEAPWISE_LINES_${file}" SET)
  if(NOT known)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "${HEAPWISE_DECLARATION}")
    file(STRINGS "${file}" includes REGEX "^#include \"sources/")
    file(RELATIVE_PATH family "${PROJECT_SOURCE_DIR}/experiments" "${file}")
    string(REGEX REPLACE "/.*" "" family "${family}")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${include}")
      heapwise_lines_of("${PROJECT_SOURCE_DIR}/experiments/${family}/${header}" more)
      list(APPEND lines ${more})
    endforeach()
    list(REMOVE_DUPLICATES lines)
    set_property(GLOBAL PROPERTY "HEAPWISE_LINES_${file}" "${lines}")
  endif()
  get_property(lines GLOBAL PROPERTY "HEAPWISE_LINES_${file}")
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

function(heapwise_read_declarations file kind variable)
  heapwise_lines_of("${file}" lines)
  list(FILTER lines INCLUDE REGEX "^// ${kind}: ")
  list(TRANSFORM lines REPLACE "^// ${kind}: " "")
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

# A target for a library of which only a header and perhaps a library file are installed.
function(heapwise_find_header_library name header library variable)
  set(target heapwise_optional_${name})
  find_path(HEAPWISE_${name}_INCLUDE "${header}")
  mark_as_advanced(HEAPWISE_${name}_INCLUDE)
  set(file)
  if(library)
    find_library(HEAPWISE_${name}_LIBRARY "${library}")
    mark_as_advanced(HEAPWISE_${name}_LIBRARY)
    set(file "${HEAPWISE_${name}_LIBRARY}")
  endif()
  if(NOT HEAPWISE_${name}_INCLUDE OR (library AND NOT file))
    set(target)
  elseif(NOT TARGET ${target})
    add_library(${target} INTERFACE)
    target_include_directories(${target} SYSTEM INTERFACE "${HEAPWISE_${name}_INCLUDE}")
    target_link_libraries(${target} INTERFACE ${file})
  endif()
  set(${variable} "${target}" PARENT_SCOPE)
endfunction()

function(heapwise_link_optional target declaration)
  if(NOT declaration MATCHES "^([A-Z_]+) = (.+)$")
    message(FATAL_ERROR "${target}: an optional library is NAME = ..., not \"${declaration}\"")
  endif()
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE " " ";" words "${CMAKE_MATCH_2}")
  cmake_parse_arguments(wanted "" "package;target;header;library;without" "" ${words})
  if(wanted_UNPARSED_ARGUMENTS OR NOT (wanted_target OR wanted_header))
    message(FATAL_ERROR "${target}: what is \"${declaration}\"? See cmake/experiment_declarations.cmake")
  endif()
  if(HEAPWISE_SANITIZE AND wanted_without)
    if(wanted_without STREQUAL "any" OR HEAPWISE_SANITIZE MATCHES "${wanted_without}")
      return()
    endif()
  endif()
  if(wanted_package)
    find_package(${wanted_package} QUIET)
  elseif(wanted_header)
    heapwise_find_header_library(${name} "${wanted_header}" "${wanted_library}" wanted_target)
  endif()
  if(TARGET "${wanted_target}")
    target_link_libraries(${target} PRIVATE "${wanted_target}")
    target_compile_definitions(${target} PRIVATE HEAPWISE_HAS_${name})
  endif()
endfunction()
