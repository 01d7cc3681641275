# The heap: its sources are compiled once for each profile, and go into libheapwise (under names of
# their own) and into libheapwise-malloc (under the names of the C library too).

set(
  HEAPWISE_HEAP_CHECKS
  "$<IF:$<CONFIG:Debug>,1,0>"
  CACHE STRING
  "Invariants that the library checks: 0 none, 1 the cheap ones, 2 all"
)

# add_heap_objects(TARGET PROFILE SOURCE...): an object library.
function(add_heap_objects target profile)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(
    ${target}
    PROPERTIES
      POSITION_INDEPENDENT_CODE ON
      CXX_EXTENSIONS OFF
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
  )
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(
    ${target}
    PRIVATE
      _GNU_SOURCE
      HEAPWISE_IN_LIBRARY
      HEAPWISE_PROFILE=${profile}_profile
      HEAPWISE_HEAP_CHECKS=${HEAPWISE_HEAP_CHECKS}
      $<$<BOOL:${HEAPWISE_MTE}>:HEAPWISE_MTE>
  )
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  # The library must not ask itself for memory: no malloc and memset may become one calloc.
  target_compile_options(
    ${target}
    PRIVATE
      -fno-builtin-malloc
      -fno-builtin-calloc
      -fno-builtin-realloc
      -fno-builtin-free
      -fno-rtti
      -fno-threadsafe-statics
      -ftls-model=initial-exec
      $<$<CONFIG:Release>:-O2>
  )
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:heapwise_warnings>)
endfunction()

# add_heap_replacement(NAME OBJECTS... SHARED_OBJECTS OBJECTS...): lib<NAME>.so, to be linked or
# preloaded, and lib<NAME>.a, to be linked (target <NAME>-static). The last objects are in the former
# only.
function(add_heap_replacement name)
  cmake_parse_arguments(PARSE_ARGV 1 heap "" "" SHARED_OBJECTS)
  set(objects ${heap_UNPARSED_ARGUMENTS})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  set(shared_objects ${heap_SHARED_OBJECTS})
  list(TRANSFORM shared_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} SHARED ${objects} ${shared_objects} $<TARGET_OBJECTS:heapwise_runtime_shared>)
  add_library(${name}-static STATIC ${objects} $<TARGET_OBJECTS:heapwise_runtime_static>)
  add_library(heapwise::${name} ALIAS ${name})
  add_library(heapwise::${name}-static ALIAS ${name}-static)
  foreach(target IN ITEMS ${name} ${name}-static)
    set_target_properties(
      ${target}
      PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/native"
    )
    target_link_libraries(${target} PUBLIC heapwise)
    # Programs that leave malloc to the libraries that they use have to get this one all the same.
    target_link_options(${target} INTERFACE LINKER:--undefined=malloc)
  endforeach()
  # Calls inside of the library stay inside, except for those of operators that a program replaces; a
  # copy in use is never unloaded.
  # It is made ready before the libraries that may use it, so that it is the last to take its locks
  # for a fork.
  # A program in C must not have to load the C++ runtime, of which nothing is needed.
  target_link_options(
    ${name}
    PRIVATE
      -Wl,--as-needed
      -Wl,-Bsymbolic-functions
      "-Wl,--dynamic-list=${PROJECT_SOURCE_DIR}/cmake/operators.list"
      # src/override/personality.cpp
      -Wl,--wrap=__gxx_personality_v0
      -Wl,--wrap=__cxa_begin_catch
      -Wl,--wrap=__cxa_end_catch
      -Wl,-z,now
      -Wl,-z,nodelete
      -Wl,-z,initfirst
      -Wl,--no-undefined
      -Wl,--build-id
  )
  if(HEAPWISE_NATIVE_INSTALL_DIR)
    install(TARGETS ${name} LIBRARY DESTINATION "${HEAPWISE_NATIVE_INSTALL_DIR}" COMPONENT native)
  endif()
endfunction()

# add_collector(NAME OBJECTS...): libheapwise-gc.a (target <NAME>_static) and .so (<NAME>_shared).
function(add_collector name)
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  foreach(kind IN ITEMS static shared)
    string(TOUPPER ${kind} kind_upper)
    set(target ${name}_${kind})
    add_library(${target} ${kind_upper} ${objects})
    add_library(heapwise::gc_${kind} ALIAS ${target})
    set_target_properties(
      ${target}
      PROPERTIES
        OUTPUT_NAME heapwise-gc
        EXPORT_NAME gc_${kind}
        LINKER_LANGUAGE C
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    )
    target_link_libraries(${target} PUBLIC heapwise)
  endforeach()
  # Handlers of signals and of ends of threads point into it. Its calls are resolved when it is
  # loaded, and not while threads are stopped.
  target_link_options(
    ${name}_shared
    PRIVATE -Wl,-Bsymbolic-functions -Wl,-z,now -Wl,-z,nodelete -Wl,--build-id
  )
endfunction()
