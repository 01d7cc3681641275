// Thread policy: all threads, each with a cache of its own in front of a shared depot.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <heapwise/checking.hpp>
#include <heapwise/detail/batch.hpp>
#include <heapwise/detail/block_cache.hpp>
#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/cache_slabs.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/depot.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/detail/free_list.hpp>
#include <heapwise/detail/run_cutter.hpp>

namespace heapwise::inline v0_1 {

/// Any thread may use the pool; nearly every operation touches only the thread's own cache, without
/// an atomic instruction. Caches exchange whole batches of about `batch_blocks` blocks, fewer in a
/// pool of fewer than 64 times as many, with the depot, which has the only lock. (The idea: Bonwick
/// and Adams, "Magazines and Vmem", 2001.)
///
/// A thread may free what another allocated. A thread that exits gives its cache back. The pool may
/// be destroyed while threads hold caches, if they are not in the middle of an operation.
///
/// Exhaustion is not exact: a request may be refused while each other thread's cache keeps up to
/// pool::cached_blocks_max() free blocks. After a refusal each cache gives all its blocks to the
/// depot at its thread's next exchange with it. A pool of a fixed size that must never refuse needs
/// capacity() >= live + (threads - 1) * cached_blocks_max(), with `live` blocks out at most.
///
/// A child of fork may use, reset and destroy the pool. What other threads of the parent had in
/// their caches, or in hand, is lost to it until reset.
struct thread_cached {
  static constexpr const char* name = "thread_cached";
  static constexpr bool thread_safe = true;
  static constexpr std::size_t min_stride_bytes = sizeof(void*);
  /// Blocks that a cache and the depot exchange at once in a large pool, about.
  static constexpr std::size_t batch_blocks = 64;

  template <class Checking>
  class core;
};

template <class Checking>
class thread_cached::core final : public detail::cached_pool {
  using free_list = detail::free_list<typename Checking::links>;
  using cache = detail::block_cache<typename Checking::links>;

 public:
  /// A thread's cache, looked up once. Valid on the thread that asked for it, while the pool lives.
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
      : chunks_{chunks},
        check_{check},
        stride_bytes_{chunks->shape().stride_bytes},
        exchange_blocks_{
            std::clamp<std::size_t>(chunks->shape().max_blocks / batch_blocks, 1, batch_blocks)},
        batch_nodes_{exchange_blocks_ / make_list().blocks_per_node()},
        depot_{make_depot()},
        cutter_{*chunks, exchange_blocks_},
        caches_{chunks->source()} {
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

  /// Returns: false for a pointer that is not a block, and (foreign_checked) for the block that the
  /// calling thread freed last.
  HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    return claim_from(Checking::enabled ? nullptr : find(), block);
  }

  /// Returns: true for a block that was cut for some thread.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return chunks_->index_of(address) < carved();
  }

  /// Returns: the calling thread's handle. Throws: std::bad_alloc if a cache cannot be had.
  [[nodiscard]] handle local() {
    cache* const mine = find_or_adopt();
    if (mine == nullptr) detail::throw_bad_alloc();
    return handle{*this, *mine};
  }

  /// The number of blocks that one cache may hold back from other threads, at most.
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept {
    // The loaded nodes and the spare ones, the hot block and the one that completes a batch, and
    // what is left of a run when its first block is out.
    return 2 * batch_nodes_ * make_list().blocks_per_node() + 2 +
           cutter_.run_blocks(chunks_->shape().max_blocks) - 1;
  }

  [[nodiscard]] std::size_t budget_bytes() const noexcept {
    const std::scoped_lock lock{mutex_};
    return caches_.bytes();
  }

  [[nodiscard]] std::size_t carved() const noexcept { return cutter_.carved(); }

  /// Returns: false, and visits nothing, if a cache was lost to a fork. All other caches give what
  /// they have to the depot.
  template <class Visit>
  bool visit_free(Visit&& visit) {
    const std::scoped_lock lock{mutex_};
    if (caches_.any_lost()) return false;
    caches_.for_each([&](cache& each) { give_back(each); });
    depot_.visit(visit);
    return true;
  }

