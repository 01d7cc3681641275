// The memory of a pool's thread caches, and which thread has which of them.
#pragma once

#include <cstddef>
#include <new>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/spread.hpp>

namespace heapwise::detail::inline v0_2 {

/// Caches are made 15 at a time and serve one thread after the other until the pool ends.
/// Cache: as block_cache, with `owner`, `lost` and `next`. Thread safety: none, the pool has a
/// lock.
template <class Cache>
class cache_slabs {
 public:
  explicit cache_slabs(block_source& source) noexcept : source_{&source} {}
  cache_slabs(const cache_slabs&) = delete;
  cache_slabs& operator=(const cache_slabs&) = delete;
  ~cache_slabs() {
    while (slabs_ != nullptr) {
      slab* const first = slabs_;
      slabs_ = first->next;
      source_->deallocate(first, slab_bytes, alignof(Cache));
    }
  }

  /// Returns: a cache that belongs to the thread of `owner` from now on, one that a thread left
  /// behind or a copy of `empty`; nullptr if there is no memory. Complexity: O(caches).
  Cache* claim(cache_table& owner, const Cache& empty) noexcept {
    Cache* cache = first_;
    while (cache != nullptr && (cache->owner != nullptr || cache->lost)) cache = cache->next;
    if (cache == nullptr) cache = add_slab(empty);
    if (cache != nullptr) cache->owner = &owner;
    return cache;
  }

  /// Effects: calls visit(cache) for each cache, whether a thread has it or not.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Cache* each = first_; each != nullptr; each = each->next) visit(*each);
  }

  /// Effects: each cache is as `empty`, but belongs to the thread that had it. None is lost.
  void restart(const Cache& empty) noexcept {
    for_each([&](Cache& each) {
      cache_table* const owner = each.owner;
      Cache* const next = each.next;
      each.~Cache();
      ::new (&each) Cache{empty};
      each.owner = owner;
      each.next = next;
    });
  }

  [[nodiscard]] bool any_lost() const noexcept {
    const Cache* each = first_;
    while (each != nullptr && !each->lost) each = each->next;
    return each != nullptr;
  }

  /// Effects: marks as lost what other threads than that of `survivor` have.
  void lose_others(const cache_table* survivor) noexcept {
    for_each([&](Cache& each) {
      if (each.owner == nullptr || each.owner == survivor) return;
      each.owner = nullptr;
      each.lost = true;
    });
  }

  /// Returns: bytes obtained from the source.
  [[nodiscard]] std::size_t bytes() const noexcept { return slab_count_ * slab_bytes; }

 private:
  struct slab {
    slab* next;
  };
  static constexpr std::size_t caches_per_slab = 15;
  static constexpr std::size_t slab_bytes = sizeof(Cache) * (caches_per_slab + 1);

  Cache* add_slab(const Cache& empty) noexcept {
    void* const memory = source_->allocate(slab_bytes, alignof(Cache));
    if (memory == nullptr) return nullptr;
    slabs_ = ::new (memory) slab{slabs_};
    ++slab_count_;
    // The cache of the first thread is the last one in this order. In each pool it is another one.
    const std::size_t shift = spread(memory, caches_per_slab);
    for (std::size_t i = 0; i < caches_per_slab; ++i) {
      const std::size_t place = 1 + (i + shift) % caches_per_slab;
      auto* const cache =
          ::new (static_cast<std::byte*>(memory) + place * sizeof(Cache)) Cache{empty};
      cache->next = first_;
      first_ = cache;
    }
    return first_;
  }

  block_source* source_;
  Cache* first_ = nullptr;
  slab* slabs_ = nullptr;
  std::size_t slab_count_ = 0;
};

} // namespace heapwise::detail::inline v0_2
