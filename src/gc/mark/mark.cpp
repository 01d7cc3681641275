#include "gc/mark/mark.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "gc/mark/marker.hpp"
#include "gc/mark/marking.hpp"
#include "gc/mark/worker.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

constinit std::array<marker, most_markers> markers;
constinit std::size_t marker_count = 0;
constinit std::atomic<std::size_t> helpers{0}; // that were started
constinit std::atomic<std::size_t> next_helper{0};
constinit bool interior_everywhere = false;
constinit std::size_t stack_limit = 0;

template <bool Shared>
void run_marker(marker& self) noexcept {
  if (interior_everywhere) {
    worker<Shared, true>{self}.run();
  } else {
    worker<Shared, false>{self}.run();
  }
}

/// A thread that helps in every round, if it comes in time.
void help() noexcept {
  marker& self = markers[1 + next_helper.fetch_add(1, std::memory_order_relaxed)];
  std::uint32_t seen = 0;
  for (;;) {
    os::wait(work.round, seen, 0);
    // Pairs with the release that begins a round: its roots are seen.
    const std::uint32_t round = work.round.load(std::memory_order_acquire);
    if (round == seen) continue;
    seen = round;
    {
      const std::lock_guard hold{work.lock};
      if (work.over) continue;
      ++work.active;
    }
    run_marker<true>(self);
    self.end();
    {
      const std::lock_guard hold{work.lock};
      --work.active;
      work.hungry.store(work.hungry.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    // Release: the thread that waits for the helpers sees all that this one marked.
    work.left.fetch_add(1, std::memory_order_release);
    os::wake_all(work.left);
  }
}

void wait_for_helpers() noexcept {
  for (;;) {
    // Pairs with the release at the end of help().
    const std::uint32_t left = work.left.load(std::memory_order_acquire);
    {
      const std::lock_guard hold{work.lock};
      if (work.active == 1) return;
    }
    os::wait(work.left, left, 1);
  }
}

/// Effects: looks through every marked block once more, for what was marked and not noted down.
template <bool Interior>
HEAPWISE_READS_ANYTHING void look_again(marker& self, const map& where) noexcept {
  worker<false, Interior> work_off{self};
  for (std::size_t slice = 0; slice < where.extent / slice_bytes; ++slice) {
    const kind block_kind = where.kinds[slice].load(std::memory_order_relaxed);
    const mark* const marks = where.marks + slice * marks_of_slice;
    const auto* const begin = reinterpret_cast<const std::byte*>(where.base) + slice * slice_bytes;
    if (block_kind == large && marks[0].load(std::memory_order_relaxed) != 0) {
      self.scan<Interior>(begin, begin + where.records[slice].bytes);
    } else if (block_kind == large_typed && marks[0].load(std::memory_order_relaxed) != 0) {
      self.scan_typed<Interior>(begin, block_kind);
    }
    if (block_kind == no_kind || block_kind >= small_kinds || kind_table[block_kind].atomic) {
      work_off.run();
      continue;
    }
    const kind_facts& facts = kind_table[block_kind];
    for (std::uint32_t block = 0; block < facts.blocks; ++block) {
      if (marks[block].load(std::memory_order_relaxed) == 0) continue;
      const std::byte* const at = begin + std::size_t{block} * facts.bytes;
      if (is_typed(block_kind)) {
        self.scan_typed<Interior>(at, block_kind);
      } else {
        self.scan<Interior>(at, at + facts.bytes);
      }
      work_off.run();
    }
  }
}

/// Returns: whether a marker had no room since this was asked last.
bool somebody_overflowed() noexcept {
  bool overflowed = false;
  for (std::size_t each = 0; each < marker_count; ++each) {
    overflowed = overflowed || markers[each].overflowed();
    markers[each].forget_overflow();
  }
  return overflowed;
}

} // namespace

bool start_markers(std::size_t count, std::size_t stack_bytes, bool interior) noexcept {
  marker_count = std::min(std::max<std::size_t>(count, 1), most_markers);
  stack_limit = stack_bytes;
  interior_everywhere = interior;
  return markers[0].start(stack_bytes);
}

void end_markers() noexcept { markers[0].give_back(); }

void start_helpers() noexcept {
  expects([] { return the_gc.epoch.load(std::memory_order_relaxed) % 2 == 0; }, "the world runs");
  while (helpers.load(std::memory_order_relaxed) + 1 < marker_count) {
    // Before the thread: it may be quick. One that could not be started is asked for again.
    if (!markers[1 + helpers.load(std::memory_order_relaxed)].start(stack_limit)) return;
    if (!os::start_thread(help)) return;
    helpers.fetch_add(1, std::memory_order_relaxed);
  }
}

bool mark_from(page_list<root>& roots, const map& where, bool worth_help) noexcept {
  const bool shared = worth_help && marker_count > 1;
  marker& self = markers[0];
  {
    const std::lock_guard hold{work.lock};
    std::for_each(markers.begin(), markers.begin() + marker_count,
                  [&](marker& each) { each.begin(where); });
    work.ranges = &roots;
    work.where = where;
    work.active = 1;
    work.hungry.store(0, std::memory_order_relaxed);
    work.over = !shared;
  }
  if (shared) {
    // Release: helpers acquire the round, and see what was set up for it.
    work.round.fetch_add(1, std::memory_order_release);
    os::wake_all(work.round);
    run_marker<true>(self);
    wait_for_helpers();
  } else {
    run_marker<false>(self);
  }
  bool overflowed = false;
  while (somebody_overflowed()) {
    overflowed = true;
    interior_everywhere ? look_again<true>(self, where) : look_again<false>(self, where);
  }
  self.end();
  return overflowed;
}

void mark_named_by(const found_block& block) noexcept {
  expects_still_world();
  marker& self = markers[0];
  self.begin(the_gc.memory.what_is_where());
  call_function(*layout_of(block), block.begin, self);
  self.settle_marks();
}

void hold_helpers() noexcept {
  expects_lock();
  work.lock.lock();
}

void release_helpers() noexcept {
  expects_held(work.lock);
  work.lock.unlock();
}

void forget_helpers() noexcept {
  expects_held(work.lock);
  helpers.store(0, std::memory_order_relaxed);
  next_helper.store(0, std::memory_order_relaxed);
}

} // namespace heapwise::gc
