// A pool whose block size is decided by the first node that is allocated.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/pool_options.hpp>

namespace heapwise::inline v0_2 {

/// A pool for the nodes of containers, to be used through std_allocator. The C++ standard does not
/// say how large a node is. So the pool is made when an allocator asks for the first single object.
/// Its blocks have exactly the size and alignment of that object, unless the options ask for more.
///
/// Objects of other types use the pool too if they fit. Larger objects come from operator new. So
/// containers with nodes of different sizes should each have their own node_pool.
///
/// Thread safety: as the policy. The first request may come from several threads at once.
template <class Policy = unsynchronized, class Checking = default_checking>
class node_pool {
 public:
  using policy = Policy;
  using checking = Checking;
  using pool_type = pool<Policy, Checking>;

  /// Effects: none, because the first request makes the pool. The block_size and alignment of
  /// `options` are lower bounds, and usually 0. `source` must outlive the node_pool.
  explicit node_pool(const pool_options& options, block_source& source = os_blocks()) noexcept
      : options_{options}, source_{&source} {}
  node_pool(const node_pool&) = delete;
  node_pool& operator=(const node_pool&) = delete;
  ~node_pool() = default;

  /// Effects: makes the pool for objects of this size and alignment if it is not made yet.
  /// Throws: what the constructor of pool throws. Then the next call tries again.
  HEAPWISE_NOINLINE void take_shape(std::size_t size_bytes, std::size_t alignment) {
    const std::lock_guard lock{making_};
    if (made_.has_value()) return;
    pool_options options = options_;
    options.block_size = std::max(options.block_size, size_bytes);
    options.alignment = std::max(options.alignment, alignment);
    made_.emplace(options, *source_);
    alignment_ = made_->alignment();
    // Release: pairs with the acquire in block_size. A thread that reads a size other than 0 also
    // sees the pool.
    block_size_.store(made_->block_size(), std::memory_order_release);
  }

  /// Returns: the pool; nullptr before the first request.
  [[nodiscard]] pool_type* blocks() noexcept { return is_made() ? &*made_ : nullptr; }

  // As the functions of pool with the same names. Before the first request, the pool has no blocks.

  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate() {
    void* const block = try_allocate();
    if (block == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return block;
  }
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate() noexcept {
    return is_made() ? made_->try_allocate() : nullptr;
  }
  HEAPWISE_ALWAYS_INLINE bool deallocate(void* block) noexcept {
    return is_made() ? made_->deallocate(block) : block == nullptr;
  }
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    return is_made() && made_->claim(block);
  }
  HEAPWISE_ALWAYS_INLINE bool deallocate_claimed(void* block) noexcept {
    return is_made() && made_->deallocate_claimed(block);
  }
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return is_made() && made_->contains(address);
  }

  /// Returns: the block size of the pool; 0 before the first request.
  [[nodiscard]] std::size_t block_size() const noexcept {
    // Acquire: pairs with the release in take_shape. A thread that sees the size also sees the
    // pool.
    return block_size_.load(std::memory_order_acquire);
  }
  /// Requires: block_size() is not 0. Returns: the alignment of the pool.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }

 private:
  [[nodiscard]] bool is_made() const noexcept { return block_size() != 0; }

  std::atomic<std::size_t> block_size_{0}; // the last member that take_shape writes
  std::size_t alignment_ = 0;
  std::optional<pool_type> made_;
  pool_options options_;
  block_source* source_;
  std::mutex making_;
};

} // namespace heapwise::inline v0_2
