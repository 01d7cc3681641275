// What most functions of the collector require, checked where builds check.
#pragma once

#include <atomic>

#include "gc/state/state.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

/// Effects: ends the process if no thread holds the collector's lock.
HEAPWISE_ALWAYS_INLINE void expects_lock() noexcept { expects_held(the_gc.lock); }

/// Effects: ends the process if threads are not asked to stand still.
HEAPWISE_ALWAYS_INLINE void expects_still_world() noexcept {
  // Relaxed: the epoch is written under the lock, which the caller holds.
  expects([] { return the_gc.epoch.load(std::memory_order_relaxed) % 2 == 1; },
          "the world stands still");
}

/// Effects: ends the process if the calling thread is not registered.
HEAPWISE_ALWAYS_INLINE void expects_registered() noexcept {
  expects([] { return this_thread != nullptr; }, "the thread is registered");
}

} // namespace heapwise::gc
