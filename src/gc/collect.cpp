#include "gc/collect.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "gc/events.hpp"
#include "gc/finalizers.hpp"
#include "gc/guards.hpp"
#include "gc/held_world.hpp"
#include "gc/leaks.hpp"
#include "gc/mark.hpp"
#include "gc/marking_copy.hpp"
#include "gc/misuse.hpp"
#include "gc/roots.hpp"
#include "gc/threads.hpp"
#include "gc/visit.hpp"
#include "gc/windows.hpp"

namespace heapwise::gc {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t least_budget = 4 * mib; // to be allocated between two collections
constexpr std::size_t bytes_worth_help =
    1 * mib; // live bytes from which on other markers are woken

/// Memory goes back to the system in parts of this many bytes at least, and in about this many
/// parts at most: each takes the time of the thread that wants a span.
constexpr std::size_t least_part = 4 * mib;
constexpr std::size_t most_parts = 16;

/// By how much more the heap may grow for each block that uses all of its bytes, times the divisor:
/// see budget_of.
constexpr std::size_t spare_of_pair = granule_bytes;
constexpr std::size_t spare_of_larger = 4 * granule_bytes;

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

/// Of marked blocks. Atomic ones hold no addresses, and are not looked through.
struct live_sizes {
  std::size_t all_bytes = 0;
  std::size_t atomic_bytes = 0;
  std::size_t spare_bytes = 0; // for blocks all of whose bytes are used
};

template <class Visit>
void each_used_slice(Visit visit) noexcept {
  const space& memory = the_gc.memory;
  for (slice_index slice = space::first_slice; slice < memory.top(); ++slice) {
    const kind block_kind = memory.kind_at(slice);
    if (block_kind != no_kind && block_kind != inside_large) {
      visit(slice, block_kind, memory.record(slice));
    }
  }
}

std::size_t blocks_of(kind block_kind) noexcept {
  return block_kind < small_kinds ? kind_table[block_kind].blocks : 1;
}

void clear_marks() noexcept {
  each_used_slice([](slice_index slice, kind block_kind, slice_record&) {
    std::memset(static_cast<void*>(the_gc.memory.marks_of(slice)), 0, blocks_of(block_kind));
  });
}

/// Returns: how many of the blocks have a mark.
std::uint32_t count_marks(const mark* marks, std::size_t blocks) noexcept {
  // Eight at a time: each byte of the sum is at most the 255 rounds that it is used for.
  constexpr std::size_t lanes = sizeof(std::uint64_t);
  constexpr std::size_t most_rounds = 255;
  std::uint32_t count = 0;
  std::size_t block = 0;
  while (block + lanes <= blocks) {
    const std::size_t end = std::min(blocks / lanes * lanes, block + lanes * most_rounds);
    std::uint64_t sum = 0;
    for (; block < end; block += lanes) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, static_cast<const void*>(marks + block), lanes);
      sum += eight;
    }
    for (; sum != 0; sum >>= 8) count += static_cast<std::uint32_t>(sum & 255);
  }
  for (; block < blocks; ++block) count += marks[block].load(std::memory_order_relaxed);
  return count;
}

