# heapwise_group_sources(TARGET): where HEAPWISE_GROUPS is set, its sources are compiled in groups.
#
# Most of the time to compile a source of the library is that of the headers of the C++ library. A
# group reads them once. A source with compiler options of its own stays alone, and so does one with
# SKIP_UNITY_BUILD_INCLUSION: set it if a source defines a name that another one of its group has.

option(HEAPWISE_GROUPS "Compile the sources of a library in groups: for tests, not for what is installed" OFF)

function(heapwise_group_sources target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${HEAPWISE_GROUPS}" UNITY_BUILD_BATCH_SIZE 10)
endfunction()
