// What collections have found, told to the program when no lock is held.
#pragma once

#include <atomic>

#include "gc/state/state.hpp"
#include "heapwise/detail/config.hpp"

namespace heapwise::gc {

/// Effects: as tell_program, after it was found that there is something to tell.
HEAPWISE_COLD void tell_news() noexcept;

/// Effects: tells the program what collections have found: damage, and finalizers that are ready.
/// Requires: no lock.
HEAPWISE_ALWAYS_INLINE void tell_program() noexcept {
  // Relaxed: the lock, which each report takes, orders what is told.
  if (the_gc.damage_found.load(std::memory_order_relaxed) ||
      the_gc.collection_to_tell.load(std::memory_order_relaxed) ||
      the_gc.attached.notice_due.load(std::memory_order_relaxed)) [[unlikely]] {
    tell_news();
  }
}

} // namespace heapwise::gc
