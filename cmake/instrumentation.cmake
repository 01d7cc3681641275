# Sanitizers and coverage apply to every target of the build: half an instrumented program reports
# nonsense.

if(HEAPWISE_SANITIZE)
  add_compile_options("-fsanitize=${HEAPWISE_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${HEAPWISE_SANITIZE}")
endif()

# The runtimes of these two are large, and are linked into each program of tests. gold, which most
# versions of binutils bring along, does that in a third of the time.
find_program(HEAPWISE_GOLD ld.gold)
mark_as_advanced(HEAPWISE_GOLD)
if(HEAPWISE_GOLD AND HEAPWISE_SANITIZE MATCHES "address|thread")
  add_link_options(-fuse-ld=gold)
endif()

if(HEAPWISE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

if(HEAPWISE_COUNTS_SHARING)
  add_compile_definitions(HEAPWISE_COUNTS_SHARING)
endif()
