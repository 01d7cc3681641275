// What the program is told while it happens.
#pragma once

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

/// Effects: calls the program's function, if it has given one. Requires: the lock.
inline void tell(heapwise_gc_event event) noexcept {
  expects_lock();
  const event_reports& to = the_gc.events;
  if (to.report != nullptr) to.report(event, to.argument);
}

/// Effects: the same, for each thread but the calling one. Requires: the lock.
inline void tell_of_threads(bool stopped) noexcept {
  expects_lock();
  const event_reports& to = the_gc.events;
  if (to.thread_report == nullptr) return;
  for (const thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each == this_thread) continue;
    to.thread_report(each->number, stopped ? 1 : 0, to.thread_argument);
  }
}

} // namespace heapwise::gc
