# add_heapwise_libraries(SOURCE...): heapwise_static and heapwise_shared, both called libheapwise,
# from one list of sources. Call it once, from src/CMakeLists.txt.

function(add_heapwise_libraries)
  foreach(kind IN ITEMS static shared)
    string(TOUPPER ${kind} kind_upper)
    set(target heapwise_${kind})
    add_library(${target} ${kind_upper} ${ARGN})
    add_library(heapwise::${kind} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME heapwise
      EXPORT_NAME ${kind}
      POSITION_INDEPENDENT_CODE ON
      CXX_EXTENSIONS OFF
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target}
      PUBLIC heapwise
      PRIVATE $<BUILD_INTERFACE:heapwise_warnings>)
  endforeach()
endfunction()
