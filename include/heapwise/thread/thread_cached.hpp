// Thread policy: all threads use the pool, each with a cache of its own in front of a shared depot.
#pragma once

#include <cstddef>

#include <heapwise/checking.hpp>
#include <heapwise/detail/batch.hpp>
#include <heapwise/detail/cache_exchange.hpp>
#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>

namespace heapwise::inline v0_2 {

/// Any thread may use the pool. Nearly every operation touches only the thread's own cache, without
/// an atomic instruction. Caches and the depot exchange whole batches of about `batch_blocks`
/// blocks. The batches are smaller in a pool of fewer than 64 times `batch_blocks` blocks. Only the
/// depot has a lock. (The idea: Bonwick and Adams, "Magazines and Vmem", 2001.)
///
/// A thread may free a block that another thread allocated. A thread that exits gives its cache
/// back. The pool may be destroyed while threads have caches, if these threads are not in the
/// middle of an operation.
///
/// Exhaustion is not exact: a request may be refused while the cache of each other thread keeps up
/// to pool::cached_blocks_max() free blocks. After a refusal, each cache gives all its blocks to
/// the depot when its thread next exchanges blocks with the depot. If a pool of a fixed size must
/// never refuse a request, and at most `live` blocks are in use at a time, it needs capacity() >=
/// live + (threads - 1) * cached_blocks_max().
///
/// A child of fork may use, reset and destroy the pool. Blocks that other threads of the parent had
/// in their caches, or were allocating or freeing, are lost to the child until reset.
struct thread_cached {
  static constexpr const char* name = "thread_cached";
  static constexpr bool thread_safe = true;
  static constexpr std::size_t min_stride_bytes = sizeof(void*);
  /// About how many blocks a cache and the depot of a large pool exchange at once.
  static constexpr std::size_t batch_blocks = 64;

  template <class Checking>
  class core;
};

template <class Checking>
class thread_cached::core final : public detail::cached_pool {
  using cache = typename detail::cache_exchange<Checking>::cache;

 public:
  /// A thread's cache, looked up once. Only the thread that asked for it may use it, and only while
  /// the pool lives.
  class handle {
   public:
    handle(core& pool, cache& mine) noexcept : pool_{&pool}, mine_{&mine} {}
    HEAPWISE_ALWAYS_INLINE void* pop() noexcept { return pool_->pop_from(*mine_); }
    HEAPWISE_ALWAYS_INLINE bool push(void* block) noexcept { return pool_->push_to(*mine_, block); }
    HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
      return pool_->claim_from(mine_, block);
    }

   private:
    core* pool_;
    cache* mine_;
  };

  core(detail::chunks* chunks, const Checking& check) noexcept
      : chunks_{chunks}, check_{check}, shared_{chunks, check, batch_blocks} {
    list();
  }

  ~core() { unlist(); }

  HEAPWISE_ALWAYS_INLINE void* pop() noexcept {
    if (cache* const mine = find(); mine != nullptr) [[likely]]
      return pop_from(*mine);
    return pop_first();
  }

  HEAPWISE_ALWAYS_INLINE bool push(void* block) noexcept {
    if (cache* const mine = find(); mine != nullptr) [[likely]]
      return push_to(*mine, block);
    return push_first(block);
  }

