#include "heap/large/large_blocks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "heap/base/invalid.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/large/large_guard.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/space/huge_pages.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// What the large blocks of a shard hold together: pages of 4 KiB, and the number of blocks in the
/// bits above, so that one instruction counts both. Only the sum over all shards is exact.
struct alignas(cache_line_bytes) large_sum {
  static constexpr unsigned page_shift = 12;
  static constexpr std::uint64_t one_block = std::uint64_t{1} << 40;

  std::atomic<std::uint64_t> both{0};
  [[no_unique_address]] line_mark<shared::large_figures> mark;

  void add(std::uint64_t more) noexcept {
    mark.written();
    both.fetch_add(more, std::memory_order_relaxed);
  }
};
constinit std::array<large_sum, most_shards> large_sums;

void count(const span& block, std::uint64_t blocks, std::size_t more_bytes) noexcept {
  // A negative number of bytes has its sign in the upper bits.
  const auto pages =
      static_cast<std::uint64_t>(static_cast<std::ptrdiff_t>(more_bytes) >> large_sum::page_shift);
  large_sums[block.shard.load(std::memory_order_relaxed)].add(blocks * large_sum::one_block +
                                                              pages);
}

/// Small blocks that are large ones already, because they grow.
constinit std::atomic<std::size_t> growing_blocks{0};

/// This part of the heap may be slices of small blocks that grow. One such block there may always
/// be.
constexpr std::size_t growing_part = 64;

/// A growing block is placed where this many free slices follow it: up to 1 MiB it need not move.
constexpr std::size_t free_behind_growing = 15;

/// Effects: the block counts among those that grow.
void start_growing(span& block) noexcept {
  block.large.grows = true;
  growing_blocks.fetch_add(1, std::memory_order_relaxed);
}

/// Effects: the block does not count among those that grow any more. Returns: whether it did.
bool stop_growing(span& block) noexcept {
  if (!block.large.grows) return false;
  block.large.grows = false;
  growing_blocks.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

/// Effects: a block that is allocated is in the sample, or is not. Requires: its length is known,
/// and nobody else knows of it.
void begin_sample(span& block) noexcept {
  if constexpr (can_sample) {
    const std::size_t bytes = block.large.usable_bytes;
    block.large.sample = the_samples.is_on() ? the_samples.take_large(bytes, bytes) : 0;
  }
}

/// Effects: the block is not in the sample any more.
void end_sample(span& block) noexcept {
  if constexpr (can_sample) {
    if (block.large.sample == 0) [[likely]]
      return;
    the_samples.release_large(block.large.sample);
    block.large.sample = 0;
  }
}

/// Effects: the same for a block that had another length before.
void change_sample(span& block, std::size_t bytes_before) noexcept {
  if constexpr (can_sample) {
    if (!the_samples.is_on()) [[likely]]
      return;
    std::uint32_t& sample = block.large.sample;
    const std::size_t bytes = block.large.usable_bytes;
    if (sample != 0) {
      sample = the_samples.resize_large(sample, bytes);
    } else if (bytes > bytes_before) {
      sample = the_samples.take_large(bytes, bytes - bytes_before);
    }
  }
}

/// Returns: whether the heap is large enough for one more small block that has slices of its own.
bool may_grow_alone() noexcept {
  // Relaxed: to be wrong by a few blocks does no harm.
  const std::size_t bytes = growing_blocks.load(std::memory_order_relaxed) * slice_bytes;
  return bytes < std::max(slice_bytes, the_space.used_bytes() / growing_part);
}

/// Returns: whether freed blocks of this length may wait in a stock for the next request. With one
/// shard they may not: its stock would have one lock too, as the space has. Where pages are hidden,
/// the stock saves the system calls for the one behind the block.
bool are_stocked(std::size_t slices) noexcept {
  return slices <= large_stock::most_slices && (chosen_profile.guards_large || shard_count() > 1);
}

/// Returns: a span of as many slices that waited, or with a gap behind them, or nullptr.
span* take_stocked(std::size_t shard, std::size_t slices) noexcept {
  const std::size_t most = std::min(slices + most_gap_slices, large_stock::most_slices);
  span* waited = nullptr;
  for (; waited == nullptr && slices <= most; ++slices) {
    waited = the_large_stocks[shard].take(slices);
  }
  return waited;
}

/// Returns: a span of the space, with a gap behind its slices by chance if the profile has gaps.
span* take_with_gap(std::size_t slices, std::size_t alignment, bool& was_clean,
                    std::size_t free_behind) noexcept {
  if constexpr (most_gap_slices > 0) {
    const std::size_t gap = random_below(most_gap_slices + 1);
    span* const new_span = the_space.take(slices + gap, alignment, was_clean, free_behind);
    if (new_span != nullptr || gap == 0) return new_span;
  }
  return the_space.take(slices, alignment, was_clean, free_behind);
}

/// Returns: a span that waited, where nothing is hidden but what is behind `bytes`, or nullptr.
/// Requires: `bytes` are whole pages if the profile hides those behind them. A span that waited
/// comes from a stock, or is nullptr.
span* ready_for(span* waited, std::size_t bytes) noexcept {
  expects([&] { return !chosen_profile.guards_large || bytes % os::page_bytes() == 0; },
          "a block before hidden pages has whole pages");
  if (waited == nullptr || waited->large.usable_bytes == bytes || lower_guard(*waited))
    return waited;
  the_space.retire(*waited);
  return nullptr;
}

/// Returns: whether a span that waited reads as zero. Reports one that was written to.
bool is_zero_after_wait(const span& waited) noexcept {
  if constexpr (chosen_profile.quarantines) {
    expect_unwritten(waited);
    return true;
  }
  return false;
}

/// Effects: the span does not hold a block any more; the pages behind it remain as they are.
/// Returns: false if another thread came first.
bool close_large(span& block) noexcept {
  // Of two threads that free it at once, one comes second. Acquire and release: the figures of the
  // block are read after make_large has written them, and before another thread takes the slices.
  slice_use expected = slice_use::large;
  if (!block.use.compare_exchange_strong(expected, slice_use::none, std::memory_order_acq_rel)) {
    invalid_free(the_space.begin_of(block), invalid::freed_before);
    return false;
  }
  end_sample(block);
  count(block, std::uint64_t{0} - 1, std::size_t{0} - block.large.usable_bytes);
  return true;
}

} // namespace

