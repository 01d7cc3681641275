# heapwise_group_sources(TARGET): where HEAPWISE_GROUPS is set, its sources are compiled in groups.
#
# Most of the time to compile a source of the library is that of the headers of the C++ library. A
# group reads them once. A source with compiler options of its own stays alone, and so does one with
# SKIP_UNITY_BUILD_INCLUSION: set it if a source defines a name that another one of its group has.

option(HEAPWISE_GROUPS "Compile the sources of a library in groups: for tests, not for what is installed" OFF)

function(heapwise_group_sources target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${HEAPWISE_GROUPS}" UNITY_BUILD_BATCH_SIZE 10)
endfunction()

# heapwise_use_compiled_headers(TARGET): call it for what has or uses compiled headers, so that ccache
# takes them. Those of clang have the paths of their clone, so that only a clone at the same place has what
# was compiled with them from ccache.
function(heapwise_use_compiled_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
    list(FILTER launcher EXCLUDE REGEX "^CCACHE_(BASEDIR|NOHASHDIR)=")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  endif()
endfunction()

option(HEAPWISE_PRECOMPILE "Compile the headers that most sources of the library include once" OFF)

# heapwise_precompile(TARGET [FROM]): where HEAPWISE_PRECOMPILE is set, with the headers of the C++
# library that most sources of the library include; those of the target FROM, if it has the same options
# of the compiler. The objects are the same with and without.
function(heapwise_precompile target)
  if(NOT HEAPWISE_PRECOMPILE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  heapwise_use_compiled_headers(${target})
  if(ARGC GREATER 1)
    target_precompile_headers(${target} REUSE_FROM ${ARGV1})
  else()
    target_precompile_headers(
      ${target}
      PRIVATE
        <algorithm>
        <array>
        <atomic>
        <bit>
        <cstddef>
        <cstdint>
        <cstring>
        <mutex>
        <new>
        <span>
        <string_view>
        <type_traits>
        <utility>
    )
  endif()
endfunction()
