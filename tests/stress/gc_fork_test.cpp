// A fork at a moment in which threads that help to mark are about to leave or to come too late.
#include <doctest/doctest.h>

#include "../unit/gc/process.hpp"
#include "../unit/gc/surroundings.hpp"

TEST_CASE("a child that is forked right after a collection collects with several markers" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  const auto body = [] {
    heapwise_gc_options options{};
    options.markers = 16;
    heapwise_gc_init(&options);
    void** newest = nullptr;
    for (int each = 0; each < 40'000; ++each) { // enough to wake others for
      auto** const next = static_cast<void**>(heapwise_gc_malloc(64));
      next[0] = newest;
      newest = next;
    }
    heapwise_gc_collect();
    for (int round = 0; round < 100; ++round) {
      heapwise_gc_collect();
      const int of_child = gc_test::status_of_process([] {
        heapwise_gc_collect();
        return 0;
      });
      if (of_child != 0) return 1;
    }
    return newest[0] != nullptr ? 0 : 2;
  };
  CHECK(gc_test::status_of_process(body, 240) == 0); // a hundred collections and children
}
