// What a refill strategy of the hybrid allocator is, and what it tells of itself.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include <heapwise/hybrid/chunk_map.hpp>

namespace heapwise {

/// How much memory `reserved` prepares beforehand. Other refill strategies ignore it.
struct hybrid_options {
  /// Slices of 16 KiB that `reserved` carves for each class beforehand, and keeps carved.
  std::size_t reserve_slices = 4;
  /// `reserved` carves the later ones on a thread of its own; else nobody does, and each class has
  /// what it was given at construction.
  bool background = true;
};

/// How often threads met. Of all classes together; grows for ever. Thread safety: a plain value.
struct refill_counts {
  std::size_t locks_taken = 0;   ///< of lists, and of what is carved from
  std::size_t busiest_lock = 0;  ///< of them, those of the one lock that was taken most
  std::size_t list_waits = 0;    ///< a list's lock was somebody else's
  std::size_t carve_waits = 0;   ///< the lock of what is carved from was, where that is another one
  std::size_t retries = 0;       ///< a compare-and-swap came too late
  std::size_t refills = 0;       ///< slices that were carved while an allocation waited for them
  std::size_t refills_ahead = 0; ///< slices that were carved before anybody asked

  /// Effects: adds a lock that was taken this many times.
  void add_lock(std::size_t times) noexcept {
    locks_taken += times;
    busiest_lock = std::max(busiest_lock, times);
  }
};

/// A tag whose nested `depot` holds the free blocks of all classes, for all threads at once. `take`
/// returns how many blocks it could give, less than wanted only if there is no more memory or some
/// others have just been taken, and 0 only if there is no memory; `give` takes blocks of a class
/// back; `reset` forgets all blocks and resets the chunks, while nobody else is there.
/// `lock` and `unlock` take and release all its locks, around a fork; a strategy with a thread of
/// its own has `enter_child` besides, which forgets that thread. `list_cache_blocks`: how many
/// blocks of each list a thread may keep for itself.
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
