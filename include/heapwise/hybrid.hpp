// The research allocator: each size its own way, and the way to refill as a policy.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <mutex>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/hybrid/best_fit.hpp>
#include <heapwise/hybrid/cache_set.hpp>
#include <heapwise/hybrid/chunk_map.hpp>
#include <heapwise/hybrid/classes.hpp>
#include <heapwise/hybrid/refill.hpp>
#include <heapwise/hybrid/refill/class_arena.hpp>
#include <heapwise/hybrid/statistics.hpp>
#include <heapwise/hybrid/thread_cache.hpp>

namespace heapwise {

/// Blocks of any size, from any thread; made to compare ways of doing it, after the allocator of
/// the report AllocatorBench (`heapwise reproduce allocatorbench`). For production there is `heap`.
///
/// | size | strategy | blocks |
/// |---|---|---|
/// | up to 32, 128, 256 | fixed | slabs of three sizes, with a cache in each thread |
/// | 257 to 4096 | segregated | lists of sizes that double |
/// | above | best_fit | free pieces by size; neighbours grow together |
///
/// Refill: how lists and slabs get blocks (heapwise/hybrid/refill/: global_lock, sharded,
/// class_arena, cached_lists, lock_free_refill, reserved).
/// Timing: untimed, or timed.
///
/// - blocks of slabs and lists have no header and are aligned to their size; those of the best fit
///   have 16 bytes in front and are aligned to 64.
/// - what a block is, its address tells: chunks are found in a table by their number.
/// - memory of slabs and lists stays until destruction; blocks of half a megabyte and more, and
///   regions of the best fit that become empty (but one), go back to the source at once.
///
/// Thread safety: construction, destruction and reset by one thread; the rest by all at once, any
/// thread may free what another allocated (but see begin_scope). A child of fork may use, reset and
/// destroy the allocator; what other threads of the parent had in their caches and scopes, or in
/// hand, is lost to it (`reset` finds the blocks again).
template <class Refill = refill::class_arena, class Timing = untimed>
class hybrid {
  static_assert(refill_strategy<Refill>);
  using cache = detail::hybrids::thread_cache<Refill::list_cache_blocks>;
  using stopwatch = typename Timing::stopwatch;

 public:
  using refill_type = Refill;
  using timing_type = Timing;

  /// Effects: obtains memory only if the strategy provisions it. `source` must outlive the
  /// allocator; it is used by one thread at a time.
  explicit hybrid(const hybrid_options& options = {}, block_source& source = os_blocks()) noexcept
      : chunks_{source}, depot_{chunks_, options}, best_fit_{chunks_}, caches_{*this, chunks_} {}

  hybrid(const hybrid&) = delete;
  hybrid& operator=(const hybrid&) = delete;
  /// Effects: all memory goes back to the source.
  ~hybrid() {
    caches_.for_each_whole([this](cache& each) { each.log.clear(chunks_); });
  }

  /// Returns: a block of at least `size` bytes, aligned to 32, never nullptr; of 0 bytes too.
  /// Throws: std::bad_alloc on exhaustion.
  [[nodiscard]] void* allocate(std::size_t size, strategy how = strategy::automatic) {
    return must(try_allocate(size, how));
  }
  /// Returns: as allocate, aligned to `alignment`. Throws: std::bad_alloc, also for an alignment
  /// that is not a power of two or above 4096.
  [[nodiscard]] void* allocate_aligned(std::size_t size, std::size_t alignment,
                                       strategy how = strategy::automatic) {
    return must(try_allocate_aligned(size, alignment, how));
  }

  /// Returns: as allocate, but nullptr on exhaustion.
  [[nodiscard]] void* try_allocate(std::size_t size, strategy how = strategy::automatic) noexcept {
    return take(size, 1, how);
  }
  /// Returns: as allocate_aligned, but nullptr where that throws.
  [[nodiscard]] void* try_allocate_aligned(std::size_t size, std::size_t alignment,
                                           strategy how = strategy::automatic) noexcept {
    if (!std::has_single_bit(alignment)) return nullptr;
    return take(size, alignment, how);
  }

  /// Effects: takes a block back; does nothing for nullptr or for an address that is not the first
  /// byte of a block.
  /// Returns: false if the pointer was refused. Freeing a block of a slab or a list twice is not
  /// noticed.
  bool deallocate(void* block) noexcept {
    if (block == nullptr) return true;
    const stopwatch watch;
    const std::size_t class_index = chunks_.class_of(block);
    return class_index != detail::hybrids::routing::none && give(class_index, block, watch);
  }

