# heapwise_group_sources(TARGET): where HEAPWISE_GROUPS is set, its sources are compiled in groups. The
# property HEAPWISE_SOURCES of TARGET has its sources in any case.
#
# Most of the time to compile a source of the library is that of the headers of the C++ library. A
# group reads them once. A source with compiler options of its own stays alone, and so does one with
# SKIP_UNITY_BUILD_INCLUSION: set it if a source defines a name that another one of its group has.

option(HEAPWISE_GROUPS "Compile the sources of a library in groups: for tests, not for what is installed" OFF)

function(heapwise_group_sources target)
  get_target_property(sources ${target} SOURCES)
  set_target_properties(${target} PROPERTIES HEAPWISE_SOURCES "${sources}")
  if(HEAPWISE_GROUPS)
    heapwise_compile_groups(${target} 10)
  endif()
endfunction()

# heapwise_compile_groups(TARGET MOST): the sources of TARGET are compiled in groups of MOST, when the
# properties of all sources are known. A group is a file that includes them by their paths from the root
# of the tree, and so is the same in each clone: ccache has it from another one. The groups of CMake have
# whole paths.
function(heapwise_compile_groups target most)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL heapwise_write_groups [[${target}]] [[${most}]])")
endfunction()

function(heapwise_write_groups target most)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(alone)
  set(grouped)
  foreach(source IN LISTS sources)
    set(is_alone ON)
    if(source MATCHES "^[^$].*[.]cpp$")
      set(is_alone OFF)
      foreach(property IN ITEMS SKIP_UNITY_BUILD_INCLUSION COMPILE_OPTIONS COMPILE_DEFINITIONS)
        get_source_file_property(value "${source}" ${property})
        if(value)
          set(is_alone ON)
        endif()
      endforeach()
    endif()
    if(is_alone)
      list(APPEND alone "${source}")
    else()
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      list(APPEND grouped "${source}")
    endif()
  endforeach()
  set(groups)
  while(grouped)
    list(SUBLIST grouped 0 ${most} sources)
    list(REMOVE_ITEM grouped ${sources})
    list(LENGTH groups number)
    set(text)
    foreach(source IN LISTS sources)
      file(RELATIVE_PATH source "${PROJECT_SOURCE_DIR}" "${source}")
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    set(group "${CMAKE_CURRENT_BINARY_DIR}/groups/${target}_${number}.cpp")
    file(CONFIGURE OUTPUT "${group}" CONTENT "${text}" @ONLY)
    list(APPEND groups "${group}")
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${alone};${groups}")
  target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PROJECT_SOURCE_DIR}\"")
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
