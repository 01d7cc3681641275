#include "gc/front/start.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "gc/base/options.hpp"
#include "gc/checks/leaks.hpp"
#include "gc/collect/budget.hpp"
#include "gc/collect/collect.hpp"
#include "gc/collect/copies.hpp"
#include "gc/front/statistics.hpp"
#include "gc/mark/mark.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "gc/threads/results.hpp"
#include "gc/threads/threads.hpp"
#include "gc/threads/windows.hpp"
#include "os/collector/world.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

void before_fork() {
  the_gc.lock.lock();
  lock_threads(); // no window is half handed out
  hold_helpers();
}

void in_parent() {
  release_helpers();
  unlock_threads();
  the_gc.lock.unlock();
}

void in_child() {
  forget_other_threads();
  forget_other_results();
  forget_helpers();
  release_helpers();
  if (this_thread != nullptr) {
    this_thread->id = os::this_thread();
    this_thread->number = os::this_thread_number();
  }
  forget_other_reports();
  forget_copy();
  mark_handed_out(false);
  the_gc.lock.unlock_in_child();
}

/// A heap that becomes as large is in huge pages from there on: it has too many small ones for the
/// processor to know where they are. Below, a huge page of which little is used would be a large
/// part of the heap.
constexpr std::size_t huge_heap = std::size_t{32} << 20;

/// Requires: the lock. Returns: 0 or an error.
int start_locked(const heapwise_gc_options* options, const os::loader_layout& loader) noexcept {
  expects_lock();
  the_gc.loader = loader;
  the_gc.chosen = choose(options);
  const settings& chosen = the_gc.chosen;
  if (!os::can_interrupt_with(chosen.signal)) return EINVAL;
  const space_features features{.notes_use = chosen.find_leaks || chosen.debug,
                                .huge_pages_from = chosen.concurrent_bytes != 0 ? 0 : huge_heap};
  if (!the_gc.memory.start(chosen.limit_bytes, features)) return ENOMEM;
  const bool can_mark = start_markers(chosen.markers, chosen.mark_stack_bytes, chosen.interior);
  if (!can_mark || !watch_threads(chosen.signal)) {
    end_markers();
    the_gc.memory.end();
    return can_mark ? EAGAIN : ENOMEM;
  }
  the_gc.one_by_one = features.notes_use || chosen.past_end;
  the_gc.unswept.fill(no_slice);
  set_first_target();
  // Release: a thread that acquires `started` sees all that was set up above.
  the_gc.started.store(true, std::memory_order_release);
  return 0;
}

void collect_at_exit() {
  if (register_this_thread()) collect();
}

void end_copy_at_exit() {
  const std::lock_guard hold{the_gc.lock};
  end_copy();
}

} // namespace

int start(const heapwise_gc_options* options) noexcept {
  // Acquire: pairs with the release of the thread that started it.
  if (the_gc.started.load(std::memory_order_acquire)) return heapwise_gc_register_thread();
  const auto loader = os::describe_loader(); // before the lock, see state
  bool first = false;
  {
    const std::lock_guard hold{the_gc.lock};
    if (!the_gc.started.load(std::memory_order_relaxed)) {
      if (const int error = start_locked(options, loader); error != 0) return error;
      first = true;
    }
  }
  if (first) { // these may allocate
    os::at_fork(before_fork, in_parent, in_child);
    if (the_gc.chosen.stats) std::atexit(print_statistics);
    if (the_gc.chosen.concurrent_bytes != 0) std::atexit(end_copy_at_exit);
    if (the_gc.memory.notes_use()) std::atexit(collect_at_exit);
  }
  return heapwise_gc_register_thread();
}

} // namespace heapwise::gc
