# The native half of the laboratory: all that is run lies below ${PROJECT_BINARY_DIR}/native as it
# lies below HEAPWISE_NATIVE_INSTALL_DIR when it is installed.
#
# heapwise_native(TARGET [FOLDER]): put the target's file there, and install it.
# add_experiments(): one executable for each experiments/<family>/<name>.cpp.
# heapwise_link_if(FAMILY_NAME TARGET DEFINE): where TARGET was found, that experiment links it and
# sees DEFINE.

set(HEAPWISE_NATIVE_DIR "${PROJECT_BINARY_DIR}/native")

include(CheckCXXCompilerFlag)

# Optional subjects: a library that is missing makes a subject unavailable, never a failed build.
find_package(foonathan_memory QUIET)
find_package(Boost QUIET)
find_package(TBB QUIET)
foreach(header IN ITEMS concurrentqueue/concurrentqueue.h readerwriterqueue/readerwriterqueue.h)
  get_filename_component(name "${header}" NAME_WE)
  find_path(HEAPWISE_${name}_INCLUDE ${header})
  mark_as_advanced(HEAPWISE_${name}_INCLUDE)
  if(HEAPWISE_${name}_INCLUDE)
    add_library(heapwise_${name} INTERFACE)
    target_include_directories(heapwise_${name} SYSTEM INTERFACE "${HEAPWISE_${name}_INCLUDE}")
  endif()
endforeach()
find_package(absl QUIET)
find_path(HEAPWISE_uring_INCLUDE liburing.h)
find_library(HEAPWISE_uring_LIBRARY uring)
mark_as_advanced(HEAPWISE_uring_INCLUDE HEAPWISE_uring_LIBRARY)
if(HEAPWISE_uring_INCLUDE AND HEAPWISE_uring_LIBRARY)
  add_library(heapwise_uring INTERFACE)
  target_include_directories(heapwise_uring SYSTEM INTERFACE "${HEAPWISE_uring_INCLUDE}")
  target_link_libraries(heapwise_uring INTERFACE "${HEAPWISE_uring_LIBRARY}")
endif()

find_path(HEAPWISE_BOEHM_INCLUDE gc/gc.h)
find_library(HEAPWISE_BOEHM_LIBRARY gc)
mark_as_advanced(HEAPWISE_BOEHM_INCLUDE HEAPWISE_BOEHM_LIBRARY)
# A sanitizer and it do not agree.
if(HEAPWISE_BOEHM_INCLUDE AND HEAPWISE_BOEHM_LIBRARY AND NOT HEAPWISE_SANITIZE)
  add_library(heapwise_boehm INTERFACE)
  target_include_directories(heapwise_boehm SYSTEM INTERFACE "${HEAPWISE_BOEHM_INCLUDE}")
  target_link_libraries(heapwise_boehm INTERFACE "${HEAPWISE_BOEHM_LIBRARY}")
endif()

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

# Families whose experiments start threads or processes, and some of another. With a sanitizer they
# are the ones that are built unless others are asked for: no race is to be found in a loop on one
# thread.
set(HEAPWISE_CONCURRENT_FAMILIES concurrency ipc memory network)
set(HEAPWISE_CONCURRENT_EXPERIMENTS pool/producer_consumer)

set(
  HEAPWISE_ALIGNED_FAMILIES
  cpu
  containers
  language
  syscalls
  ipc
)

function(add_experiment file family name)
  set(target experiment_${family}_${name})
  add_executable(${target} "${file}")
  if(
    HEAPWISE_SANITIZE
    AND NOT family IN_LIST HEAPWISE_CONCURRENT_FAMILIES
    AND NOT "${family}/${name}" IN_LIST HEAPWISE_CONCURRENT_EXPERIMENTS
  )
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  heapwise_native(${target} "experiments/${family}")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/experiments/${family}")
  target_link_libraries(${target} PRIVATE heapwise_bench heapwise_static)
  # Where an item takes a cycle or two, where its loop happens to lie would decide the figure.
  if(family IN_LIST HEAPWISE_ALIGNED_FAMILIES)
    target_compile_options(${target} PRIVATE -falign-loops=64 -falign-functions=64)
  endif()
  if(TARGET foonathan_memory)
    target_link_libraries(${target} PRIVATE foonathan_memory)
    target_compile_definitions(${target} PRIVATE HEAPWISE_HAS_FOONATHAN)
  endif()
  if(Boost_FOUND)
    target_link_libraries(${target} PRIVATE Boost::headers)
  endif()
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

function(heapwise_link_if experiment target define)
  if(TARGET ${target} AND TARGET experiment_${experiment})
    target_link_libraries(experiment_${experiment} PRIVATE ${target})
    target_compile_definitions(experiment_${experiment} PRIVATE ${define})
  endif()
endfunction()

function(add_experiments)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/experiments/*/*.cpp")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(family "${folder}" NAME)
    add_experiment("${file}" ${family} ${name})
  endforeach()
  foreach(name IN ITEMS queue queue_message_size mpsc_mpmc)
    heapwise_link_if(concurrency_${name} heapwise_readerwriterqueue HEAPWISE_HAS_READERWRITERQUEUE)
    heapwise_link_if(concurrency_${name} Boost::headers HEAPWISE_HAS_BOOST_LOCKFREE)
    # Fences, a read before it is known whose turn it is, a library that is not instrumented: what
    # the thread sanitizer calls races.
    if(NOT HEAPWISE_SANITIZE MATCHES "thread")
      heapwise_link_if(concurrency_${name} TBB::tbb HEAPWISE_HAS_TBB)
      heapwise_link_if(concurrency_${name} heapwise_concurrentqueue HEAPWISE_HAS_CONCURRENTQUEUE)
      heapwise_link_if(concurrency_${name} Boost::headers HEAPWISE_HAS_BOOST_QUEUE)
    endif()
  endforeach()
  heapwise_link_if(concurrency_lock_variants TBB::tbb HEAPWISE_HAS_TBB)
  heapwise_link_if(containers_lookup absl::flat_hash_map HEAPWISE_HAS_ABSL)
  heapwise_link_if(syscalls_file_read heapwise_uring HEAPWISE_HAS_URING)
  heapwise_link_if(gc_programs heapwise_gc_static HEAPWISE_HAS_COLLECTOR)
  heapwise_link_if(gc_programs heapwise_boehm HEAPWISE_HAS_BOEHM)
  foreach(
    experiment
    IN
    ITEMS cache/stride_access containers/sequence_scan cpu/aliasing cpu/branch_prediction layout/aos_vs_soa
  )
    get_filename_component(family "${experiment}" DIRECTORY)
    get_filename_component(name "${experiment}" NAME)
    heapwise_second_build(${family} ${name} O3_native -O3 -march=native)
  endforeach()
endfunction()
