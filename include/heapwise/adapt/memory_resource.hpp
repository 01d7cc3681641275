// A std::pmr::memory_resource over a pool, and one over an arena.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <heapwise/adapt/when_exhausted.hpp>
#include <heapwise/arena.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/spill.hpp>

namespace heapwise::inline v0_1 {

/// Serves requests that fit in a block of the pool, by size and by alignment, from the pool. The
/// upstream resource serves all others, and those that find the pool exhausted, unless `Then` says
/// that these throw.
///
/// Equal to itself and to resources of the same type over the same pool and an equal upstream:
/// memory of one may be given back to the other. Without RTTI (-fno-rtti) equal to itself only.
///
/// Requires: pool and upstream outlive the resource, and it outlives what was allocated from it.
/// Thread safety: as the pool and the upstream resource.
template <block_pool Pool, when_exhausted Then = when_exhausted::spills>
class pool_resource final : public std::pmr::memory_resource {
 public:
  /// Requires: `upstream` is not nullptr. Allocates nothing.
  explicit pool_resource(
      Pool& pool, std::pmr::memory_resource* upstream = std::pmr::get_default_resource()) noexcept
      : pool_{&pool}, upstream_{upstream} {}

  /// Returns: the pool that serves what fits.
  [[nodiscard]] Pool& pool() const noexcept { return *pool_; }
  /// Returns: the resource that serves the rest.
  [[nodiscard]] std::pmr::memory_resource* upstream_resource() const noexcept { return upstream_; }

  /// Returns: true if such a request is served from the pool, as long as it is not exhausted.
  [[nodiscard]] bool uses_pool(std::size_t size_bytes, std::size_t alignment) const noexcept {
    return size_bytes <= pool_->block_size() && alignment <= pool_->alignment();
  }

 private:
  /// Throws: what the upstream resource throws; std::bad_alloc if an exhausted pool does not spill.
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

/// Serves all requests from an arena; to deallocate does nothing. Equal to those over the same
/// arena; without RTTI (-fno-rtti) equal to itself only.
///
/// Requires: the arena outlives the resource. Thread safety: as the arena.
class arena_resource final : public std::pmr::memory_resource {
 public:
  /// Allocates nothing.
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

} // namespace heapwise::inline v0_1