  /// Returns: false for a pointer that is not a block. With foreign_checked, also false for the
  /// block that the calling thread freed last.
  HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    return claim_from(Checking::enabled ? nullptr : find(), block);
  }

  /// Returns: true for a block that was cut for any thread.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return chunks_->index_of(address) < carved();
  }

  /// Returns: the calling thread's handle. Throws: std::bad_alloc if there is no memory for a
  /// cache, or if the thread is about to end.
  [[nodiscard]] handle local() {
    cache* const mine = find_or_adopt();
    if (mine == nullptr) detail::throw_bad_alloc();
    return handle{*this, *mine};
  }

  /// Returns: the largest number of blocks that one cache may keep from other threads.
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept {
    return shared_.cached_blocks_max();
  }

  [[nodiscard]] std::size_t budget_bytes() const noexcept { return shared_.bytes(); }

  [[nodiscard]] std::size_t carved() const noexcept { return shared_.carved(); }

  /// Effects: all caches give their blocks to the depot. Calls visit(block) for each free block.
  /// Returns: false if a cache was lost to a fork. Then no cache gives blocks, and no block is
  /// visited.
  template <class Visit>
  bool visit_free(Visit&& visit) {
    return shared_.visit_free(visit);
  }

  void put_back(void* block) noexcept { shared_.put_back(block); }

  std::size_t pop_many(void** blocks, std::size_t count) noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) [[likely]] {
      handle through{*this, *mine};
      return detail::pop_each(through, blocks, count);
    }
    return detail::pop_each(*this, blocks, count);
  }
  std::size_t push_many(void* const* blocks, std::size_t count) noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) [[likely]] {
      handle through{*this, *mine};
      return detail::push_each(through, blocks, count);
    }
    return detail::push_each(*this, blocks, count);
  }

  void restart(std::size_t carved) noexcept { shared_.restart(carved); }

 private:
  bool refuse_foreign(const void* address) const noexcept {
    check_.refuse(address, chunks_->shape().block_size);
    return false;
  }

  HEAPWISE_ALWAYS_INLINE cache* find() const noexcept { return static_cast<cache*>(find_cache()); }

  HEAPWISE_ALWAYS_INLINE void* pop_from(cache& mine) noexcept {
    void* block = mine.loaded.pop();
    if (block == nullptr) [[unlikely]]
      block = shared_.pop_fresh(mine);
    if constexpr (Checking::enabled) {
      if (block != nullptr) check_.acquire(block, chunks_->shape().block_size);
    }
    return block;
  }

  HEAPWISE_ALWAYS_INLINE bool push_to(cache& mine, void* block) noexcept {
    if constexpr (!Checking::enabled) {
      if (mine.loaded.is_hot(block)) [[likely]]
        return mine.loaded.push_hot();
    }
    if constexpr (Checking::refuses_foreign) {
      if (!mine.knows(block)) [[unlikely]] {
        if (!meet(mine, block)) return refuse_foreign(block);
      }
    } else if (block == nullptr) {
      return false;
    }
    if constexpr (Checking::enabled) check_.release(block, chunks_->shape().block_size);
    if (mine.loaded.push(block)) [[unlikely]]
      shared_.unload(mine);
    return true;
  }

  /// `mine` is the calling thread's cache, or nullptr.
  HEAPWISE_ALWAYS_INLINE bool claim_from(const cache* mine, void* block) noexcept {
    if constexpr (!Checking::enabled) {
      if (mine != nullptr) [[likely]] {
        if (mine->loaded.is_hot(block)) [[likely]]
          return !mine->loaded.is_free_hot(block);
        if (mine->knows(block)) [[likely]]
          return true;
      }
    }
    if (!contains(block)) [[unlikely]]
      return refuse_foreign(block);
    check_.claim(block, chunks_->shape().block_size);
    return true;
  }

  /// Effects: the cache notes the newest chunk, and how many blocks of it were cut.
  /// Returns: contains(block).
  HEAPWISE_COLD bool meet(cache& mine, const void* block) noexcept {
    mine.learn(*chunks_->newest(), carved());
    return contains(block);
  }

  HEAPWISE_COLD void* pop_first() noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) return pop_from(*mine);
    cache one_off = shared_.make_cache();
    void* const block = pop_from(one_off);
    shared_.empty(one_off);
    return block;
  }

  HEAPWISE_COLD bool push_first(void* block) noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) return push_to(*mine, block);
    cache one_off = shared_.make_cache();
    if (!push_to(one_off, block)) return false;
    shared_.empty(one_off);
    return true;
  }

  [[nodiscard]] cache* find_or_adopt() noexcept {
    auto* const mine = static_cast<cache*>(find_at_home());
    return mine != nullptr ? mine : adopt();
  }

  /// Returns: a cache for this thread: one that another thread left behind, or a new one. Returns
  /// nullptr if the thread is about to end or if there is no memory.
  HEAPWISE_COLD cache* adopt() noexcept {
    if (!thread_may_cache()) return nullptr;
    cache* const mine = shared_.claim(table_at_home());
    if (mine == nullptr) return nullptr;
    HEAPWISE_SCHEDULE_POINT();
    if (enter_cache(mine)) return mine;
    shared_.release(*mine);
    return nullptr;
  }

  void retire(void* left) noexcept override { shared_.retire(*static_cast<cache*>(left)); }
  void forget_all() noexcept override { shared_.forget_all(*this); }
  void lock_for_fork() noexcept override { shared_.lock(); }
  void unlock_after_fork() noexcept override { shared_.unlock(); }
  void lose_caches(const detail::cache_table* survivor) noexcept override {
    shared_.lose_others(survivor);
  }

  detail::chunks* chunks_;
  [[no_unique_address]] Checking check_;
  detail::cache_exchange<Checking> shared_;
};

} // namespace heapwise::inline v0_2