/// Requires: a world that stands still.
void mark_all(round& collection) noexcept {
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

/// Effects: spans without a mark are free for any use; those with marks and room for more wait for
/// a thread. No block is touched. Returns: the bytes of marked blocks. Requires: `counted`: it is
/// known how many blocks of each slice are marked.
live_sizes list_spans(bool counted) noexcept {
  live_sizes live;
  the_gc.unswept.fill(no_slice);
  std::array<slice_index, small_kinds> last;
  last.fill(no_slice);
  each_used_slice([&](slice_index slice, kind block_kind, slice_record& record) {
    if (!counted) {
      record.marked = count_marks(the_gc.memory.marks_of(slice), blocks_of(block_kind));
    }
    const std::size_t marked = record.marked;
    const bool is_small = block_kind < small_kinds;
    const std::size_t bytes = marked * (is_small ? kind_table[block_kind].bytes : record.bytes);
    live.all_bytes += bytes;
    const bool is_atomic = is_small ? kind_table[block_kind].atomic : block_kind == large_atomic;
    if (is_atomic) live.atomic_bytes += bytes;
    if (is_small && !is_atomic && record.filled) {
      live.spare_bytes += marked * (block_kind == pair_kind ? spare_of_pair : spare_of_larger);
    }
    if (marked == 0) {
      the_gc.memory.give(slice, is_small ? 1 : record.slices);
    } else if (is_small && marked < kind_table[block_kind].blocks) {
      record.next = no_slice;
      record.bytes = (kind_table[block_kind].blocks - marked) * kind_table[block_kind].bytes;
      (last[block_kind] == no_slice ? the_gc.unswept[block_kind]
                                    : the_gc.memory.record(last[block_kind]).next) = slice;
      last[block_kind] = slice;
    }
  });
  the_gc.memory.restart();
  return live;
}

/// What may be allocated between two collections, so that they cost about the same share of the
/// program's time whatever it holds: blocks that are looked through cost most of a collection, of
/// atomic blocks only the mark is set. The weights are those of Boehm's collector (alloc.c,
/// min_bytes_allocd). A block all of whose bytes are used takes 16 bytes more in Boehm's collector,
/// which adds a byte to each. With a divisor of 3 its heap is larger by 5/3 of that, so ours could
/// grow by 80 / 3 bytes more for such a block and not be larger. It grows by 64 / 3, and for a
/// block of two words by 16 / 3, because those are most of what a heap of trees or lists holds, and
/// there its memory matters more than its time.
std::size_t budget_of(const live_sizes& live) noexcept {
  const std::size_t weighed =
      2 * (live.all_bytes - live.atomic_bytes) + live.spare_bytes + live.atomic_bytes / 4;
  return std::max(weighed / the_gc.chosen.free_space_divisor, least_budget);
}

/// Returns: the budget of what the copy has reached. The rest counts as live only because it was
/// handed out while the copy marked. Most of it is garbage, and takes memory once in any case.
std::size_t budget_of_reached(const live_sizes& live, std::size_t reached_bytes) noexcept {
  const double share = live.all_bytes == 0 ? 1.0
                                           : static_cast<double>(reached_bytes) /
                                                 static_cast<double>(live.all_bytes);
  const double budget = std::min(share, 1.0) * static_cast<double>(budget_of(live));
  return std::max(static_cast<std::size_t>(budget), least_budget);
}

/// Effects: says how large the heap may become before the next collection. It may become larger
/// only if collections would come too often, because free blocks are of other kinds than those in
/// demand: each pays for itself by half of the budget, handed out since the one before.
void set_target(std::size_t live_bytes, std::size_t budget, bool in_copy) noexcept {
  const std::size_t used = the_gc.memory.used_bytes();
  the_gc.budget_bytes = budget;
  the_gc.worth_bytes = budget / 2;
  the_gc.handed_bytes = 0;
  const std::size_t wanted = live_bytes + budget;
  // A heap that was larger a moment ago stays so, within limits: the memory is there. While a copy
  // marks it will be as large again, so the next one is not made later.
  const std::size_t kept =
      std::max({wanted, used, std::min(the_gc.target_bytes, wanted + budget / 4)});
  the_gc.target_bytes = in_copy ? std::max(wanted, used) : kept;
  the_gc.kept_bytes = kept;
  the_gc.part_bytes = least_part;
  const std::size_t left = give_back_part();
  the_gc.part_bytes = left == 0 ? 0 : std::max(least_part, left / most_parts);
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

void count_wait(std::size_t waited_ns) noexcept {
  the_gc.counted.longest_wait_ns = std::max(the_gc.counted.longest_wait_ns, waited_ns);
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
  if (!copy_marks()) return;
  settle_threads(false, nullptr);
  end_copy();
  tell(HEAPWISE_GC_MARKING_ENDS);
  tell(HEAPWISE_GC_COLLECTION_ENDS);
}

/// Effects: collects; if it is `in_copy`, begins to. Returns: whether it is done.
bool collect_now(bool in_copy) noexcept {
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

/// Effects: waits until the copy has marked, and takes over what it found. If that is of no use,
/// collects while the world stands still.
void finish_copy() noexcept {
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

/// How much is live is known from the second collection on. Before, all may be.
bool worth_a_copy() noexcept {
  const std::size_t least_bytes = the_gc.chosen.concurrent_bytes;
  const std::size_t live_bytes =
      the_gc.counted.collections == 0 ? the_gc.memory.used_bytes() : the_gc.counted.live_bytes;
  return least_bytes != 0 && live_bytes >= least_bytes && !the_gc.memory.notes_use();
}

/// Returns: by how much the heap may grow while a copy marks. All of that counts as live until the
/// next collection, so it takes its bytes twice. Not by the share of what counts as live: a program
/// that allocates faster than the copy marks would let the heap grow with each collection. Before
/// the first collection, all may be live.
std::size_t room_beside_copy(std::size_t heap_bytes) noexcept {
  if (the_gc.counted.collections == 0) return heap_bytes;
  return std::max(the_gc.budget_bytes, least_budget);
}

/// Effects: a thread rests, or waits for the copy, if the heap gets large before the copy has
/// marked.
void keep_pace_with_copy(std::size_t heap_bytes, std::size_t wanted_bytes) noexcept {
  if (the_gc.pace.is_too_large(heap_bytes)) return finish_copy();
  this_thread->rest_ns = the_gc.pace.rest_ns(heap_bytes, wanted_bytes, os::now_ns());
  count_wait(this_thread->rest_ns);
}

/// Effects: collects, or begins to, if the heap would get larger than it should. Returns: whether
/// it collected while the world stood still.
bool make_room(std::size_t wanted_bytes) noexcept {
  const std::size_t larger = the_gc.memory.used_bytes() + wanted_bytes;
  if (copy_marks()) {
    keep_pace_with_copy(larger, wanted_bytes);
    return false;
  }
  const bool in_copy = worth_a_copy();
  const std::size_t growth = in_copy ? expected_growth(the_gc.last_copy, larger) : 0;
  const std::size_t lead = std::min(growth, the_gc.worth_bytes);
  if (larger + lead <= the_gc.target_bytes || the_gc.handed_bytes < the_gc.worth_bytes) {
    return false;
  }
  the_gc.pace.begin(larger, larger + room_beside_copy(larger),
                    the_gc.speed_of_copies.expected_ns(the_gc.reached_bytes));
  return collect_now(in_copy);
}

} // namespace

void collect_locked() noexcept { collect_now(false); }

std::size_t give_back_part() noexcept {
  if (the_gc.part_bytes == 0) return 0;
  space& memory = the_gc.memory;
  const std::size_t free_bytes =
      the_gc.kept_bytes - std::min(the_gc.kept_bytes, memory.used_bytes());
  const std::size_t left = memory.purge(free_bytes, the_gc.part_bytes);
  if (left == 0) the_gc.part_bytes = 0;
  return left;
}

void look_after_copy() noexcept {
  if (copy_marks() && the_gc.disabled == 0 && copy_is_ready()) finish_copy();
}

slice_index take_slices(std::size_t count, kind block_kind) noexcept {
  space& memory = the_gc.memory;
  if (!memory.could_take(count)) return no_slice;
  const std::size_t wanted = count * slice_bytes;
  bool collected = the_gc.disabled > 0;
  if (!collected) {
    look_after_copy();
    collected = make_room(wanted);
  }
  slice_index taken = memory.take(count, block_kind);
  if (taken == no_slice && !collected) {
    collect_locked();
    taken = memory.take(count, block_kind);
  }
  if (taken != no_slice) the_gc.handed_bytes += wanted;
  the_gc.target_bytes = std::max(the_gc.target_bytes, memory.used_bytes());
  the_gc.counted.peak_heap_bytes = std::max(the_gc.counted.peak_heap_bytes, memory.used_bytes());
  return taken;
}

void keep_pace() noexcept {
  thread_record& self = *this_thread;
  if (self.rest_ns == 0) [[likely]]
    return;
  os::sleep(self.rest_ns);
  self.rest_ns = 0;
}

void collect(heapwise_gc_block_visitor* visitor, void* argument) noexcept {
  if (holds_world()) refuse("a collection", " between stopping and starting the world");
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

void tell_program() noexcept {
  report_damage();
  report_collection();
  give_notice();
}

void set_first_target() noexcept { the_gc.target_bytes = 2 * least_budget; }

} // namespace heapwise::gc
