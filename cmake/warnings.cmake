# heapwise_warnings: an INTERFACE target that our own targets link privately; never exported.

add_library(heapwise_warnings INTERFACE)
target_compile_options(
  heapwise_warnings
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wconversion
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor
    -Woverloaded-virtual>
    $<$<BOOL:${HEAPWISE_WERROR}>:-Werror>
)
