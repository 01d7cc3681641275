#include "gc/collect/slices.hpp"

#include <algorithm>

#include "gc/collect/budget.hpp"
#include "gc/collect/collect.hpp"
#include "gc/collect/copies.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

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
  if (the_gc.copy.marks()) {
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

void look_after_copy() noexcept {
  expects_lock();
  if (the_gc.copy.marks() && the_gc.disabled == 0 && copy_is_ready()) finish_copy();
}

slice_index take_slices(std::size_t count, kind block_kind) noexcept {
  expects_lock();
  expects_registered();
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
  expects_registered();
  thread_record& self = *this_thread;
  if (self.rest_ns == 0) [[likely]]
    return;
  os::sleep(self.rest_ns);
  self.rest_ns = 0;
}

} // namespace heapwise::gc
