#include "gc/threads/stop.hpp"

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "gc/state/warning.hpp"
#include "os/collector/world.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

bool stands_still(const thread_record& of_thread) noexcept {
  // Acquire: pairs with stand_still.
  return &of_thread == this_thread || of_thread.stopped_in.load(std::memory_order_acquire) ==
                                          the_gc.epoch.load(std::memory_order_relaxed);
}

/// Effects: takes a thread out of the list that has ended without telling the collector: one of its
/// last destructors registered it.
void forget(thread_record*& link) noexcept {
  thread_record* const ended = link;
  link = ended->next;
  --the_gc.thread_count;
  ended->lock.unlock(); // lock_threads took it
  ended->next = the_gc.idle;
  the_gc.idle = ended;
}

bool waits_for(const thread_record& other, std::uint32_t patience_ms) noexcept {
  while (!stands_still(other)) {
    // Acquire: what comes after must not be read before.
    const std::uint32_t stopped = the_gc.stopped.load(std::memory_order_acquire);
    if (stands_still(other)) break;
    os::wait(the_gc.stopped, stopped, patience_ms);
    if (the_gc.stopped.load(std::memory_order_relaxed) == stopped) return false;
  }
  return true;
}

} // namespace

void interrupt_others() noexcept {
  expects_lock();
  expects_still_world();
  for (thread_record** link = &the_gc.threads; *link != nullptr;) {
    thread_record& other = **link;
    // Here the epoch is written and then `interrupted` is read; in stand_still it is the other way
    // round. In the one order of all four, either stand_still sees the new epoch, or it has reset
    // `interrupted` and gets another signal.
    if (!stands_still(other) && !other.interrupted.load(std::memory_order_seq_cst)) {
      // Before the signal: stand_still takes no other one for the collector's.
      other.interrupted.store(true, std::memory_order_relaxed);
      const os::interruption result = os::interrupt(other.number);
      if (result == os::interruption::ended) {
        forget(*link);
        continue;
      }
      if (result == os::interruption::delayed) {
        other.interrupted.store(false, std::memory_order_relaxed);
      }
    }
    link = &other.next;
  }
}

bool others_stop(std::uint32_t patience_ms) noexcept {
  expects_still_world();
  for (thread_record** link = &the_gc.threads; *link != nullptr;) {
    if (waits_for(**link, patience_ms)) {
      link = &(*link)->next;
    } else if (os::is_running((*link)->number)) {
      return false;
    } else {
      forget(*link);
    }
  }
  return true;
}

void report_running_threads() noexcept {
  expects_still_world();
  for (const thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (stands_still(*each)) continue;
    detail::text line;
    line.add("heapwise: thread ").add(static_cast<std::size_t>(each->number));
    line.add(" has not stopped for a second: it blocks signal ");
    line.add(static_cast<std::size_t>(the_gc.chosen.signal));
    line.add(", or a later handler took it. The collector goes on waiting. ");
    line.add("Next: choose another signal with HEAPWISE_GC_SIGNAL\n");
    warn(line);
  }
}

} // namespace heapwise::gc
