#include "gc/collect/collect.hpp"

#include <algorithm>
#include <mutex>

#include "gc/attachments/attachments.hpp"
#include "gc/base/misuse.hpp"
#include "gc/checks/guards.hpp"
#include "gc/checks/leaks.hpp"
#include "gc/collect/budget.hpp"
#include "gc/collect/copied_marks.hpp"
#include "gc/collect/copies.hpp"
#include "gc/collect/sweep.hpp"
#include "gc/collect/told.hpp"
#include "gc/collect/visit.hpp"
#include "gc/mark/mark.hpp"
#include "gc/roots/roots.hpp"
#include "gc/state/events.hpp"
#include "gc/state/required.hpp"
#include "gc/threads/held_world.hpp"
#include "gc/threads/threads.hpp"
#include "gc/threads/windows.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

namespace {

/// Live bytes from which on other markers are woken.
constexpr std::size_t bytes_worth_help = std::size_t{1} << 20;

page_list<root> the_roots;

/// What a collection hands down to the part that runs below the caller's registers.
struct round {
  const void* lowest = nullptr;
  bool shared = false;  // other markers help
  bool in_copy = false; // a copy of the process marks, if the system allows
  bool overflowed = false;
  traffic so_far;
  std::size_t kept_bytes = 0;   // of marked blocks: in windows, and not in use
  std::size_t beside_bytes = 0; // handed out while a copy marked; live, whether it is or not
  std::uint64_t asked_at = 0;   // threads to stop
  std::uint64_t pause_ns = 0;
  bool complete = false; // all roots could be written down
};

/// Requires: a world that stands still.
void mark_all(round& collection) noexcept {
  expects_still_world();
  const std::uint64_t begin = os::now_ns();
  clear_marks();
  collection.overflowed = mark_from(the_roots, the_gc.memory.what_is_where(), collection.shared);
  settle_attachments(the_roots, collection.shared);
  if (the_gc.chosen.debug) look_at_guards();
  the_gc.counted.mark_ns += os::now_ns() - begin;
  tell(HEAPWISE_GC_MARKING_ENDS);
  show_marked_blocks();
  collection.kept_bytes = find_leaks() + keep_all_windows(reached);
  leave_spans();
  forget_idle_blocks();
  collection.so_far = count_traffic();
}

/// Requires: nothing is loaded or unloaded. A library that a thread which is not registered unloads
/// would else be gone while its variables are looked through.
void stop_and_mark(void* argument) noexcept {
  auto& collection = *static_cast<round*>(argument);
  heapwise_gc_statistics& counted = the_gc.counted;
  collection.asked_at = os::now_ns();
  stop_world_with_tables();
  counted.longest_stop_ns =
      std::max<std::size_t>(counted.longest_stop_ns, os::now_ns() - collection.asked_at);
  collection.complete = gather_roots(the_roots, collection.lowest);
  if (collection.complete) tell(HEAPWISE_GC_MARKING_BEGINS);
  collection.in_copy = collection.in_copy && collection.complete && start_copy(the_roots);
  if (collection.in_copy) {
    keep_all_windows(handed_out);
    forget_idle_blocks();
    mark_handed_out(true);
    the_gc.allocated_at_copy = count_traffic().allocated_bytes;
  } else if (collection.complete) {
    mark_all(collection);
  }
  resume_world();
  unlock_threads();
  collection.pause_ns = os::now_ns() - collection.asked_at;
  counted.total_pause_ns += collection.pause_ns;
  counted.longest_pause_ns = std::max<std::size_t>(counted.longest_pause_ns, collection.pause_ns);
}

void count_round(const round& collection, std::size_t live_bytes) noexcept {
  heapwise_gc_statistics& counted = the_gc.counted;
  const traffic& now = collection.so_far;
  const std::size_t in_use = the_gc.in_use_bytes + (now.allocated_bytes - the_gc.allocated_then) -
                             (now.freed_bytes - the_gc.freed_then);
  the_gc.allocated_then = now.allocated_bytes;
  the_gc.freed_then = now.freed_bytes;
  the_gc.in_use_bytes = live_bytes;
  counted.freed_bytes += in_use - std::min(in_use, live_bytes);
  ++counted.collections;
  counted.live_bytes = live_bytes;
  counted.marked_bytes += live_bytes;
  counted.mark_stack_overflows += collection.overflowed ? 1 : 0;
}

/// Effects: the program is told of the collection as soon as no lock is held.
void note_collection(const round& collection, std::size_t live_bytes) noexcept {
  the_gc.last_collection = {the_gc.counted.collections, collection.pause_ns, live_bytes,
                            the_gc.memory.used_bytes(), collection.in_copy ? 1 : 0};
  the_gc.collection_to_tell.store(the_gc.collection_report != nullptr, std::memory_order_relaxed);
}

/// Effects: with all marks set, what has none is free, and there is a new target.
void finish(const round& collection) noexcept {
  tell(HEAPWISE_GC_SWEEP_BEGINS);
  const std::uint64_t begin = os::now_ns();
  const live_sizes live = list_spans(collection.in_copy);
  const std::size_t live_bytes = live.all_bytes - collection.kept_bytes;
  count_round(collection, live_bytes);
  the_gc.reached_bytes = live_bytes - std::min(live_bytes, collection.beside_bytes);
  const std::size_t budget =
      collection.in_copy ? budget_of_reached(live, the_gc.reached_bytes) : budget_of(live);
  set_target(live_bytes, budget, collection.in_copy);
  note_collection(collection, live_bytes);
  the_gc.counted.sweep_ns += os::now_ns() - begin;
  tell(HEAPWISE_GC_SWEEP_ENDS);
  tell(HEAPWISE_GC_COLLECTION_ENDS);
}

/// Effects: threads stop to mark what they hand out, and begin with other spans if there will be
/// other marks.
void settle_threads(bool other_marks, traffic* so_far) noexcept {
  lock_threads();
  mark_handed_out(false);
  if (other_marks) {
    leave_spans();
    forget_idle_blocks();
    *so_far = count_traffic();
  }
  unlock_threads();
}

/// Effects: a copy that marks is given up.
void stop_copy() noexcept {
  if (!the_gc.copy.marks()) return;
  settle_threads(false, nullptr);
  end_copy();
  tell(HEAPWISE_GC_MARKING_ENDS);
  tell(HEAPWISE_GC_COLLECTION_ENDS);
}

} // namespace

