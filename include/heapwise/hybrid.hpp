// The research allocator: each size its own way, and the way to refill as a policy. It is a library
// of its own, libheapwise-hybrid, and this is the header to include.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <mutex>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/hybrid/classes.hpp>
#include <heapwise/hybrid/detail/best_fit.hpp>
#include <heapwise/hybrid/detail/cache_set.hpp>
#include <heapwise/hybrid/detail/chunk_map.hpp>
#include <heapwise/hybrid/detail/thread_cache.hpp>
#include <heapwise/hybrid/refill.hpp>
#include <heapwise/hybrid/refill/class_arena.hpp>
#include <heapwise/hybrid/refill/global_lock.hpp>
#include <heapwise/hybrid/refill/lock_free_refill.hpp>
#include <heapwise/hybrid/refill/reserved.hpp>
#include <heapwise/hybrid/refill/sharded.hpp>
#include <heapwise/hybrid/statistics.hpp>

namespace heapwise {

/// Blocks of any size, for any thread. It exists to compare allocation strategies, and follows the
/// allocator of the report AllocatorBench (`heapwise reproduce allocatorbench`). For production,
/// use `heap`.
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
/// - blocks of slabs and lists have no header and are aligned to their size. Blocks of the best fit
///   have 16 bytes in front and are aligned to 64.
/// - the address of a block tells its kind: chunks are found in a table by their number.
/// - memory of slabs and lists stays until destruction. Blocks of half a megabyte and more go back
///   to the source at once. So do regions of the best fit that become empty, but one empty region
///   stays.
///
/// Thread safety: one thread constructs, destroys and resets the allocator. All threads may call
/// all other functions at once. Any thread may free a block that another thread allocated (but see
/// begin_scope). A child of fork may use, reset and destroy the allocator. Blocks that other
/// threads of the parent had in their caches and scopes, or were allocating or freeing, are lost to
/// the child (`reset` finds these blocks again).
template <class Refill = refill::class_arena, class Timing = untimed>
class hybrid {
  static_assert(refill_strategy<Refill>);
  using cache = detail::hybrids::thread_cache<Refill::list_cache_blocks>;
  using stopwatch = typename Timing::stopwatch;

 public:
  using refill_type = Refill;
  using timing_type = Timing;

  /// Effects: obtains memory only if the refill strategy provisions it. `source` must outlive the
  /// allocator, which uses it from one thread at a time.
  explicit hybrid(const hybrid_options& options = {}, block_source& source = os_blocks()) noexcept
      : chunks_{source}, depot_{chunks_, options}, best_fit_{chunks_}, caches_{*this, chunks_} {}

  hybrid(const hybrid&) = delete;
  hybrid& operator=(const hybrid&) = delete;
  /// Effects: all memory goes back to the source.
  ~hybrid() {
    caches_.for_each_whole([this](cache& each) { each.log.clear(chunks_); });
  }

  /// Returns: a block of at least `size` bytes, aligned to 32, also if `size` is 0. Never nullptr.
  /// Throws: std::bad_alloc on exhaustion.
  [[nodiscard]] void* allocate(std::size_t size, strategy how = strategy::automatic) {
    return must(try_allocate(size, how));
  }
  /// Returns: as allocate, aligned to `alignment`. Throws: std::bad_alloc on exhaustion, and if the
  /// alignment is not a power of two or is above 4096.
  [[nodiscard]] void* allocate_aligned(std::size_t size, std::size_t alignment,
                                       strategy how = strategy::automatic) {
    return must(try_allocate_aligned(size, alignment, how));
  }

  /// Returns: as allocate, but nullptr on exhaustion.
  [[nodiscard]] void* try_allocate(std::size_t size, strategy how = strategy::automatic) noexcept {
    return take(size, 1, how);
  }
  /// Returns: as allocate_aligned, but nullptr if allocate_aligned throws.
  [[nodiscard]] void* try_allocate_aligned(std::size_t size, std::size_t alignment,
                                           strategy how = strategy::automatic) noexcept {
    if (!std::has_single_bit(alignment)) return nullptr;
    return take(size, alignment, how);
  }

