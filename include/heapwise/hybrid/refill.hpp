// The requirements on a refill strategy of the hybrid allocator, and the counts that it reports.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include <heapwise/hybrid/detail/chunk_map.hpp>

namespace heapwise {

/// How much memory the refill strategy `reserved` prepares. Other refill strategies ignore these
/// options.
struct hybrid_options {
  /// How many slices of 16 KiB `reserved` carves beforehand for each class, and keeps in reserve.
  std::size_t reserve_slices = 4;
  /// If true, `reserved` carves later slices on a thread of its own. If false, no thread carves
  /// them beforehand, and each class has the reserve that it got at construction.
  bool background = true;
};

/// How often threads met at a lock or a list, for all classes together. The counts never decrease.
/// Thread safety: a plain value.
struct refill_counts {
  std::size_t locks_taken = 0;   ///< locks of lists, and of the chunks that are carved
  std::size_t busiest_lock = 0;  ///< how many of them were the lock that was taken most often
  std::size_t list_waits = 0;    ///< how often a thread had to wait for the lock of a list
  std::size_t carve_waits = 0;   ///< how often a thread had to wait for a separate lock to carve
  std::size_t retries = 0;       ///< how often a compare-and-swap failed, because it came too late
  std::size_t refills = 0;       ///< slices that were carved while an allocation waited for them
  std::size_t refills_ahead = 0; ///< slices that were carved before a thread needed them

  /// Effects: adds a lock that was taken this many times.
  void add_lock(std::size_t times) noexcept {
    locks_taken += times;
    busiest_lock = std::max(busiest_lock, times);
  }
};

/// A tag whose nested `depot` holds the free blocks of all classes, for all threads at once.
/// - `take` returns how many blocks it took out. It is fewer than wanted only if there is no more
///   memory, or if other threads have just taken some. It is 0 only if there is no memory.
/// - `give` takes blocks of a class back.
/// - `reset` forgets all blocks and resets the chunks. No other thread uses the depot meanwhile.
/// - `lock` and `unlock` take and release all its locks, around a fork.
/// - A strategy with a thread of its own also has `enter_child`, which forgets that thread.
/// - `list_cache_blocks` is how many blocks of each list a thread may keep for itself.
template <class Refill>
concept refill_strategy = requires(
    typename Refill::depot& depot, const typename Refill::depot& constant, std::size_t number,
    void** blocks, void* const* batch, detail::hybrids::chunk_map& chunks) {
  { Refill::name } -> std::convertible_to<const char*>;
  { Refill::list_cache_blocks } -> std::convertible_to<std::size_t>;
  { depot.take(number, blocks, number) } noexcept -> std::same_as<std::size_t>;
  { depot.give(number, batch, number) } noexcept;
  { depot.reset(chunks) } noexcept;
  { depot.lock() } noexcept;
  { depot.unlock() } noexcept;
  { constant.counts() } noexcept -> std::same_as<refill_counts>;
};

} // namespace heapwise