  /// Effects: as deallocate, without a look at the table.
  /// Requires: `size` and `how` are what allocate or try_allocate was asked for.
  bool deallocate(void* block, std::size_t size, strategy how = strategy::automatic) noexcept {
    return deallocate_aligned(block, size, 1, how);
  }
  /// Effects: as deallocate, without a look at the table.
  /// Requires: `size`, `alignment` and `how` are what allocate_aligned or try_allocate_aligned was
  /// asked for: the alignment decides with the size what kind of block it is.
  bool deallocate_aligned(void* block, std::size_t size, std::size_t alignment,
                          strategy how = strategy::automatic) noexcept {
    if (block == nullptr) return true;
    const stopwatch watch;
    const std::size_t class_index = detail::hybrids::routing::class_of(size, alignment, how);
    assert(chunks_.class_of(block) == class_index);
    return give(class_index, block, watch);
  }

  /// Effects: what the calling thread allocates from now on is freed by its next end_scope, or when
  /// it ends. Scopes nest: what is allocated belongs to the innermost.
  /// A block of a scope may be freed by hand before, by the thread that allocated it: it leaves the
  /// scope at once. Requires: no other thread frees it, unless the scope has none of it any more.
  /// A block from outside of the scope may be freed inside, as usual.
  /// Throws: std::bad_alloc.
  void begin_scope() {
    cache* const mine = caches_.find();
    if (mine == nullptr || !mine->log.begin(chunks_)) detail::throw_bad_alloc();
  }

  /// Effects: ends the calling thread's innermost scope and frees what is left of it.
  /// Returns: how many blocks that was; 0 if no scope is open.
  std::size_t end_scope() noexcept {
    cache* const mine = caches_.find();
    return mine == nullptr || !mine->log.open() ? 0 : end_scope_of(*mine);
  }

  /// Returns: how many scopes the calling thread has open.
  [[nodiscard]] std::size_t open_scopes() noexcept {
    const cache* const mine = caches_.find();
    return mine == nullptr ? 0 : mine->log.depth();
  }

  /// A scope as an object: begins and ends with it, on one thread.
  class scope {
   public:
    /// Throws: std::bad_alloc.
    explicit scope(hybrid& allocator) : allocator_{&allocator} { allocator.begin_scope(); }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() { allocator_->end_scope(); }

   private:
    hybrid* allocator_;
  };

  /// Effects: all blocks are free, all scopes of all threads are closed; memory of slabs and lists
  /// is kept for reuse, that of the best fit goes back to the source. Counts go on.
  /// Requires: no other thread uses the allocator meanwhile; what is out is never used again.
  void reset() noexcept {
    caches_.for_each_whole([this](cache& each) {
      each.forget();
      each.log.clear(chunks_);
    });
    best_fit_.reset();
    depot_.reset(chunks_);
  }

  /// Returns: the bytes of a block that is out that may be used; 0 for an address that is not a
  /// block.
  [[nodiscard]] std::size_t usable_bytes(const void* block) noexcept {
    const std::size_t class_index = chunks_.class_of(block);
    if (class_index < detail::hybrids::routing::class_count)
      return detail::hybrids::routing::block_bytes[class_index];
    return class_index == detail::hybrids::routing::best_fit ? best_fit_.usable_bytes(block) : 0;
  }

  /// Returns: true for the first byte of a block of this allocator. For slabs and lists, whether it
  /// is out is not known.
  [[nodiscard]] bool owns(const void* block) noexcept { return usable_bytes(block) != 0; }

  /// Returns: counts of all threads, those that ended included; each is right, all together may be
  /// of slightly different moments.
  [[nodiscard]] hybrid_statistics statistics() const noexcept {
    hybrid_statistics sum{.refill = depot_.counts(),
                          .best_fit_locks_taken = best_fit_.lock().taken(),
                          .best_fit_waits = best_fit_.lock().waited(),
                          .reserved_bytes = chunks_.reserved_bytes()};
    strays_.add_to(sum);
    caches_.for_each([&sum](const cache& each) { each.counted.add_to(sum); });
    return sum;
  }

 private:
  friend class detail::hybrids::cache_set<cache, hybrid>;

