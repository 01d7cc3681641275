#include "gc/collect/told.hpp"

#include <mutex>

#include "gc/attachments/finalizers.hpp"
#include "gc/checks/guards.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

/// Effects: calls the program's report if a collection has ended since the last one.
void report_collection() noexcept {
  // Relaxed: the lock below orders what is told.
  if (!the_gc.collection_to_tell.load(std::memory_order_relaxed)) return;
  heapwise_gc_collection_report* report = nullptr;
  void* argument = nullptr;
  heapwise_gc_collection last{};
  {
    const std::lock_guard hold{the_gc.lock};
    if (!the_gc.collection_to_tell.exchange(false, std::memory_order_relaxed)) return;
    report = the_gc.collection_report;
    argument = the_gc.collection_argument;
    last = the_gc.last_collection;
  }
  if (report != nullptr) report(&last, argument);
}

} // namespace

void tell_news() noexcept {
  report_damage();
  report_collection();
  give_notice();
}

} // namespace heapwise::gc
