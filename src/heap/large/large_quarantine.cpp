#include "heap/large/large_quarantine.hpp"

#include <cstring>
#include <mutex>
#include <span>

#include "heap/base/invalid.hpp"
#include "heap/base/linked.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/base/zeros.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/large/large_guard.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/space/huge_pages.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit std::array<large_quarantine, most_shards> the_large_quarantines;

namespace {

auto quarantines() noexcept { return std::span{the_large_quarantines}.first(shard_count()); }

/// Returns: whether to hide the block's pages is better than to clear them. Blocks whose pages were
/// moved do not wait in a stock, so they are not cleared either.
bool is_hidden_when_free(const span& block) noexcept {
  return block.slices > large_stock::most_slices || block.pieces > 0;
}

/// Effects: overwrites all that was in use, except for hidden pages.
void overwrite(span& freed) noexcept {
  std::byte* const begin = the_space.begin_of(freed);
  std::memset(begin, 0, freed.large.usable_bytes);
  const bool hides = freed.behind != os::hidden_by::nothing;
  const std::size_t tail = freed.large.usable_bytes + (hides ? hidden_bytes_behind(freed) : 0);
  if (tail < freed.large.touched_bytes)
    std::memset(begin + tail, 0, freed.large.touched_bytes - tail);
}

/// Effects: all bytes of a freed block are 0. Pages that the block got fresh are given back: to
/// clear those that it never touched would make them resident.
void clear(span& freed) noexcept {
  if (freed.large.is_fresh && purge_slices(the_space.begin_of(freed), freed.slices * slice_bytes))
    return;
  freed.large.is_fresh = false;
  overwrite(freed);
}

/// Effects: as `clear`, for a block that will not be used again soon.
void give_pages_back(span& freed) noexcept {
  freed.large.is_fresh = true;
  clear(freed);
}

/// Effects: no access to the block, and its pages go back. If the system refuses the former, only
/// the latter.
void hide_block(span& freed) noexcept {
  static_cast<void>(lower_guard(freed)); // if it stays hidden, the slices are lost when they leave
  give_pages_back(freed);
  freed.large.hidden =
      os::hide_by_protection(the_space.begin_of(freed), freed.slices * slice_bytes);
  // What is not hidden may be written to meanwhile.
  freed.large.is_fresh = freed.large.is_fresh && freed.large.hidden != os::hidden_by::nothing;
}

/// Effects: the slices of a hidden block go back to the space. If the system does not let them be
/// used again, they stay out of use.
void release_hidden(span& left) noexcept {
  const bool usable =
      os::reveal(the_space.begin_of(left), left.slices * slice_bytes, left.large.hidden);
  if (!usable) return the_space.retire(left);
  left.large.hidden = os::hidden_by::nothing;
  give_to_space(left, left.large.is_fresh);
}

void release_cleared(span& left) noexcept {
  expect_unwritten(left);
  give_to_space(left, false);
}

/// Effects: the block serves the next request of its length, or goes back to the space.
void pass_on(span& left) noexcept {
  if (the_large_stocks[left.shard.load(std::memory_order_relaxed)].keep(left)) return;
  release_cleared(left);
}

template <std::uint32_t most_slices, class Release>
void hold_in(large_quarantine& home, held_spans<most_slices>& spans, span& freed,
             Release release) noexcept {
  freed.touched = touched;
  // Release: pairs with the acquire in large_block_around. How it is hidden was written before.
  freed.use.store(slice_use::held, std::memory_order_release);
  linked_stack<span> excess;
  {
    // One hold of the lock: no other thread finds more spans than there is room for.
    const std::lock_guard hold{home.lock};
    spans.add(freed);
    while (spans.has_excess()) excess.push(spans.take(random_below(spans.older_half())));
  }
  while (!excess.is_empty()) release(excess.pop());
}

template <std::uint32_t most_slices, class Release>
void release_all(large_quarantine& from, held_spans<most_slices>& spans, Release release) noexcept {
  const auto oldest = [&]() -> span* {
    const std::lock_guard hold{from.lock};
    return spans.older_half() == 0 ? nullptr : &spans.take(0);
  };
  while (span* const left = oldest()) release(*left);
}

/// Effects: gives the pages of a cleared block back if it was seen before. One that was written to
/// keeps its pages: the thread that is to use it reports that.
void purge_if_seen(span& held) noexcept {
  if (held.large.is_fresh) return;
  if (held.touched == touched) {
    held.touched = untouched;
  } else if (zeros::is_zero(the_space.begin_of(held), held.large.usable_bytes)) {
    held.large.is_fresh = purge_slices(the_space.begin_of(held), held.slices * slice_bytes);
  }
}

} // namespace

void hold_back_large(span& freed) noexcept {
  expects([&] { return freed.use.load(std::memory_order_relaxed) != slice_use::large; },
          "a block that is held back is closed");
  large_quarantine& own = the_large_quarantines[freed.shard.load(std::memory_order_relaxed)];
  if (!is_hidden_when_free(freed)) {
    clear(freed);
    return hold_in(own, own.cleared, freed, pass_on);
  }
  if (freed.slices > own.hidden.longest) {
    give_pages_back(freed);
    return give_to_space(freed, freed.large.is_fresh);
  }
  hide_block(freed);
  hold_in(own, own.hidden, freed, release_hidden);
}

void expect_unwritten(const span& waited) noexcept {
  expects(waited.large.hidden == os::hidden_by::nothing, "what is read is not hidden");
  std::byte* const begin = the_space.begin_of(waited);
  if (!zeros::is_zero(begin, waited.large.usable_bytes))
    end_by_fault(begin, invalid::written_when_free);
}

void discard_behind(span& block, std::size_t kept) noexcept {
  if (block.large.touched_bytes <= kept) return;
  std::byte* const tail = the_space.begin_of(block) + kept;
  const std::size_t bytes = block.large.touched_bytes - kept;
  if (!purge_slices(tail, bytes)) std::memset(tail, 0, bytes);
}

void release_held_large() noexcept {
  for (large_quarantine& each : quarantines()) {
    release_all(each, each.hidden, release_hidden);
    release_all(each, each.cleared, release_cleared);
  }
}

void purge_held_large() noexcept {
  for (large_quarantine& each : quarantines()) {
    os::let_fork();
    const std::lock_guard hold{each.lock};
    each.cleared.each(purge_if_seen);
  }
}

bool is_in_hidden_block(const void* address) noexcept {
  const span* const block = the_space.holds(address) ? large_block_around(address) : nullptr;
  return block != nullptr && block->use.load(std::memory_order_relaxed) == slice_use::held &&
         block->large.hidden != os::hidden_by::nothing;
}

std::size_t held_large_bytes() noexcept {
  std::size_t slices = 0;
  for (const large_quarantine& each : quarantines()) {
    slices += each.cleared.slices() + each.hidden.slices();
  }
  return slices * slice_bytes;
}

std::size_t resident_held_bytes() noexcept {
  std::size_t slices = 0;
  for (const large_quarantine& each : quarantines()) slices += each.cleared.slices();
  return slices * slice_bytes;
}

} // namespace heapwise::detail
