#include "heap/central/bin.hpp"

#include <algorithm>
#include <utility>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/central/bin_change.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/space/free_pages.hpp"
#include "heap/space/space.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// Returns: whether this many of the first `blocks` bits are set side by side.
bool has_run(const block_map& map, std::uint32_t length, std::uint32_t blocks) noexcept {
  std::uint32_t end = 0;
  while (true) {
    const std::uint32_t first = map.find(true, end, blocks);
    if (length > blocks - first) return false;
    end = map.find(false, first, first + length);
    if (end == first + length) return true;
  }
}

} // namespace

bin& bin::of_shard(std::size_t shard, size_class class_index) noexcept {
  return shard == shard_ ? *this : all_bins[shard][class_index];
}

void bin::belong_to(std::uint8_t shard) noexcept {
  const std::lock_guard hold{lock_};
  expects(spans_ == 0, "a bin that gets a shard has no span");
  shard_ = shard;
}

void bin::add_free(std::ptrdiff_t blocks) noexcept {
  expects_held(lock_);
  // Not one read-modify-write: all writers hold the lock.
  free_blocks_.store(free_blocks() + static_cast<std::size_t>(blocks), std::memory_order_relaxed);
}

void bin::dissolve(span& empty, change& ongoing, size_class class_index) noexcept {
  expects(empty.small.free_blocks() == blocks_of_span(class_index) && spans_ > 0,
          "a span that is dissolved is empty");
  lists_.remove(empty);
  add_free(-static_cast<std::ptrdiff_t>(blocks_of_span(class_index)));
  --spans_;
  empty.key.store({}, std::memory_order_relaxed);
  empty.use.store(slice_use::none, std::memory_order_relaxed);
  the_space.set_class(empty, no_class);
  ongoing.give(empty);
}

void bin::dissolve_spare(change& ongoing, size_class class_index) noexcept {
  expects(spare_ != nullptr, "there is a spare span to dissolve");
  dissolve(*std::exchange(spare_, nullptr), ongoing, class_index);
}

bool bin::let_go_sparsest(size_class class_index, std::size_t hole_bytes) noexcept {
  expects(hole_bytes > 0, "a hole has bytes");
  // Locks of bins are only ever taken one by one, or all in order: this is a second one.
  if (!lock_.try_lock()) return false;
  change ongoing{*this, class_index, std::adopt_lock};
  span* const sparse = lists_.emptiest();
  if (sparse == nullptr) return false;
  if (sparse == spare_) { // nothing in it has to stay: its slices serve any class
    dissolve_spare(ongoing, class_index);
    return true;
  }
  // The table that mixed spans need holds the states of all blocks there.
  if constexpr (chosen_profile.keeps_states) return false;
  const std::uint32_t blocks = class_table[class_index].blocks;
  const auto length =
      static_cast<std::uint32_t>((hole_bytes - 1) / class_table[class_index].bytes + 1);
  if (!the_space.allow_mixing()) return false;
  if (sparse->small.free_blocks() < blocks / 2 || !has_run(sparse->free_map, length, blocks))
    return false;
  lists_.remove(*sparse);
  add_free(-static_cast<std::ptrdiff_t>(sparse->small.free_blocks()));
  --spans_;
  sparse->key.store({}, std::memory_order_relaxed);
  the_mixed_spans.adopt(*sparse, class_index);
  return true;
}

void bin::count_stocked(std::ptrdiff_t batches, size_class class_index) const noexcept {
  const class_facts& facts = class_table[class_index];
  the_bin_sums[shard_].add_stocked(static_cast<std::size_t>(batches) * facts.batch *
                                   std::size_t{facts.bytes});
}

batch* bin::take_stocked() noexcept {
  expects_held(lock_);
  expects(!stock_.is_empty(), "there is a batch to take");
  const std::uint32_t left = stocked_.load(std::memory_order_relaxed) - 1;
  stocked_.store(left, std::memory_order_relaxed);
  least_stocked_ = std::min(least_stocked_, left);
  return &stock_.pop();
}

void bin::trim(size_class class_index) noexcept {
  std::uint32_t unneeded = 0;
  {
    const std::lock_guard hold{lock_};
    unneeded = least_stocked_;
  }
  // One at a time: no thread waits for more than one.
  for (; unneeded > 0; --unneeded) {
    batch* whole = nullptr;
    {
      const change ongoing{*this, class_index};
      if (!stock_.is_empty()) whole = take_stocked();
    }
    if (whole == nullptr) break;
    put_back(whole->blocks(), class_table[class_index].batch, class_index);
    delete_batch(whole, class_index);
  }
  change ongoing{*this, class_index};
  while (!empty_batches_.is_empty()) delete_batch(&empty_batches_.pop(), class_index);
  least_stocked_ = stocked_.load(std::memory_order_relaxed);
  if (spare_ != nullptr && spare_->touched == 0) dissolve_spare(ongoing, class_index);
}

void bin::drop_spare(size_class class_index) noexcept {
  change ongoing{*this, class_index};
  if (spare_ != nullptr) dissolve_spare(ongoing, class_index);
}

std::size_t bin::purge_pages(span& of_span, size_class class_index, bool even_if_touched) noexcept {
  const class_facts& facts = class_table[class_index];
  const std::lock_guard hold{lock_};
  // The slice may have gone to another bin meanwhile, under whose lock its record is written now.
  // Acquire: pairs with the release of set_class. If another bin has written this class, its shard
  // is seen, too. If this bin has, that was under its lock, and all of the record is seen.
  if (the_facts.map.class_of_slice(the_space.index_of(of_span)).load(std::memory_order_acquire) !=
          class_index ||
      of_span.shard.load(std::memory_order_relaxed) != shard_) {
    return 0;
  }
  if (of_span.use.load(std::memory_order_relaxed) != slice_use::small) return 0; // an inner slice
  if (of_span.touched != 0 && !even_if_touched) {
    of_span.touched = 0;
    return 0;
  }
  const std::size_t page = os::page_bytes();
  if (of_span.small.free_blocks() * std::size_t{facts.bytes} < page) return 0;
  const std::size_t pages = facts.slices * slice_bytes / page;
  return purge_free_pages(
      of_span.small.purged_pages, the_space.begin_of(of_span), pages, [&](std::size_t number) {
        const std::uint32_t first = block_at(class_index, number * page);
        const std::uint32_t end = std::min(blocks_of_span(class_index),
                                           block_at(class_index, (number + 1) * page - 1) + 1);
        return first < end && of_span.free_map.find(false, first, end) == end;
      });
}

bin_figures bin::figures(size_class class_index) noexcept {
  const std::lock_guard hold{lock_};
  const std::size_t stocked = stocked_.load(std::memory_order_relaxed);
  return {.spans = spans_,
          .free_blocks = free_blocks(),
          .stocked_blocks = stocked * class_table[class_index].batch,
          .refills = refills_,
          .flushes = flushes_};
}

} // namespace heapwise::detail
