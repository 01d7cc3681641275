# Compiles through ccache if it is installed and the user has not chosen a launcher, so that a second
# clone of the same sources, which lies elsewhere, compiles nothing again. What was not compiled before
# is not preprocessed for ccache: it takes the names of the headers from the compiler (CCACHE_DEPEND).
# It takes headers that GCC has compiled (CCACHE_SLOPPINESS), which are as new as what is compiled with
# them.

find_program(HEAPWISE_CCACHE ccache)
mark_as_advanced(HEAPWISE_CCACHE)
if(HEAPWISE_CCACHE)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(
        CMAKE_${language}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}"
        -E
        env
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
        CCACHE_NOHASHDIR=1
        CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "${HEAPWISE_CCACHE}"
      )
    endif()
  endforeach()
endif()