void count_wait(std::size_t waited_ns) noexcept {
  expects_lock();
  the_gc.counted.longest_wait_ns = std::max(the_gc.counted.longest_wait_ns, waited_ns);
}

bool collect_now(bool in_copy) noexcept {
  expects_lock();
  expects_registered();
  stop_copy();
  const std::uint64_t begin = os::now_ns();
  if (settle_leaving_copies()) count_wait(os::now_ns() - begin);
  tell(HEAPWISE_GC_COLLECTION_BEGINS);
  const bool shared = the_gc.counted.live_bytes >= bytes_worth_help;
  if (shared) start_helpers();
  lock_threads();
  round now;
  now.shared = shared;
  now.in_copy = in_copy;
  os::with_registers(
      [](void* argument, void* lowest) {
        static_cast<round*>(argument)->lowest = lowest;
        os::while_nothing_is_loaded(stop_and_mark, argument);
      },
      &now);
  if (now.in_copy) {
    the_gc.copy.pause_ns = now.pause_ns;
    return false;
  }
  if (now.complete) {
    finish(now);
  } else {
    tell(HEAPWISE_GC_COLLECTION_ENDS);
  }
  return true;
}

void finish_copy() noexcept {
  expects_lock();
  expects_registered();
  expects(the_gc.copy.marks(), "a copy marks");
  const std::uint64_t begin = os::now_ns();
  const std::size_t used = the_gc.memory.used_bytes();
  const std::size_t used_then = the_gc.pace.begin_bytes();
  the_gc.last_copy = {used_then, used - std::min(used, used_then)};
  const bool usable = wait_for_copy();
  round now;
  settle_threads(usable, &now.so_far);
  if (usable) take_marks_of_copy();
  end_copy();
  tell(HEAPWISE_GC_MARKING_ENDS);
  if (usable) {
    now.in_copy = true;
    now.pause_ns = the_gc.copy.pause_ns;
    now.beside_bytes = now.so_far.allocated_bytes - the_gc.allocated_at_copy;
    finish(now);
    the_gc.speed_of_copies.note(the_gc.copy.mark_ns, the_gc.reached_bytes);
  } else {
    tell(HEAPWISE_GC_COLLECTION_ENDS);
    collect_now(false);
  }
  count_wait(os::now_ns() - begin);
}

void collect_locked() noexcept {
  expects_lock();
  collect_now(false);
}

void collect(heapwise_gc_block_visitor* visitor, void* argument) noexcept {
  if (holds_world()) refuse("a collection", " between stopping and starting the world");
  os::clear_unused_stack(); // the collection looks through its own frames
  {
    const std::lock_guard hold{the_gc.lock};
    the_gc.visitor = visitor;
    the_gc.visitor_argument = argument;
    collect_locked();
    the_gc.part_bytes = SIZE_MAX;
    give_back_part();
    the_gc.visitor = nullptr;
  }
  report_leaks();
  tell_program();
}

void collect_and_release() noexcept {
  collect();
  const std::lock_guard hold{the_gc.lock};
  the_gc.memory.purge(0);
  the_gc.part_bytes = 0;
}

} // namespace heapwise::gc
