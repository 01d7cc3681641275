// From caches back to spans.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "heap/base/invalid.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/central/bin.hpp"
#include "heap/central/bin_change.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/block_runs.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/space/space.hpp"

namespace heapwise::detail {

namespace {

/// What waits in batches beyond this goes back to the spans at once.
constexpr std::size_t most_stocked_bytes = std::size_t{256} << 10;
constexpr std::size_t least_most_stocked = 16;

constexpr std::size_t most_stocked(size_class class_index) noexcept {
  const class_facts& facts = class_table[class_index];
  return std::max(least_most_stocked, most_stocked_bytes / (facts.batch * facts.bytes));
}

std::size_t shard_of(const block_run& run) noexcept {
  // Relaxed: a thread that has a block of the span has seen its shard. The bin notices an old one.
  return run.home->shard.load(std::memory_order_relaxed);
}

/// Returns: the bin that a run belongs to whose shard was not tried yet, or nullptr.
bin* next_bin(std::span<const block_run> runs, std::uint32_t tried,
              size_class class_index) noexcept {
  for (const block_run& run : runs) {
    if (run.home == nullptr || (tried >> shard_of(run) & 1) != 0) continue;
    return &all_bins[shard_of(run)][class_index];
  }
  return nullptr;
}

} // namespace

void bin::flush(batch*& full, size_class class_index) noexcept {
  if (!stock(full, class_index))
    put_back_batch({full->blocks(), class_table[class_index].batch}, true, class_index);
}

bool bin::stock(batch*& full, size_class class_index) noexcept {
  // Relaxed: whether there is room is looked at again under the lock.
  if (stocked_.load(std::memory_order_relaxed) >= most_stocked(class_index)) return false;
  {
    const std::lock_guard hold{lock_};
    const std::uint32_t stocked = stocked_.load(std::memory_order_relaxed);
    if (stocked >= most_stocked(class_index)) return false;
    batch* const empty =
        !empty_batches_.is_empty() ? &empty_batches_.pop() : new_batch(class_index);
    if (empty == nullptr) return false;
    ++flushes_;
    full->mark.written();
    stock_.push(*std::exchange(full, empty));
    stocked_.store(stocked + 1, std::memory_order_relaxed);
  }
  count_stocked(1, class_index);
  return true;
}

void bin::put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept {
  while (count > 0) {
    const std::size_t some = std::min(count, max_batch);
    put_back_batch({blocks, some}, false, class_index);
    blocks += some;
    count -= some;
  }
}

void bin::put_back_batch(std::span<std::byte* const> blocks, bool is_flush,
                         size_class class_index) noexcept {
  std::array<block_run, max_batch> runs; // all that is read of it was written before
  std::span<block_run> left{runs.data(), gather(blocks, class_index, runs.data())};
  std::uint32_t tried = 0; // shards
  for (bin* next = this; next != nullptr; next = next_bin(left, tried, class_index)) {
    tried |= std::uint32_t{1} << next->shard_;
    change ongoing{*next, class_index};
    if (next == this && is_flush) ++flushes_;
    left = left.first(next->take_back(left, ongoing, class_index));
  }
  for (const block_run& run : left) {
    bin& home = run.home == nullptr ? *this : of_shard(shard_of(run), class_index);
    for (std::byte* const each : blocks.subspan(run.begin, run.count)) {
      home.put_back_alone(each, class_index);
    }
  }
}

void bin::take_whole(span& whole, change& ongoing, size_class class_index) noexcept {
  if (spare_ == nullptr) {
    spare_ = &whole;
  } else {
    dissolve(whole, ongoing, class_index);
  }
}

HEAPWISE_ALWAYS_INLINE bool bin::take_back(const block_run& run, change& ongoing,
                                           size_class class_index) noexcept {
  span* const home = run.home;
  if (home == nullptr) return false;
  // Acquire: pairs with the releases of mixed_spans::adopt and make_span. What they wrote about the
  // span is seen.
  if (home->use.load(std::memory_order_acquire) != slice_use::small ||
      home->shard.load(std::memory_order_relaxed) != shard_ || home->class_index != class_index ||
      !home->free_map.set_if_clear(run.word, run.bits)) {
    return false;
  }
  const std::uint32_t blocks = blocks_of_span(class_index);
  home->small.free_blocks += run.count;
  home->touched = 1;
  home->mark.written();
  expects(home->small.free_blocks <= blocks, "a span has no more free blocks than blocks");
  const bool is_too_empty = span_lists::is_too_empty(*home);
  if (is_too_empty) [[unlikely]]
    lists_.place(*home, blocks);
  expects(home->small.fullness == span_lists::list_of(*home, blocks),
          "a span is in the list for it");
  if (is_too_empty && home->small.free_blocks == blocks) take_whole(*home, ongoing, class_index);
  return true;
}

std::size_t bin::take_back(std::span<block_run> runs, change& ongoing,
                           size_class class_index) noexcept {
  std::size_t taken = 0;
  std::size_t doubtful = 0;
  for (const block_run& run : runs) {
    if (take_back(run, ongoing, class_index)) [[likely]] {
      taken += run.count;
    } else {
      runs[doubtful++] = run;
    }
  }
  add_free(static_cast<std::ptrdiff_t>(taken));
  return doubtful;
}

void bin::put_back_alone(std::byte* block, size_class class_index) noexcept {
  const std::span<std::byte* const> one{&block, 1};
  block_run run;
  static_cast<void>(gather(one, class_index, &run));
  {
    change ongoing{*this, class_index};
    if (take_back({&run, 1}, ongoing, class_index) == 0) return;
  }
  span* const home = the_space.find_span(block);
  if (home == nullptr) {
    if constexpr (chosen_profile.samples_guards) {
      if (the_guards.release(block)) return; // one of malloc that was freed with its size
    }
    return invalid_free(block, invalid::foreign);
  }
  // Acquire: as in take_back.
  const slice_use use = home->use.load(std::memory_order_acquire);
  if (use == slice_use::mixed) return the_mixed_spans.put_back(one);
  const bool is_inside =
      run.home == nullptr && use == slice_use::small && home->class_index == class_index;
  invalid_free(block, is_inside ? invalid::inside_block : invalid::freed_before);
}

} // namespace heapwise::detail
