// The pools and the arena that a program would have for some of its call sites.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <heapwise/arena.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#include "player/script.hpp"

namespace traces {

using namespace heapwise::bench;

[[nodiscard]] inline heapwise::pool_options growing(std::uint64_t block_size) noexcept {
  constexpr std::size_t first_blocks = 256;
  return {.block_size = static_cast<std::size_t>(block_size),
          .block_count = first_blocks,
          .growth = heapwise::growth::geometric};
}

/// Unsynchronized pools for classes of sizes. A pool is made when its class is first asked for.
class sized_pools {
 public:
  [[nodiscard]] void* allocate(std::uint64_t size) {
    auto& pool = pools_[class_of(size)];
    if (!pool) [[unlikely]] {
      pool.emplace(growing((class_of(size) + 1) * size_step));
    }
    return pool->try_allocate();
  }
  void deallocate(void* block, std::uint64_t size) noexcept {
    pools_[class_of(size)]->deallocate(block);
  }

 private:
  [[nodiscard]] static std::size_t class_of(std::uint64_t size) noexcept {
    return size == 0 ? 0 : static_cast<std::size_t>((size - 1) / size_step);
  }

  std::array<std::optional<heapwise::pool<heapwise::unsynchronized>>, most_sized_bytes / size_step>
      pools_;
};

/// An arena that is reset when its last block ends, where a program would reset it.
class phased_arena {
 public:
  [[nodiscard]] void* allocate(std::uint64_t size) noexcept {
    ++live_;
    return blocks_.try_allocate(static_cast<std::size_t>(size));
  }
  void deallocate() noexcept {
    if (--live_ == 0) blocks_.reset();
  }

 private:
  heapwise::arena blocks_;
  std::uint64_t live_ = 0;
};

class pool_of_site {
 public:
  explicit pool_of_site(const pooled_site& site) : policy_{site.policy} {
    if (policy_ == pool_policy::unsynchronized) own_.emplace(growing(site.block_size));
    if (policy_ == pool_policy::thread_cached) shared_.emplace(growing(site.block_size));
    if (policy_ == pool_policy::sized) sized_.emplace();
    if (policy_ == pool_policy::arena) arena_.emplace();
  }

  /// Whether the end of a block is a call that needs its address.
  [[nodiscard]] bool ends_blocks() const noexcept { return policy_ != pool_policy::arena; }

  [[nodiscard]] void* allocate(std::uint64_t size) {
    switch (policy_) {
      case pool_policy::unsynchronized:
        return own_->try_allocate();
      case pool_policy::thread_cached:
        return shared_->try_allocate();
      case pool_policy::sized:
        return sized_->allocate(size);
      case pool_policy::arena:
        break;
    }
    return arena_->allocate(size);
  }
  void deallocate(void* block, std::uint64_t size) noexcept {
    switch (policy_) {
      case pool_policy::unsynchronized:
        own_->deallocate(block);
        break;
      case pool_policy::thread_cached:
        shared_->deallocate(block);
        break;
      case pool_policy::sized:
        sized_->deallocate(block, size);
        break;
      case pool_policy::arena:
        arena_->deallocate();
    }
  }

 private:
  pool_policy policy_;
  std::optional<heapwise::pool<heapwise::unsynchronized>> own_;
  std::optional<heapwise::pool<heapwise::thread_cached>> shared_;
  std::optional<sized_pools> sized_;
  std::optional<phased_arena> arena_;
};

} // namespace traces