  void put_back(void* block) noexcept {
    const std::scoped_lock lock{mutex_};
    depot_.give(block);
  }

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

  void restart(std::size_t carved) noexcept {
    const std::scoped_lock lock{mutex_};
    caches_.restart(make_cache());
    depot_ = make_depot();
    cutter_.restart(carved);
  }

 private:
  bool refuse_foreign(const void* address) const noexcept {
    check_.refuse(address, chunks_->shape().block_size);
    return false;
  }

  [[nodiscard]] free_list make_list() const noexcept {
    return free_list{stride_bytes_, check_.make_links(), exchange_blocks_};
  }
  [[nodiscard]] detail::depot<typename Checking::links> make_depot() const noexcept {
    return detail::depot<typename Checking::links>{make_list(), check_.make_links()};
  }
  [[nodiscard]] cache make_cache() const noexcept {
    return cache{make_list(), chunks_->shape().divider, refusals_.load(std::memory_order_relaxed)};
  }

  HEAPWISE_ALWAYS_INLINE cache* find() const noexcept { return static_cast<cache*>(find_cache()); }

  HEAPWISE_ALWAYS_INLINE void* pop_from(cache& mine) noexcept {
    void* block = mine.loaded.pop();
    if (block == nullptr) [[unlikely]]
      block = pop_fresh(mine);
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
      unload(mine);
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

  /// Returns: contains(block). Effects: the cache learns of what was cut since it looked last.
  HEAPWISE_COLD bool meet(cache& mine, const void* block) noexcept {
    mine.learn(*chunks_->newest(), carved());
    return contains(block);
  }

  HEAPWISE_ALWAYS_INLINE void* pop_fresh(cache& mine) noexcept {
    // The spare batch first: its blocks are warm, fresh ones are not.
    if (mine.spare.count != 0 || mine.fresh == mine.fresh_end) [[unlikely]]
      return refill(mine);
    return cut_from(mine);
  }

  HEAPWISE_ALWAYS_INLINE void* cut_from(cache& mine) noexcept {
    void* const block = mine.fresh;
    mine.fresh += stride_bytes_;
    check_.carved(block, chunks_->shape().block_size);
    return block;
  }

  /// A node became full: keep one batch spare, so that a thread that hovers at the edge does not
  /// run to the depot at each step; give the rest away.
  HEAPWISE_NOINLINE void unload(cache& mine) noexcept {
    if (is_asked_to_give(mine)) [[unlikely]]
      return give_all(mine);
    if (mine.loaded.full_nodes() < batch_nodes_) return;
    const typename free_list::nodes given = mine.spare;
    mine.spare = mine.loaded.detach_full_nodes();
    if (given.count == 0) return;
    HEAPWISE_SCHEDULE_POINT();
    const std::scoped_lock lock{mutex_};
    depot_.give(given);
  }

  HEAPWISE_NOINLINE void* refill(cache& mine) noexcept {
    if (is_asked_to_give(mine)) [[unlikely]]
      give_all(mine);
    if (mine.spare.count != 0) {
      mine.loaded.attach_full_nodes(mine.spare);
      mine.spare = {};
      return mine.loaded.pop();
    }
    HEAPWISE_SCHEDULE_POINT();
    std::unique_lock lock{mutex_};
    if (const auto batch = depot_.take(batch_nodes_); batch.count != 0) {
      lock.unlock(); // another thread wrote to the blocks: to read them may take long
      mine.loaded.attach_full_nodes(batch);
      return mine.loaded.pop();
    }
    if (void* const block = depot_.take_loose(); block != nullptr) return block;
    if (const auto run = cutter_.cut(); run.first != run.end) {
      mine.fresh = run.first;
      mine.fresh_end = run.end;
      return cut_from(mine);
    }
    refuse(mine);
    return nullptr;
  }

  /// Requires: the lock, and that the cache is empty. Effects: asks all other caches to give.
  void refuse(cache& mine) noexcept {
    mine.refusals_seen = refusals_.load(std::memory_order_relaxed) + 1;
    refusals_.store(mine.refusals_seen, std::memory_order_relaxed); // all writers have the lock
  }

  /// Returns: true if a request of another thread was refused since this cache gave all it had.
  [[nodiscard]] bool is_asked_to_give(const cache& mine) const noexcept {
    // Relaxed: a thread that reads an old count gives at its next exchange.
    return refusals_.load(std::memory_order_relaxed) != mine.refusals_seen;
  }

  HEAPWISE_COLD void give_all(cache& mine) noexcept {
    const std::scoped_lock lock{mutex_};
    mine.refusals_seen = refusals_.load(std::memory_order_relaxed);
    give_back(mine);
  }

  HEAPWISE_COLD void* pop_first() noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) return pop_from(*mine);
    cache one_off = make_cache();
    void* const block = pop_from(one_off);
    const std::scoped_lock lock{mutex_};
    give_back(one_off);
    return block;
  }

  HEAPWISE_COLD bool push_first(void* block) noexcept {
    if (cache* const mine = find_or_adopt(); mine != nullptr) return push_to(*mine, block);
    cache one_off = make_cache();
    if (!push_to(one_off, block)) return false;
    const std::scoped_lock lock{mutex_};
    give_back(one_off);
    return true;
  }

  [[nodiscard]] cache* find_or_adopt() noexcept {
    auto* const mine = static_cast<cache*>(find_at_home());
    return mine != nullptr ? mine : adopt();
  }

  /// Returns: this thread's cache, one that a thread left behind, or a new one; nullptr if the
  /// thread is about to end or there is no memory.
  HEAPWISE_COLD cache* adopt() noexcept {
    if (!thread_may_cache()) return nullptr;
    cache* const mine = claim();
    if (mine == nullptr) return nullptr;
    HEAPWISE_SCHEDULE_POINT();
    if (enter_cache(mine)) return mine;
    const std::scoped_lock lock{mutex_};
    mine->owner = nullptr;
    return nullptr;
  }

  cache* claim() noexcept {
    const std::scoped_lock lock{mutex_};
    return caches_.claim(table_at_home(), make_cache());
  }

  void retire(void* left) noexcept override {
    const std::scoped_lock lock{mutex_};
    cache& mine = *static_cast<cache*>(left);
    give_back(mine);
    mine.owner = nullptr;
  }

  void forget_all() noexcept override {
    const std::scoped_lock lock{mutex_};
    caches_.for_each([&](cache& each) {
      if (each.owner != nullptr) each.owner->forget(*this);
    });
  }

  void lock_for_fork() noexcept override { mutex_.lock(); }
  void unlock_after_fork() noexcept override { mutex_.unlock(); }
  void lose_caches(const detail::cache_table* survivor) noexcept override {
    caches_.lose_others(survivor);
  }

  /// Requires: the lock. Effects: all that the cache holds goes to the depot.
  void give_back(cache& from) noexcept {
    depot_.give(from.spare);
    from.spare = {};
    while (void* const block = from.loaded.pop()) depot_.give(block);
    while (from.fresh != from.fresh_end) depot_.give(cut_from(from));
  }

  detail::chunks* chunks_;
  [[no_unique_address]] Checking check_;
  std::size_t stride_bytes_;
  std::size_t exchange_blocks_; ///< about as many as a cache and the depot exchange at once
  std::size_t batch_nodes_;     ///< as many as that in nodes
  std::atomic<std::uint32_t> refusals_{0};

  alignas(detail::cache_line_bytes) mutable std::mutex mutex_; // guards all that follows
  detail::depot<typename Checking::links> depot_;
  detail::run_cutter cutter_;
  detail::cache_slabs<cache> caches_;
};

} // namespace heapwise::inline v0_1
