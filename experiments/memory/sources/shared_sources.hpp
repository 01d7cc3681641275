// Where blocks of one size come from when there are several threads. A source is shared by all of
// them; `local()` is a thread's own way in, with `allocate()` and `deallocate(void*)`.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <optional>

#include "heapwise/heap.hpp"
#include "heapwise/pool.hpp"
#include "sources/plain_pool.hpp"

namespace memory {

struct shared_demand {
  std::size_t block_bytes;
  std::size_t thread_blocks; ///< that are out at once for each thread, caches included
  std::size_t threads;

  [[nodiscard]] std::size_t all_blocks() const { return thread_blocks * threads; }
};

/// For sources that all threads use in the same way.
template <class Source>
class by_reference {
 public:
  explicit by_reference(Source& shared) : shared_{&shared} {}
  [[gnu::always_inline]] void* allocate() { return shared_->allocate(); }
  [[gnu::always_inline]] void deallocate(void* block) { shared_->deallocate(block); }

 private:
  Source* shared_;
};

class shared_new {
 public:
  explicit shared_new(const shared_demand& wanted) : bytes_{wanted.block_bytes} {}
  [[gnu::always_inline]] void* allocate() { return ::operator new(bytes_); }
  [[gnu::always_inline]] void deallocate(void* block) { ::operator delete(block, bytes_); }
  auto local() { return by_reference{*this}; }

 private:
  std::size_t bytes_;
};

class shared_malloc {
 public:
  explicit shared_malloc(const shared_demand& wanted) : bytes_{wanted.block_bytes} {}
  [[gnu::always_inline]] void* allocate() { return std::malloc(bytes_); }
  [[gnu::always_inline]] void deallocate(void* block) { std::free(block); }
  auto local() { return by_reference{*this}; }

 private:
  std::size_t bytes_;
};

class shared_locked {
 public:
  explicit shared_locked(const shared_demand& wanted)
      : pool_{wanted.block_bytes, wanted.all_blocks()} {}
  [[gnu::always_inline]] void* allocate() { return pool_.allocate(); }
  [[gnu::always_inline]] void deallocate(void* block) { pool_.deallocate(block); }
  auto local() { return by_reference{*this}; }

 private:
  locked_pool pool_;
};

/// A plain pool for each thread, found as a user's thread_local variable is. Blocks must come back
/// to the thread that they came from.
class thread_local_pools {
 public:
  explicit thread_local_pools(const shared_demand& wanted) : wanted_{wanted} {}

  class of_thread {
   public:
    explicit of_thread(const shared_demand& wanted) {
      pool_.emplace(wanted.block_bytes, wanted.thread_blocks);
    }
    of_thread(const of_thread&) = delete;
    of_thread& operator=(const of_thread&) = delete;
    ~of_thread() { pool_.reset(); }

    [[gnu::always_inline]] void* allocate() { return pool_->allocate(); }
    [[gnu::always_inline]] void deallocate(void* block) { pool_->deallocate(block); }

   private:
    static inline thread_local std::optional<plain_pool> pool_;
  };

  auto local() { return of_thread{wanted_}; }

 private:
  shared_demand wanted_;
};

class shared_pmr {
 public:
  explicit shared_pmr(const shared_demand& wanted) : bytes_{wanted.block_bytes} {}
  [[gnu::always_inline]] void* allocate() { return resource_.allocate(bytes_); }
  [[gnu::always_inline]] void deallocate(void* block) { resource_.deallocate(block, bytes_); }
  auto local() { return by_reference{*this}; }

 private:
  std::size_t bytes_;
  std::pmr::synchronized_pool_resource resource_;
};

/// Heapwise's pool under one of its policies.
template <class Policy>
class shared_ours {
 public:
  explicit shared_ours(const shared_demand& wanted)
      : pool_{{.block_size = wanted.block_bytes,
               .block_count = wanted.all_blocks(),
               .growth = heapwise::growth::geometric}} {}
  [[gnu::always_inline]] void* allocate() { return pool_.try_allocate(); }
  [[gnu::always_inline]] void deallocate(void* block) { pool_.deallocate(block); }
  auto local() { return by_reference{*this}; }

 protected:
  heapwise::pool<Policy> pool_;
};

/// The same through handles that have the thread's cache looked up.
template <class Policy>
class shared_handles : public shared_ours<Policy> {
 public:
  using shared_ours<Policy>::shared_ours;

  class handle {
   public:
    explicit handle(heapwise::pool<Policy>& pool) : mine_{pool.local()} {}
    [[gnu::always_inline]] void* allocate() { return mine_.try_allocate(); }
    [[gnu::always_inline]] void deallocate(void* block) { mine_.deallocate(block); }

   private:
    heapwise::local_pool<heapwise::pool<Policy>> mine_;
  };

  auto local() { return handle{this->pool_}; }
};

class shared_heap {
 public:
  explicit shared_heap(const shared_demand& wanted) : bytes_{wanted.block_bytes} {}
  [[gnu::always_inline]] void* allocate() { return heapwise::allocate(bytes_); }
  [[gnu::always_inline]] void deallocate(void* block) { heapwise::deallocate(block, bytes_); }
  auto local() { return by_reference{*this}; }

 private:
  std::size_t bytes_;
};

/// Blocks that are simply there, in a ring for each thread, for the cost of the loop itself.
class shared_nothing {
 public:
  explicit shared_nothing(const shared_demand& wanted) : wanted_{wanted} {}

  class of_thread {
   public:
    explicit of_thread(const shared_demand& wanted)
        : memory_{wanted.block_bytes * wanted.thread_blocks},
          next_{memory_.data()},
          step_{wanted.block_bytes} {}

    [[gnu::always_inline]] void* allocate() {
      std::byte* const block = next_;
      next_ = block + step_ == memory_.end() ? memory_.data() : block + step_;
      return block;
    }
    [[gnu::always_inline]] void deallocate(void*) {}

   private:
    heapwise::bench::mapped_array<std::byte> memory_;
    std::byte* next_;
    std::size_t step_;
  };

  auto local() { return of_thread{wanted_}; }

 private:
  shared_demand wanted_;
};

} // namespace memory
