// The part of a hybrid allocator that belongs to one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <heapwise/detail/config.hpp>
#include <heapwise/hybrid/classes.hpp>
#include <heapwise/hybrid/detail/scope_log.hpp>
#include <heapwise/hybrid/statistics.hpp>

namespace heapwise::detail::hybrids {

/// The free blocks of one thread (an array for each class), its open scopes, and its counts. Only
/// its thread uses it.
template <std::size_t ListCacheBlocks>
class alignas(cache_line_bytes) thread_cache {
 public:
  /// Returns: how many blocks of a class the cache may keep. For the slabs these are the numbers of
  /// the report AllocatorBench: 64, 32 and 32.
  [[nodiscard]] static constexpr std::size_t capacity(std::size_t class_index) noexcept {
    constexpr std::array<std::size_t, routing::slab_count> slabs = {64, 32, 32};
    return class_index < routing::slab_count ? slabs[class_index] : ListCacheBlocks;
  }

  /// Returns: a block of a class that has a cache; nullptr if neither the cache nor the depot has
  /// one.
  template <class Depot>
  HEAPWISE_ALWAYS_INLINE void* pop(std::size_t class_index, Depot& depot) noexcept {
    std::size_t& count = counts_[class_index];
    if (count == 0) [[unlikely]] {
      count = depot.take(class_index, first(class_index), capacity(class_index) / 2);
      counted.cache_refills.add_one();
      if (count == 0) return nullptr;
    }
    return first(class_index)[--count];
  }

  /// Effects: keeps a block of a class that has a cache. If the cache is full, it gives the half
  /// that was freed first to the depot, and then keeps the block.
  template <class Depot>
  HEAPWISE_ALWAYS_INLINE void push(std::size_t class_index, void* block, Depot& depot) noexcept {
    std::size_t& count = counts_[class_index];
    if (count == capacity(class_index)) [[unlikely]]
      flush(class_index, depot);
    first(class_index)[count++] = block;
  }

  /// Effects: gives all blocks to the depot.
  template <class Depot>
  void empty_into(Depot& depot) noexcept {
    for (std::size_t each = 0; each < routing::class_count; ++each) {
      if (counts_[each] != 0) depot.give(each, first(each), counts_[each]);
    }
    forget();
  }

  /// Effects: drops all blocks without giving them to the depot.
  void forget() noexcept { counts_ = {}; }

  scope_log log;
  tally counted;

 private:
  template <class Depot>
  HEAPWISE_NOINLINE void flush(std::size_t class_index, Depot& depot) noexcept {
    const std::size_t half = capacity(class_index) / 2;
    void** const blocks = first(class_index);
    depot.give(class_index, blocks, half);
    counts_[class_index] -= half;
    std::copy_n(blocks + half, counts_[class_index], blocks);
    counted.cache_flushes.add_one();
  }

  static constexpr std::array<std::size_t, routing::class_count + 1> begins = [] {
    std::array<std::size_t, routing::class_count + 1> sums{};
    for (std::size_t i = 0; i < routing::class_count; ++i) sums[i + 1] = sums[i] + capacity(i);
    return sums;
  }();

  [[nodiscard]] void** first(std::size_t class_index) noexcept {
    return blocks_.data() + begins[class_index];
  }

  std::array<std::size_t, routing::class_count> counts_{};
  std::array<void*, begins.back()> blocks_{};
};

} // namespace heapwise::detail::hybrids
