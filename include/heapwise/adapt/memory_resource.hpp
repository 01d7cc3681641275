// A std::pmr::memory_resource over a pool, and one over an arena.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <heapwise/adapt/when_exhausted.hpp>
#include <heapwise/arena.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/spill.hpp>

namespace heapwise::inline v0_2 {

/// A resource that serves requests from the pool if they fit in a block, by size and by alignment.
/// The upstream resource serves all other requests. It also serves requests that find the pool
/// exhausted, unless `Then` says that these throw.
///
/// A resource is equal to itself, and to a resource of the same type over the same pool and an
/// equal upstream resource. Memory of one of two equal resources may be given back to the other.
/// Without RTTI (-fno-rtti), a resource is equal only to itself.
///
/// Requires: the pool and the upstream resource outlive this resource. This resource outlives the
/// memory that was allocated from it. Thread safety: as the pool and the upstream resource.
template <block_pool Pool, when_exhausted Then = when_exhausted::spills>
class pool_resource final : public std::pmr::memory_resource {
 public:
  /// Effects: allocates nothing. Requires: `upstream` is not nullptr.
  explicit pool_resource(
      Pool& pool, std::pmr::memory_resource* upstream = std::pmr::get_default_resource()) noexcept
      : pool_{&pool}, upstream_{upstream} {}

  /// Returns: the pool that serves the requests that fit.
  [[nodiscard]] Pool& pool() const noexcept { return *pool_; }
  /// Returns: the resource that serves all other requests.
  [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return upstream_; }

  /// Returns: true if the pool serves a request of this size and alignment while it is not
  /// exhausted.
  [[nodiscard]] bool uses_pool(std::size_t size_bytes, std::size_t alignment) const noexcept {
    return size_bytes <= pool_->block_size() && alignment <= pool_->alignment();
  }

 private:
  /// Throws: what the upstream resource throws. If `Then` is `throws`, also std::bad_alloc if the
  /// pool is exhausted.
  void* do_allocate(std::size_t size_bytes, std::size_t alignment) override {
    if (uses_pool(size_bytes, alignment)) [[likely]] {
      if constexpr (Then == when_exhausted::throws) return pool_->allocate();
      if (void* const block = pool_->try_allocate(); block != nullptr) [[likely]]
        return block;
    }
    return upstream_->allocate(size_bytes, alignment);
  }

  void do_deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) override {
    if (uses_pool(size_bytes, alignment)) [[likely]] {
      if constexpr (Then == when_exhausted::throws) {
        pool_->deallocate(memory);
        return;
      } else if (detail::take_back_if_own(*pool_, memory)) {
        return;
      }
    }
    upstream_->deallocate(memory, size_bytes, alignment);
  }

  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    if (this == &other) return true;
    const auto* const same_type = HEAPWISE_DYNAMIC_CAST(const pool_resource*, &other);
    return same_type != nullptr && same_type->pool_ == pool_ &&
           same_type->upstream_->is_equal(*upstream_);
  }

  Pool* pool_;
  std::pmr::memory_resource* upstream_;
};

/// A resource that serves all requests from an arena. Its deallocate does nothing. A resource is
/// equal to itself and to resources over the same arena. Without RTTI (-fno-rtti), it is equal only
/// to itself.
///
/// Requires: the arena outlives the resource. Thread safety: as the arena.
class arena_resource final : public std::pmr::memory_resource {
 public:
  /// Effects: allocates nothing.
  explicit arena_resource(heapwise::arena& from) noexcept : from_{&from} {}

  /// Returns: the arena that serves all requests.
  [[nodiscard]] heapwise::arena& arena() const noexcept { return *from_; }

 private:
  /// Throws: std::bad_alloc.
  void* do_allocate(std::size_t size_bytes, std::size_t alignment) override {
    return from_->allocate(size_bytes, alignment);
  }
  void do_deallocate(void* /*memory*/, std::size_t /*size_bytes*/,
                     std::size_t /*alignment*/) override {}

  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    if (this == &other) return true;
    const auto* const same_type = HEAPWISE_DYNAMIC_CAST(const arena_resource*, &other);
    return same_type != nullptr && same_type->from_ == from_;
  }

  heapwise::arena* from_;
};

} // namespace heapwise::inline v0_2
