#include "gc/threads/held_world.hpp"

#include <cstddef>

#include "gc/base/misuse.hpp"
#include "gc/state/state.hpp"
#include "gc/threads/threads.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

namespace {

/// How often this thread has stopped the world and not started it again. It holds the collector's
/// lock as long as that is not zero.
constinit thread_local std::size_t own_stops = 0;

} // namespace

bool holds_world() noexcept { return own_stops > 0; }

void hold_world() noexcept {
  // Relaxed: the caller has seen that it is started.
  expects([] { return the_gc.started.load(std::memory_order_relaxed); },
          "the collector is started");
  if (own_stops++ > 0) return;
  the_gc.lock.lock();
  lock_threads();
  stop_world();
}

void release_world() noexcept {
  if (own_stops == 0) {
    refuse("heapwise_gc_start_world", " in a thread that has not stopped the world");
  }
  if (--own_stops > 0) return;
  resume_world();
  unlock_threads();
  the_gc.lock.unlock();
}

} // namespace heapwise::gc
