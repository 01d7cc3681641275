// The bins of all shards: which of them serves a thread, and which ones its blocks go back to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/central/bin.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// One for each size class.
using bins = std::array<bin, class_slots>;

/// By shard. A span and its free blocks belong to one bin for as long as it exists.
extern std::array<bins, most_shards> all_bins;

/// Those of the first shard: the only one of a process with one thread.
inline constexpr bins& the_bins = all_bins.front();

/// Sums over the bins of a shard, on a line of their own.
struct alignas(cache_line_bytes) bin_sums {
  std::atomic<std::size_t> free_bytes{0};    // of free blocks inside spans
  std::atomic<std::size_t> stocked_bytes{0}; // of free blocks in batches that wait
  std::atomic<std::uint32_t> flushes{0};     // about how many
  [[no_unique_address]] line_mark<shared::bin_figures> mark;

  // Relaxed: the sums decide what is worth doing, and guard nothing.
  void add_free(std::size_t more) noexcept {
    mark.written();
    free_bytes.fetch_add(more, std::memory_order_relaxed);
  }
  void add_stocked(std::size_t more) noexcept {
    mark.written();
    stocked_bytes.fetch_add(more, std::memory_order_relaxed);
  }
};
extern std::array<bin_sums, most_shards> the_bin_sums;

/// Returns: the bytes of all free blocks inside spans.
[[nodiscard]] std::size_t free_bytes_in_spans() noexcept;

/// Returns: the bytes of all free blocks in batches that wait in bins.
[[nodiscard]] std::size_t stocked_bytes() noexcept;

/// Effects: as bin::refill, from the thread's own shard. Before that one grows, another shard helps
/// out that has many free blocks.
[[nodiscard]] std::uint32_t refill_batch(std::size_t own, batch*& loaded, size_class class_index,
                                         std::uint32_t most = whole_batch) noexcept;

/// Effects: as bin::flush. The batch waits in the thread's own shard, or where its blocks come
/// from.
void flush_batch(std::size_t own, batch*& full, size_class class_index) noexcept;

/// Effects: as bin::put_back.
void put_back_blocks(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept;

/// Effects: as bin::take_one.
[[nodiscard]] void* take_one_block(std::size_t own, size_class class_index) noexcept;

/// Effects: trims all bins.
void trim_bins() noexcept;

/// Effects: frees all spare spans.
void drop_spares() noexcept;

/// Returns: whether it is time to look at the sums of all shards. To read them costs as many lines
/// as there are shards, so a shard does it at one flush of as many.
[[nodiscard]] bool may_look_at_all(std::size_t own) noexcept;

/// Returns: the sums over all shards.
[[nodiscard]] bin_figures figures_of(size_class class_index) noexcept;

/// Returns: the bin that serves a class of a span.
[[nodiscard]] bin& bin_of(const span& home, size_class class_index) noexcept;

/// Effects: at least this many shards are in use, if there may be as many. Requires: the lock of
/// the idle caches, under which a fork takes the locks of all shards.
void use_shards(std::size_t count) noexcept;

/// Taken around a fork, in order.
void lock_bins() noexcept;
void unlock_bins() noexcept;

} // namespace heapwise::detail
