# heapwise_group_sources(TARGET): where HEAPWISE_GROUPS is set, its sources are compiled as one.
#
# Most of the time to compile a source of the library is that of the headers of the C++ library, which are
# then read once. A source with compiler options of its own stays alone, and so does one with
# SKIP_UNITY_BUILD_INCLUSION. Sources of a group must not define the same name, not even one that no other
# source sees: the compiler reports two of them, and the preset `apart` compiles each source alone.

option(HEAPWISE_GROUPS "Compile the sources of the heap, of the collector and of the harness as one each" ON)

function(heapwise_group_sources target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${HEAPWISE_GROUPS}" UNITY_BUILD_BATCH_SIZE 0)
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
