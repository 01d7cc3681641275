// What tests of the collector need: blocks whose addresses are nowhere by accident, and whether one
// of them survived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "gc/front/allocate.hpp"
#include "gc/state/state.hpp"
#include "heapwise/gc.h"

namespace gc_test {

/// An address that no collector takes for one.
class hidden {
 public:
  hidden() = default;
  explicit hidden(const void* address) : word_{~reinterpret_cast<std::uintptr_t>(address)} {}

  /// To be used where it does not matter that the address gets onto the stack.
  template <class Type = void>
  [[nodiscard]] Type* shown() const {
    return reinterpret_cast<Type*>(~word_);
  }

 private:
  std::uintptr_t word_ = 0;
};

/// Effects: calls `body` on a registered thread that has ended when it returns: nothing of it is
/// left on any stack.
template <class Body>
void elsewhere(Body body) {
  std::thread{[&] {
    heapwise_gc_register_thread();
    body();
    heapwise_gc_unregister_thread();
  }}.join();
}

/// Effects: lets the windows of all threads be elsewhere: blocks in them count as marked.
inline void leave_windows() {
  for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(16));
}

/// Returns: whether the last collection marked the block. Calls nothing that could let it live.
[[gnu::noinline]] inline bool survived(hidden block) {
  using namespace heapwise::gc;
  std::uint8_t marked = 0;
  // On a thread that is not registered, the address is on no stack that is looked through.
  std::thread{[&] {
    const found_block place = block_around(block.shown());
    marked = place.begin == nullptr ? 0 : the_gc.memory.marks_of(place.slice)[place.number].load();
  }}.join();
  return marked != 0;
}

inline heapwise_gc_statistics statistics() {
  heapwise_gc_statistics told{};
  heapwise_gc_statistics_get(&told);
  return told;
}

} // namespace gc_test