  static void* must(void* block) {
    if (block == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return block;
  }

  HEAPWISE_ALWAYS_INLINE void* take(std::size_t size, std::size_t alignment,
                                    strategy how) noexcept {
    const stopwatch watch;
    const std::size_t class_index = detail::hybrids::routing::class_of(size, alignment, how);
    cache* const mine = caches_.find();
    void* const block = find_block(mine, class_index, size, alignment);
    if (block == nullptr) [[unlikely]]
      return nullptr;
    const std::size_t server = detail::hybrids::routing::server_of(class_index);
    if (mine == nullptr) [[unlikely]] {
      count_stray([&](detail::hybrids::tally& all) { all.allocated<Timing>(server, size, watch); });
      return block;
    }
    if (mine->log.open() && !mine->log.note(block, chunks_)) [[unlikely]] {
      put_back(mine, class_index, block);
      return nullptr;
    }
    mine->counted.template allocated<Timing>(server, size, watch);
    return block;
  }

  HEAPWISE_ALWAYS_INLINE void* find_block(cache* mine, std::size_t class_index, std::size_t size,
                                          std::size_t alignment) noexcept {
    if (class_index == detail::hybrids::routing::best_fit)
      return best_fit_.allocate(size, alignment);
    if (mine != nullptr && cache::capacity(class_index) != 0) return mine->pop(class_index, depot_);
    void* block = nullptr;
    return depot_.take(class_index, &block, 1) == 0 ? nullptr : block;
  }

  HEAPWISE_ALWAYS_INLINE bool give(std::size_t class_index, void* block,
                                   const stopwatch& watch) noexcept {
    cache* const mine = caches_.find();
    if (mine != nullptr && mine->log.open()) [[unlikely]]
      mine->log.strike(block);
    if (!put_back(mine, class_index, block)) return false;
    const std::size_t server = detail::hybrids::routing::server_of(class_index);
    if (mine != nullptr) [[likely]] {
      mine->counted.template deallocated<Timing>(server, watch);
    } else {
      count_stray([&](detail::hybrids::tally& all) { all.deallocated<Timing>(server, watch); });
    }
    return true;
  }

  HEAPWISE_ALWAYS_INLINE bool put_back(cache* mine, std::size_t class_index, void* block) noexcept {
    if (class_index == detail::hybrids::routing::best_fit) return best_fit_.deallocate(block);
    if (mine != nullptr && cache::capacity(class_index) != 0) {
      mine->push(class_index, block, depot_);
    } else {
      depot_.give(class_index, &block, 1);
    }
    return true;
  }

  std::size_t end_scope_of(cache& mine) noexcept {
    std::size_t freed = 0;
    while (void* const block = mine.log.take()) {
      const stopwatch watch;
      const std::size_t class_index = chunks_.class_of(block);
      put_back(&mine, class_index, block);
      mine.counted.template deallocated<Timing>(detail::hybrids::routing::server_of(class_index),
                                                watch);
      ++freed;
    }
    return freed;
  }

  /// A thread ends: what it kept is everybody's.
  void leave(cache& mine) noexcept {
    while (mine.log.open()) end_scope_of(mine);
    mine.log.clear(chunks_);
    mine.empty_into(depot_);
  }

  /// All locks, in the order in which one may be taken while another is held.
  void lock_for_fork() noexcept {
    depot_.lock();
    best_fit_.lock().lock();
    chunks_.lock().lock();
    strays_mutex_.lock();
  }
  void unlock_after_fork() noexcept {
    strays_mutex_.unlock();
    chunks_.lock().unlock();
    best_fit_.lock().unlock();
    depot_.unlock();
  }
  void enter_child() noexcept {
    if constexpr (requires { depot_.enter_child(); }) depot_.enter_child();
  }

  /// For threads that have no cache: they are about to end, or there was no memory for one.
  template <class Count>
  HEAPWISE_COLD void count_stray(const Count& count) noexcept {
    const std::scoped_lock lock{strays_mutex_};
    count(strays_);
  }

  detail::hybrids::chunk_map chunks_;
  typename Refill::depot depot_;
  detail::hybrids::best_fit best_fit_;
  std::mutex strays_mutex_;
  detail::hybrids::tally strays_;                    ///< written under the lock
  detail::hybrids::cache_set<cache, hybrid> caches_; ///< last: a thread that ends comes in by it
};

} // namespace heapwise
