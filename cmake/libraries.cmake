# add_heapwise_libraries(OBJECTS TARGET... SOURCES SOURCE...): heapwise_static and heapwise_shared, both
# called libheapwise, from the objects of these targets and from the sources, which are compiled once.
# Call it once, from src/CMakeLists.txt.

function(add_heapwise_libraries)
  cmake_parse_arguments(PARSE_ARGV 0 library "" "" "OBJECTS;SOURCES")
  set(objects ${library_OBJECTS})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(heapwise_objects OBJECT ${library_SOURCES})
  set_target_properties(heapwise_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_include_directories(heapwise_objects PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(
    heapwise_objects
    PRIVATE HEAPWISE_IN_LIBRARY HEAPWISE_HEAP_CHECKS=${HEAPWISE_HEAP_CHECKS}
  )
  target_link_libraries(heapwise_objects PRIVATE heapwise $<BUILD_INTERFACE:heapwise_warnings>)
  foreach(kind IN ITEMS static shared)
    string(TOUPPER ${kind} kind_upper)
    set(target heapwise_${kind})
    add_library(${target} ${kind_upper} ${objects} $<TARGET_OBJECTS:heapwise_objects>)
    add_library(heapwise::${kind} ALIAS ${target})
    set_target_properties(
      ${target}
      PROPERTIES
        OUTPUT_NAME heapwise
        EXPORT_NAME ${kind}
        LINKER_LANGUAGE CXX
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    )
    target_link_libraries(${target} PUBLIC heapwise)
  endforeach()
  # Blocks, the ends of threads and the thread that gives memory back outlive every dlclose. So a
  # plug-in with the static library inside is never unloaded; to a program that says nothing.
  target_link_options(heapwise_shared PRIVATE LINKER:-z,nodelete)
  target_link_options(heapwise_static INTERFACE LINKER:-z,nodelete)
endfunction()

# add_hybrid_library(SOURCE...): heapwise_hybrid, the archive libheapwise-hybrid. It needs libheapwise.
function(add_hybrid_library)
  add_library(heapwise_hybrid STATIC ${ARGN})
  add_library(heapwise::hybrid ALIAS heapwise_hybrid)
  heapwise_group_sources(heapwise_hybrid)
  set_target_properties(
    heapwise_hybrid
    PROPERTIES OUTPUT_NAME heapwise-hybrid EXPORT_NAME hybrid POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
  )
  target_include_directories(heapwise_hybrid PRIVATE "${PROJECT_SOURCE_DIR}/src")
  # Checks only beside tests: what reports a broken invariant is not exported by a shared libheapwise.
  target_compile_definitions(
    heapwise_hybrid
    PRIVATE HEAPWISE_IN_LIBRARY $<$<BOOL:${HEAPWISE_WITH_TESTS}>:HEAPWISE_HEAP_CHECKS=${HEAPWISE_HEAP_CHECKS}>
  )
  target_link_libraries(heapwise_hybrid PUBLIC heapwise PRIVATE $<BUILD_INTERFACE:heapwise_warnings>)
endfunction()