bool too_large(std::size_t size_bytes) noexcept {
  return size_bytes > PTRDIFF_MAX - slice_bytes ||
         slices_of(size_bytes) * slice_bytes > the_space.reserved_bytes();
}

void set_bytes(span& block, std::size_t bytes) noexcept {
  expects(bytes <= block.slices * slice_bytes, "a block has no more bytes than slices");
  const std::size_t before = block.large.usable_bytes;
  if (bytes != before) count(block, 0, bytes - before);
  block.large.usable_bytes = bytes;
  change_sample(block, before);
  raise_guard(block);
  if (bytes > max_small_bytes) stop_growing(block);
}

span* make_large(std::size_t size_bytes, std::size_t alignment, std::size_t room_slices,
                 bool zeroed, std::size_t free_behind) noexcept {
  if (!start_heap() || too_large(size_bytes) || alignment > the_space.reserved_bytes()) {
    return nullptr;
  }
  size_bytes = std::max(size_bytes, std::size_t{1});
  const std::size_t bytes = round_up(size_bytes, os::page_bytes());
  const std::size_t slices = slices_of(size_bytes + large_guard_bytes());
  const std::size_t shard = own_shard();
  bool clean = false;
  const auto take = [&] {
    const std::size_t slices_between = std::max(alignment / slice_bytes, std::size_t{1});
    return room_slices > 0
               ? the_space.take(slices + room_slices, slices_between, clean, free_behind)
               : take_with_gap(slices, slices_between, clean, free_behind);
  };
  const bool may_be_stocked = room_slices == 0 && alignment <= slice_bytes && are_stocked(slices);
  span* new_span = may_be_stocked ? take_stocked(shard, slices) : nullptr;
  const bool is_zero = new_span != nullptr && is_zero_after_wait(*new_span);
  const std::size_t zero_bytes = is_zero ? new_span->large.usable_bytes : 0;
  new_span = ready_for(new_span, bytes);
  const bool was_stocked = new_span != nullptr;
  if (!was_stocked) new_span = take();
  if (new_span == nullptr && room_slices == 0) { // with room, it was only a wish
    free_what_waits();
    new_span = take();
  }
  if (new_span == nullptr) return nullptr;
  std::byte* const begin = the_space.begin_of(*new_span);
  new_span->large.usable_bytes = bytes;
  new_span->large.grows = false;
  // Not if it was stocked: then its pages are worth keeping.
  if constexpr (chosen_profile.quarantines) {
    new_span->large.is_fresh = clean;
    new_span->large.hidden = os::hidden_by::nothing;
  }
  new_span->large.touched_bytes = new_span->large.usable_bytes;
  new_span->shard.store(static_cast<std::uint8_t>(shard), std::memory_order_relaxed);
  if (!clean && room_slices >= worth_purging_slices) {
    purge_slices(begin + slices * slice_bytes, room_slices * slice_bytes);
  }
  if (was_stocked && zeroed) {
    // The space does not know that it was written to.
    if (zero_bytes < bytes) std::memset(begin + zero_bytes, 0, bytes - zero_bytes);
  } else if (!clean && zeroed) {
    the_space.zero(*new_span, bytes);
  }
  count(*new_span, 1, new_span->large.usable_bytes);
  if (!was_stocked) new_span->behind = os::hidden_by::nothing;
  raise_guard(*new_span);
  note_allocated(begin);
  begin_sample(*new_span);
  // Release: pairs with the acquire in look_up. The length was written before.
  new_span->use.store(slice_use::large, std::memory_order_release);
  purge_after_growth();
  return new_span;
}

