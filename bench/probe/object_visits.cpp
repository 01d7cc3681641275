#include "probe/object_visits.hpp"

#include <pthread.h>

#include <atomic>

#include "trace/kernel.hpp"

namespace heapwise::bench {

namespace {

/// Threads that make a visit, and threads that fork. Sequentially consistent: a thread that makes a
/// visit and one that forks each write the one and read the other.
constinit std::atomic<int> visits{0};
constinit std::atomic<int> forks{0};
constinit std::atomic<bool> has_lock_of_parent{false};

class counted_visit {
 public:
  counted_visit() noexcept { visits.fetch_add(1); }
  ~counted_visit() { visits.fetch_sub(1); }
  counted_visit(const counted_visit&) = delete;
  counted_visit& operator=(const counted_visit&) = delete;
};

extern "C" {

/// A visit takes some microseconds. One may wait for this thread, or be its own, which a signal has
/// interrupted.
void wait_for_visits() {
  constexpr int most_waits = 200;
  constexpr long wait_ns = 100'000;
  forks.fetch_add(1);
  for (int wait = 0; visits.load() != 0 && wait < most_waits; ++wait) {
    kernel::let_others_run();
    if (wait != 0 && visits.load() != 0) kernel::pause(wait_ns);
  }
}

void go_on_in_parent() { forks.fetch_sub(1); }

void go_on_in_child() {
  forks.store(0);
  leave_visits_of_parent();
}
}

/// The first that is registered is the last before the fork, and the first after it.
__attribute__((constructor(101))) void watch_forks() noexcept {
  static_cast<void>(pthread_atfork(wait_for_visits, go_on_in_parent, go_on_in_child));
}

} // namespace

bool visit_objects(object_visitor* visitor, void* argument) noexcept {
  const counted_visit counted;
  if (!may_visit_objects()) return false;
  dl_iterate_phdr(visitor, argument);
  return true;
}

bool visit_objects_unless_forking(object_visitor* visitor, void* argument) noexcept {
  const counted_visit counted;
  if (forks.load() != 0 || !may_visit_objects()) return false;
  dl_iterate_phdr(visitor, argument);
  return true;
}

bool may_visit_objects() noexcept { return !has_lock_of_parent.load(std::memory_order_relaxed); }

void leave_visits_of_parent() noexcept {
  if (visits.exchange(0) != 0) has_lock_of_parent.store(true, std::memory_order_relaxed);
}

} // namespace heapwise::bench
