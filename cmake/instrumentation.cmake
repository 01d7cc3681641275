# Sanitizers and coverage apply to every target of the build: half an instrumented program reports
# nonsense.

if(HEAPWISE_SANITIZE)
  add_compile_options("-fsanitize=${HEAPWISE_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${HEAPWISE_SANITIZE}")
endif()

if(HEAPWISE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

if(HEAPWISE_COUNTS_SHARING)
  add_compile_definitions(HEAPWISE_COUNTS_SHARING)
endif()