void hand_over(span& block) noexcept {
  expects([&] { return block.use.load(std::memory_order_relaxed) == slice_use::large; },
          "a large block is handed over");
  block.use.store(slice_use::none, std::memory_order_relaxed);
  end_sample(block);
  count(block, std::uint64_t{0} - 1, std::size_t{0} - block.large.usable_bytes);
}

void release_large(span& block, bool clean) noexcept {
  if (!close_large(block)) return;
  note_freed(the_space.begin_of(block));
  if constexpr (chosen_profile.quarantines) {
    stop_growing(block);
    block.large.is_fresh = block.large.is_fresh || clean;
    hold_back_large(block);
    return notice_free_memory();
  }
  large_stock& stock = the_large_stocks[block.shard.load(std::memory_order_relaxed)];
  const bool may_wait = !clean && block.pieces == 0;
  if (stop_growing(block) && may_wait && stock.keep_to_grow(block)) return;
  if (!may_wait || !are_stocked(block.slices) || !stock.keep(block)) {
    give_to_space(block, clean);
  }
  notice_free_memory();
}

void retire_large(span& block) noexcept {
  if (!close_large(block)) return;
  stop_growing(block);
  static_cast<void>(lower_guard(block)); // one mapping less, if the system agrees
  the_space.retire(block);
}

span* make_growing(std::size_t size_bytes) noexcept {
  if (size_bytes < worth_growing_bytes || size_bytes > max_small_bytes || !may_grow_alone()) {
    return nullptr;
  }
  constexpr std::size_t bytes = max_small_bytes;
  if (span* const again = ready_for(the_large_stocks[own_shard()].take_to_grow(), bytes)) {
    again->large.usable_bytes = bytes;
    count(*again, 1, again->large.usable_bytes);
    raise_guard(*again);
    start_growing(*again);
    note_allocated(the_space.begin_of(*again));
    begin_sample(*again);
    // Release: as in make_large.
    again->use.store(slice_use::large, std::memory_order_release);
    return again;
  }
  span* const new_span = make_large(bytes, slice_bytes, 0, false, free_behind_growing);
  if (new_span == nullptr) return nullptr;
  set_bytes(*new_span, bytes); // also where pages are larger
  start_growing(*new_span);
  return new_span;
}

const span* large_block_around(const void* address) noexcept {
  expects([&] { return the_space.holds(address); }, "the space holds the address");
  const slice_index at = the_space.slice_of(address);
  for (slice_index before = 0; before <= at; ++before) {
    const span* const first = the_space.record(at - before);
    if (first == nullptr) return nullptr;
    // Acquire: as in look_up. The length was written before.
    const slice_use use = first->use.load(std::memory_order_acquire);
    const bool is_owned = use == slice_use::owned && first->class_index == no_class;
    if (use == slice_use::large || use == slice_use::held || is_owned) {
      return before < first->slices ? first : nullptr;
    }
    if (use != slice_use::none && use != slice_use::inside) return nullptr;
  }
  return nullptr;
}

large_figures count_large() noexcept {
  std::uint64_t sum = 0;
  for (const large_sum& each : large_sums) sum += each.both.load(std::memory_order_relaxed);
  return {.blocks = sum / large_sum::one_block,
          .bytes = sum % large_sum::one_block << large_sum::page_shift};
}

} // namespace heapwise::detail
