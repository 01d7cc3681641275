// Calls of malloc from IFUNC resolvers, which run before the loader has given thread-local
// variables their values: null would be taken for a cache. This library is relocated before the
// programs that use it, so a resolver of its own comes first.
#include "heap/cache/caches.hpp"

extern "C" {

[[gnu::visibility("hidden")]] void heapwise_do_nothing() {}

using action = void (*)();

[[gnu::visibility("hidden")]] action heapwise_before_other_resolvers() {
  heapwise::detail::use_no_cache();
  return heapwise_do_nothing;
}

[[gnu::ifunc("heapwise_before_other_resolvers"), gnu::visibility("hidden")]] void heapwise_early();
}

// Its address is asked for, so the loader has to resolve it.
[[gnu::used]] static const volatile action keep_early = heapwise_early;