  /// Effects: takes a block back. Does nothing for nullptr or for an address that is not the first
  /// byte of a block. The allocator does not notice if a block of a slab or a list is freed twice.
  /// Returns: false if the pointer was refused.
  bool deallocate(void* block) noexcept {
    if (block == nullptr) return true;
    const stopwatch watch;
    const std::size_t class_index = chunks_.class_of(block);
    return class_index != detail::hybrids::routing::none && give(class_index, block, watch);
  }

  /// Effects: as deallocate, without a search in the table.
  /// Requires: `size` and `how` are the arguments of the allocate or try_allocate that returned the
  /// block.
  bool deallocate(void* block, std::size_t size, strategy how = strategy::automatic) noexcept {
    return deallocate_aligned(block, size, 1, how);
  }
  /// Effects: as deallocate, without a search in the table.
  /// Requires: `size`, `alignment` and `how` are the arguments of the allocate_aligned or
  /// try_allocate_aligned that returned the block. Size and alignment together decide what kind of
  /// block it is.
  bool deallocate_aligned(void* block, std::size_t size, std::size_t alignment,
                          strategy how = strategy::automatic) noexcept {
    if (block == nullptr) return true;
    const stopwatch watch;
    const std::size_t class_index = detail::hybrids::routing::class_of(size, alignment, how);
    assert(chunks_.class_of(block) == class_index);
    return give(class_index, block, watch);
  }

  /// Effects: begins a scope. Blocks that the calling thread allocates from now on are freed by its
  /// next end_scope, or when the thread ends. Scopes nest: a block belongs to the innermost scope.
  /// The thread that allocated a block of a scope may free it before the scope ends, and the block
  /// then leaves the scope at once. Inside of a scope, a thread may free a block from outside of
  /// the scope as usual.
  /// Requires: no other thread frees a block of the scope as long as the block is in the scope.
  /// Throws: std::bad_alloc.
  void begin_scope() {
    cache* const mine = caches_.find();
    if (mine == nullptr || !mine->log.begin(chunks_)) detail::throw_bad_alloc();
  }

  /// Effects: ends the calling thread's innermost scope and frees the blocks that are left in it.
  /// Returns: how many blocks it freed; 0 if no scope is open.
  std::size_t end_scope() noexcept {
    cache* const mine = caches_.find();
    return mine == nullptr || !mine->log.open() ? 0 : end_scope_of(*mine);
  }

  /// Returns: how many scopes the calling thread has open.
  [[nodiscard]] std::size_t open_scopes() noexcept {
    const cache* const mine = caches_.find();
    return mine == nullptr ? 0 : mine->log.depth();
  }

  /// A scope as an object: the scope begins and ends with the object, on one thread.
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

  /// Effects: all blocks are free, and all scopes of all threads are closed. Memory of slabs and
  /// lists is kept for reuse. Memory of the best fit goes back to the source. Counts are not reset.
  /// Requires: no other thread uses the allocator meanwhile. The program no longer uses blocks that
  /// it allocated before.
  void reset() noexcept {
    caches_.for_each_whole([this](cache& each) {
      each.forget();
      each.log.clear(chunks_);
    });
    best_fit_.reset();
    depot_.reset(chunks_);
  }

  /// Returns: how many bytes of a block in use may be used; 0 for an address that is not a block.
  [[nodiscard]] std::size_t usable_bytes(const void* block) noexcept {
    const std::size_t class_index = chunks_.class_of(block);
    if (class_index < detail::hybrids::routing::class_count)
      return detail::hybrids::routing::block_bytes[class_index];
    return class_index == detail::hybrids::routing::best_fit ? best_fit_.usable_bytes(block) : 0;
  }

  /// Returns: true if `block` is the first byte of a block of this allocator. For slabs and lists,
  /// it does not say whether the block is in use.
  [[nodiscard]] bool owns(const void* block) noexcept { return usable_bytes(block) != 0; }

  /// Returns: counts of all threads, also of threads that have ended. Each count is right, but two
  /// counts may be from slightly different moments.
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

  /// Called when a thread ends. All free blocks that it kept become available to all threads.
  void leave(cache& mine) noexcept {
    while (mine.log.open()) end_scope_of(mine);
    mine.log.clear(chunks_);
    mine.empty_into(depot_);
  }

  /// Takes all locks, in the order in which one may be taken while another is held.
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

  /// Counts for a thread that has no cache, because it is about to end or because there was no
  /// memory for one.
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
