// A standard allocator over a pool, for containers whose nodes are allocated one by one.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include <heapwise/adapt/when_exhausted.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/detail/spill.hpp>

namespace heapwise::inline v0_2 {

/// Returns: a block size that holds one node of a std::list, map, set, unordered_map or
/// unordered_set of `Value` (for maps: their value_type). It is the size of the value plus four
/// words, for the links and other data that a container keeps with them, rounded to the alignment.
/// The standard does not say how large nodes are. This bound is large enough for libstdc++, libc++
/// and the library of Microsoft.
template <class Value>
[[nodiscard]] constexpr std::size_t node_size_bytes() noexcept {
  constexpr std::size_t alignment =
      alignof(Value) > alignof(void*) ? alignof(Value) : alignof(void*);
  constexpr std::size_t links = 4 * sizeof(void*);
  return (sizeof(Value) + links + 2 * alignment - 2) / alignment * alignment;
}

/// Allocates a single object from a pool if it fits in a block, by size and by alignment.
/// Everything else (arrays, larger objects) comes from operator new. If the allocator spills,
/// single objects also come from operator new while the pool is exhausted.
///
/// A container rebinds its allocator to its node type. A node_pool has blocks of exactly that size.
/// Any other pool is made before the node type is known. It needs blocks of
/// `node_size_bytes<value_type>()`, which is up to three words more than a node takes. If the
/// blocks are too small, everything works, but the memory comes from operator new. `uses_pool()`
/// says whether the pool is used.
///
/// Two allocators are equal if they use the same pool. If a container is moved or swapped, its
/// allocator goes with it. If a container is copied to, it keeps its own allocator. As for all
/// allocators that differ, lists over two pools must not be spliced.
///
/// Requires: the pool outlives the container. Thread safety: as the pool.
template <class T, block_pool Pool, when_exhausted Then = when_exhausted::throws>
class std_allocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  // Written out, because the pool is a second parameter, which rebinding must not change.
  template <class Other>
  struct rebind {
    using other = std_allocator<Other, Pool, Then>;
  };

  /// An allocator over `pool`, or over the pool of an allocator for another type.
  std_allocator(Pool& pool) noexcept : pool_{&pool} {} // implicit: `std::list<T, A> l{pool};`
  template <class Other>
  std_allocator(const std_allocator<Other, Pool, Then>& other) noexcept : pool_{&other.pool()} {}

  /// Returns: memory for `count` objects.
  /// Throws: std::bad_alloc if the pool is exhausted (unless the allocator spills) or if operator
  /// new fails; std::bad_array_new_length if `count` objects need more than SIZE_MAX bytes. The
  /// first object from a node_pool also throws what the constructor of pool throws.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (from_pool(count) || shapes_pool(count)) {
      if constexpr (Then == when_exhausted::throws) return static_cast<T*>(pool_->allocate());
      if (void* const block = pool_->try_allocate(); block != nullptr)
        return static_cast<T*>(block);
    }
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      detail::throw_bad_array_new_length();
    }
    if constexpr (over_aligned) {
      return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{alignof(T)}));
    } else {
      return static_cast<T*>(::operator new(count * sizeof(T)));
    }
  }

  /// Effects: frees the memory. Requires: `memory` came from allocate(count) of an equal allocator.
  void deallocate(T* memory, std::size_t count) noexcept {
    if (from_pool(count)) {
      if constexpr (Then == when_exhausted::throws) {
        pool_->deallocate(memory);
        return;
      } else if (detail::take_back_if_own(*pool_, memory)) {
        return;
      }
    }
    if constexpr (over_aligned) {
      ::operator delete(HEAPWISE_BLOCK_AND_SIZE(memory, count * sizeof(T)),
                        std::align_val_t{alignof(T)});
    } else {
      ::operator delete(HEAPWISE_BLOCK_AND_SIZE(memory, count * sizeof(T)));
    }
  }

  /// Returns: true if single objects of this type come from the pool.
  [[nodiscard]] bool uses_pool() const noexcept {
    return sizeof(T) <= pool_->block_size() && alignof(T) <= pool_->alignment();
  }

  /// Returns: the pool that single objects come from.
  [[nodiscard]] Pool& pool() const noexcept { return *pool_; }

  /// Returns: true if both use the same pool. Then each can free what the other allocated.
  template <class Other>
  [[nodiscard]] bool operator==(const std_allocator<Other, Pool, Then>& other) const noexcept {
    return pool_ == &other.pool();
  }

 private:
  static constexpr bool over_aligned = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  // The shape of a pool never changes. So allocate and deallocate get the same answer for the same
  // memory.
  [[nodiscard]] bool from_pool(std::size_t count) const noexcept {
    return count == 1 && uses_pool();
  }

  /// Effects: the first single object decides the block size of a node_pool.
  /// Returns: true if the object comes from that pool.
  [[nodiscard]] bool shapes_pool(std::size_t count) {
    if constexpr (requires { pool_->take_shape(sizeof(T), alignof(T)); }) {
      if (count != 1) return false;
      if (pool_->block_size() == 0) pool_->take_shape(sizeof(T), alignof(T));
      return uses_pool(); // another thread may have made the pool meanwhile
    } else {
      return false;
    }
  }

  Pool* pool_;
};

} // namespace heapwise::inline v0_2
