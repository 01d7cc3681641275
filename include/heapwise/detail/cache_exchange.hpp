// What the thread caches of a pool share, and how they exchange blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <heapwise/detail/block_cache.hpp>
#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/cache_slabs.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/depot.hpp>
#include <heapwise/detail/free_list.hpp>
#include <heapwise/detail/run_cutter.hpp>

namespace heapwise::detail::inline v0_2 {

/// The depot, the fresh blocks and the caches of a pool, behind one lock.
///
/// Thread safety: any thread may call each function, with its own cache where one is asked for;
/// `restart` only if no other thread uses the pool.
template <class Checking>
class cache_exchange {
  using links = typename Checking::links;
  using list = free_list<links>;

 public:
  using cache = block_cache<links>;

  /// batch_blocks: how many blocks a cache and the depot of a large pool exchange at once, about.
  cache_exchange(chunks* blocks, const Checking& check, std::size_t batch_blocks) noexcept
      : chunks_{blocks},
        check_{check},
        stride_bytes_{blocks->shape().stride_bytes},
        exchange_blocks_{
            std::clamp<std::size_t>(blocks->shape().max_blocks / batch_blocks, 1, batch_blocks)},
        batch_nodes_{exchange_blocks_ / make_list().blocks_per_node()},
        depot_{make_depot()},
        cutter_{*blocks, exchange_blocks_},
        caches_{blocks->source()} {}

  /// Effects: a node of `mine` became full. Keeps one batch spare, so that a thread that hovers at
  /// the edge does not run to the depot at each step; gives the rest away.
  HEAPWISE_NOINLINE void unload(cache& mine) noexcept {
    if (is_asked_to_give(mine)) [[unlikely]]
      return give_all(mine);
    if (mine.loaded.full_nodes() < batch_nodes_) return;
    const typename list::nodes nodes = mine.spare;
    mine.spare = mine.loaded.detach_full_nodes();
    if (nodes.count == 0) return;
    HEAPWISE_SCHEDULE_POINT();
    const std::scoped_lock lock{mutex_};
    depot_.give(nodes);
  }

  /// Requires: `mine` has no loaded block. Returns: a block, nullptr if there is none.
  HEAPWISE_ALWAYS_INLINE void* pop_fresh(cache& mine) noexcept {
    // The spare batch first: its blocks are warm, fresh ones are not.
    if (mine.spare.count != 0 || mine.fresh == mine.fresh_end) [[unlikely]]
      return refill(mine);
    return cut_from(mine);
  }

  /// Returns: a cache for the thread of `owner`, nullptr if there is no memory.
  [[nodiscard]] cache* claim(cache_table& owner) noexcept {
    const std::scoped_lock lock{mutex_};
    return caches_.claim(owner, make_cache());
  }

  /// Effects: another thread may claim the cache, with what is in it.
  void release(cache& mine) noexcept {
    const std::scoped_lock lock{mutex_};
    mine.owner = nullptr;
  }

  /// Effects: all that the cache holds goes to the depot, and another thread may claim it.
  void retire(cache& mine) noexcept {
    const std::scoped_lock lock{mutex_};
    give_back(mine);
    mine.owner = nullptr;
  }

  /// Returns: a cache for one operation of a thread that cannot have one of its own.
  [[nodiscard]] cache make_cache() const noexcept {
    return cache{make_list(), chunks_->shape().divider, refusals_.load(std::memory_order_relaxed)};
  }

  /// Effects: all that the cache holds goes to the depot.
  void empty(cache& mine) noexcept {
    const std::scoped_lock lock{mutex_};
    give_back(mine);
  }

  /// Effects: removes the caches from the tables of their threads. Requires: the registry's lock.
  void forget_all(const cached_pool& pool) noexcept {
    const std::scoped_lock lock{mutex_};
    caches_.for_each([&](cache& each) {
      if (each.owner != nullptr) each.owner->forget(pool);
    });
  }

  /// Around a fork; see cached_pool.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void lose_others(const cache_table* survivor) noexcept { caches_.lose_others(survivor); }

  /// Returns: how many blocks one cache may hold back from other threads, at most.
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept {
    // The loaded nodes and the spare ones, the hot block and the one that completes a batch, and
    // what is left of a run when its first block is out.
    return 2 * batch_nodes_ * make_list().blocks_per_node() + 2 +
           cutter_.run_blocks(chunks_->shape().max_blocks) - 1;
  }

  /// Returns: bytes of the caches.
  [[nodiscard]] std::size_t bytes() const noexcept {
    const std::scoped_lock lock{mutex_};
    return caches_.bytes();
  }

  /// Returns: how many blocks were cut, of all chunks together: those with an index below that.
  [[nodiscard]] std::size_t carved() const noexcept { return cutter_.carved(); }

  /// Effects: all caches give what they have to the depot; calls visit(block) for each free block.
  /// Returns: false, and visits nothing, if a cache was lost to a fork.
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

  /// Effects: no block is free, those from index `carved` on were never cut, all caches are empty.
  void restart(std::size_t carved) noexcept {
    const std::scoped_lock lock{mutex_};
    caches_.restart(make_cache());
    depot_ = make_depot();
    cutter_.restart(carved);
  }

 private:
  [[nodiscard]] list make_list() const noexcept {
    return list{stride_bytes_, check_.make_links(), exchange_blocks_};
  }
  [[nodiscard]] depot<links> make_depot() const noexcept {
    return depot<links>{make_list(), check_.make_links()};
  }

  HEAPWISE_ALWAYS_INLINE void* cut_from(cache& mine) noexcept {
    void* const block = mine.fresh;
    mine.fresh += stride_bytes_;
    check_.carved(block, chunks_->shape().block_size);
    return block;
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

  /// Requires: the lock. Effects: all that the cache holds goes to the depot.
  void give_back(cache& from) noexcept {
    depot_.give(from.spare);
    from.spare = {};
    while (void* const block = from.loaded.pop()) depot_.give(block);
    while (from.fresh != from.fresh_end) depot_.give(cut_from(from));
  }

  chunks* chunks_;
  [[no_unique_address]] Checking check_;
  std::size_t stride_bytes_;
  std::size_t exchange_blocks_; ///< about as many as a cache and the depot exchange at once
  std::size_t batch_nodes_;     ///< as many as that in nodes
  std::atomic<std::uint32_t> refusals_{0};

  alignas(cache_line_bytes) mutable std::mutex mutex_; // guards all that follows
  depot<links> depot_;
  run_cutter cutter_;
  cache_slabs<cache> caches_;
};

} // namespace heapwise::detail::inline v0_2
