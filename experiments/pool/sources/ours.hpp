// Heapwise's pool under each of its policies.
#pragma once

#include <cstddef>
#include <utility>

#include <heapwise/block_source.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#include "sources/demand.hpp"

namespace pools {

/// The operating system's pages, each written to before anyone gets them: their faults are over
/// when the clock starts, as they are for a pool that cuts all its blocks when it is created.
class resident_blocks final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    constexpr std::size_t page_bytes = 4096;
    auto* memory = static_cast<volatile char*>(system_.allocate(size_bytes, alignment));
    for (std::size_t at = 0; memory != nullptr && at < size_bytes; at += page_bytes) memory[at] = 0;
    return const_cast<char*>(memory);
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    system_.deallocate(memory, size_bytes, alignment);
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return system_.granularity_bytes();
  }

 private:
  heapwise::block_source& system_ = heapwise::os_blocks();
};

inline heapwise::block_source& pages(bool resident) {
  static resident_blocks written;
  return resident ? written : heapwise::os_blocks();
}

template <class Policy, class Checking = heapwise::foreign_checked>
class ours {
 public:
  explicit ours(const demand& wanted)
      : pool_{{.block_size = wanted.block_size,
               .block_count = wanted.at_start(),
               .growth = wanted.growing ? heapwise::growth::geometric : heapwise::growth::fixed},
              pages(wanted.resident)} {}

  [[gnu::always_inline]] void* allocate() { return pool_.try_allocate(); }
  [[gnu::always_inline]] void deallocate(void* block) { pool_.deallocate(block); }

  /// The calling thread's own way in, of the policies that have one.
  auto local_source() { return local{pool_}; }

 private:
  class local {
   public:
    explicit local(heapwise::pool<Policy, Checking>& pool) : handle_{pool.local()} {}

    [[gnu::always_inline]] void* allocate() { return handle_.try_allocate(); }
    [[gnu::always_inline]] void deallocate(void* block) { handle_.deallocate(block); }

   private:
    decltype(std::declval<heapwise::pool<Policy, Checking>&>().local()) handle_;
  };

  heapwise::pool<Policy, Checking> pool_;
};

/// The same pool through the handle of the thread that made it.
template <class Policy>
class ours_by_handle {
 public:
  explicit ours_by_handle(const demand& wanted) : pool_{wanted}, mine_{pool_.local_source()} {}

  [[gnu::always_inline]] void* allocate() { return mine_.allocate(); }
  [[gnu::always_inline]] void deallocate(void* block) { mine_.deallocate(block); }

 private:
  ours<Policy> pool_;
  decltype(std::declval<ours<Policy>&>().local_source()) mine_;
};

} // namespace pools
