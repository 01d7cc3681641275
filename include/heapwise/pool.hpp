// A pool: blocks of one size, allocated and freed in constant time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <heapwise/block_source.hpp>
#include <heapwise/checking.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/batch.hpp>
#include <heapwise/detail/block_map.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/pool_options.hpp>
#include <heapwise/sanitized.hpp>
#include <heapwise/thread/unsynchronized.hpp>

namespace heapwise::inline v0_2 {

template <class Pool>
class local_pool;

/// Hands out blocks of one size from chunks of memory, and takes them back.
///
/// Policy: how threads are kept apart (unsynchronized, locked, lock_free, thread_cached).
/// Checking: how much the user is distrusted (trusting, foreign_checked, checked), or sanitized.
///
/// - allocate and free are O(1). Growth adds one system call now and then.
/// - a block has no bytes of metadata (checked: one guard word). `budget_bytes()` returns the bytes
///   that the pool itself takes.
/// - fresh memory is cut in address order when it is first needed. Creating a pool of any size
///   touches at most two pages.
/// - blocks never move and stay valid until they are freed. At destruction all memory goes back to
///   the source, also the memory of blocks that are still in use.
/// - a pointer that is not a block of this pool is refused, and nothing happens to it (trusting:
///   undefined behaviour; checked: the program is aborted with a message).
/// - plug-ins that each contain the static library may share a pool if all have one version, and if
///   the plug-in that constructed the pool stays loaded.
///
/// Thread safety: one thread constructs and destroys the pool. For all other functions the policy
/// says which threads may call them.
///
/// Without exceptions (-fno-exceptions), a constructor or an allocate that fails ends the program
/// in std::terminate, unless a caller that was compiled with exceptions catches the exception of
/// the library. Such a program should use try_allocate.
template <class Policy = unsynchronized, class Checking = default_checking>
class pool {
  static_assert(thread_policy<Policy, Checking>);
  using core = typename Policy::template core<Checking>;

 public:
  using policy = Policy;
  using checking = Checking;

  /// Effects: obtains the first chunk from `source`, which must outlive the pool.
  /// Throws: std::invalid_argument, std::length_error, std::bad_alloc (see pool_options).
  explicit pool(const pool_options& options, block_source& source = os_blocks())
      : pool{detail::chunks::create(geometry_of(options), source)} {}

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Effects: takes over the blocks of `other`. They stay where they are, and blocks in use stay in
  /// use. Assignment first gives back the memory of this pool, as the destructor does. Afterwards
  /// `other` may only be destroyed or assigned to. Objects that point to `other` (adaptors,
  /// deleters) still point there. Only for the policy unsynchronized, because other policies know a
  /// pool by its address.
  pool(pool&& other) noexcept
    requires std::movable<core>
  = default;
  pool& operator=(pool&& other) noexcept
    requires std::movable<core>
  = default;
  ~pool() = default;

  /// Returns: a block of at least block_size() bytes, aligned to alignment(), never nullptr.
  /// Throws: std::bad_alloc on exhaustion.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate() {
    void* const block = try_allocate();
    if (block == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return block;
  }

  /// Returns: a block as allocate does, or nullptr on exhaustion.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate() noexcept { return core_.pop(); }

  /// Effects: takes a block back. Does nothing for nullptr. A pointer that is not a block of this
  /// pool is refused. A block that is freed twice in a row is refused, too (lock_free does not
  /// notice it). With `checked`, every double free and every foreign pointer aborts the program
  /// with a message. With `trusting`, both are undefined behaviour.
  /// Returns: false if the pointer was refused.
  HEAPWISE_ALWAYS_INLINE bool deallocate(void* block) noexcept {
    return core_.push(block) || block == nullptr;
  }

  /// For owners of objects in blocks, before they run a destructor.
  /// Effects: with `checked`, looks for a double free and for a write behind the block, as
  /// deallocate does. From then on, only deallocate_claimed may be called for the block.
  /// Returns: false for nullptr and for a pointer that deallocate would refuse. Also false for a
  /// block that is known to be free already (without `checked`: the block that this thread freed
  /// last).
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    return core_.claim(block);
  }

  /// Effects: takes back a block for which `claim` returned true. Returns: false if the block was
  /// freed since then, as far as deallocate notices it.
  HEAPWISE_ALWAYS_INLINE bool deallocate_claimed(void* block) noexcept { return core_.push(block); }

  /// Only for policies with a cache for each thread. Returns: the calling thread's local_pool.
  /// Throws: std::bad_alloc if there is no memory for a cache, or if the thread is about to end.
  template <class Shared = core> // clang 15 and older instantiate members that cannot be called
  [[nodiscard]] local_pool<pool> local()
    requires requires(Shared& shared) { shared.local(); }
  {
    return local_pool<pool>{core_.local()};
  }

  /// Effects: allocates a block for each element of `blocks`. If the pool is exhausted before, only
  /// the first elements get blocks, and the others have unspecified values. One lock (locked), or
  /// one search for the thread's cache, serves all blocks.
  /// Returns: how many elements got blocks. Complexity: O(blocks.size()).
  [[nodiscard]] std::size_t try_allocate_many(std::span<void*> blocks) noexcept {
    if constexpr (requires { core_.pop_many(blocks.data(), blocks.size()); }) {
      return core_.pop_many(blocks.data(), blocks.size());
    } else {
      return detail::pop_each(core_, blocks.data(), blocks.size());
    }
  }

  /// Effects: as deallocate for each element. One lock (locked), one search for the thread's cache,
  /// or one exchange of a head (lock_free) serves all blocks.
  /// Returns: how many blocks were taken back: all except nullptr and refused pointers.
  /// Complexity: O(blocks.size()).
  std::size_t deallocate_many(std::span<void* const> blocks) noexcept {
    if constexpr (requires { core_.push_many(blocks.data(), blocks.size()); }) {
      return core_.push_many(blocks.data(), blocks.size());
    } else {
      return detail::push_each(core_, blocks.data(), blocks.size());
    }
  }

  /// Effects: all blocks are free again, as after construction. Chunks are kept, and no block is
  /// touched. Requires: no other thread uses the pool meanwhile. The program no longer uses blocks
  /// that it allocated before.
  void reset() noexcept {
    core_.restart(0);
    chunks_->hide_blocks();
  }

  /// Effects: calls visit(block) for each block that is in use, in no certain order. `visit` may
  /// free the block that it is called with, but no other one.
  /// Requires: no other thread uses the pool meanwhile.
  /// Returns: false, and visits nothing, if the source has no memory for one bit for each block, or
  /// if caches of other threads were lost to a fork (thread_cached, until reset). Throws: what
  /// `visit` throws. Complexity: O(capacity).
  template <class Visit>
  bool for_each(Visit&& visit) {
    const std::size_t cut = core_.carved();
    detail::block_map free{cut, chunks_->source()};
    if (!note_free(free)) return false;
    chunks_->visit_blocks(cut, [&](std::size_t index, void* block) {
      if (!free.test(index)) visit(block);
    });
    return true;
  }

  /// Effects: gives back memory that only free blocks lie in. Each chunk that is newer than the
  /// last block in use goes to the source. The pages behind that block go to the system if the
  /// source can do that (os_blocks can). The first chunk stays. From now on, the free blocks that
  /// are left are handed out in address order (thread_cached: batch by batch). After `reset`,
  /// nearly all memory is given back. Requires: no other thread uses the pool meanwhile.
  /// Returns: false, and does nothing, in the same cases as for_each. Complexity: O(capacity).
  bool shrink() noexcept {
    std::size_t used = core_.carved();
    {
      detail::block_map free{used, chunks_->source()};
      if (!note_free(free)) return false;
      while (used != 0 && free.test(used - 1)) --used;
      core_.restart(used);
      for (std::size_t block = used; block-- != 0;) {
        if (free.test(block)) core_.put_back(chunks_->address_of(block));
      }
    } // a buffer can take chunks back once the map behind them is gone
    chunks_->trim(used);
    return true;
  }

  /// A number of 32 bits that stands for a block and takes half of the bytes of an address.
  using handle = std::uint32_t;
  static constexpr handle no_handle = ~handle{0};

  /// Returns: the number of a block; no_handle for another pointer. The number does not change
  /// while the block is in use, also if the pool is moved. Complexity: O(chunks).
  [[nodiscard]] handle handle_of(const void* block) const noexcept {
    return core_.contains(block) ? static_cast<handle>(chunks_->index_of(block)) : no_handle;
  }

  /// Requires: handle_of returned `number` for a block that is still in use. Returns: the block.
  /// Complexity: O(chunks); one step for half of the blocks if the growth is geometric.
  [[nodiscard]] void* block_of(handle number) const noexcept { return chunks_->address_of(number); }

  /// Returns: true if `address` is the first byte of a block that was handed out at least once
  /// (thread_cached: that was set aside for some thread). It does not say whether the block is live
  /// now, or which thread may free it.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return core_.contains(address);
  }

  /// Bytes that the user may write to in each block.
  [[nodiscard]] std::size_t block_size() const noexcept { return shape().block_size; }
  /// Bytes from one block to the next.
  [[nodiscard]] std::size_t stride_bytes() const noexcept { return shape().stride_bytes; }
  /// The power of two that the address of each block is a multiple of.
  [[nodiscard]] std::size_t alignment() const noexcept { return shape().alignment; }
  /// Blocks of all chunks together, free or not. May grow while other threads allocate.
  [[nodiscard]] std::size_t capacity() const noexcept { return chunks_->capacity(); }
  /// Chunks that the pool has now.
  [[nodiscard]] std::size_t chunk_count() const noexcept { return chunks_->count(); }
  /// Returns: the largest number of free blocks that the cache of one thread may keep from other
  /// threads; 0 for a policy without caches. If `threads` threads use a pool and at most `live` of
  /// its blocks are in use at a time, no request fails if capacity() >= live + (threads - 1) *
  /// cached_blocks_max().
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept {
    if constexpr (requires { core_.cached_blocks_max(); }) return core_.cached_blocks_max();
    return 0;
  }
  /// Bytes obtained from the source for blocks, rounding included.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return chunks_->reserved_bytes(); }

  /// Returns: all bytes that the pool takes beside its blocks: the object, the records of its
  /// chunks, and the memory that the policy obtained (caches). The number grows with chunks and
  /// threads, never with blocks.
  [[nodiscard]] std::size_t budget_bytes() const noexcept {
    return sizeof(*this) + chunks_->record_bytes() + core_.budget_bytes();
  }

 private:
  struct destroy_chunks {
    void operator()(detail::chunks* memory) const noexcept { detail::chunks::destroy(memory); }
  };

  explicit pool(detail::chunks* memory) noexcept
      : chunks_{memory}, core_{memory, make_checking(*memory)} {}

  /// Effects: sets the bit of each block that was cut and is free. Returns: false if the free
  /// blocks are not known.
  bool note_free(detail::block_map& free) noexcept {
    return free.valid() &&
           core_.visit_free([&](void* block) { free.set(chunks_->index_of(block)); });
  }

  static detail::geometry geometry_of(const pool_options& options) {
    auto shape = detail::geometry::of(options, Checking::guard_bytes, Policy::min_stride_bytes);
    if constexpr (requires { Checking::marks(); }) shape.marks = Checking::marks();
    return shape;
  }

  static Checking make_checking(const detail::chunks& memory) noexcept {
    if constexpr (std::is_constructible_v<Checking, const detail::chunks&>) {
      return Checking{memory};
    } else {
      return Checking{};
    }
  }

  [[nodiscard]] const detail::geometry& shape() const noexcept { return chunks_->shape(); }

  std::unique_ptr<detail::chunks, destroy_chunks> chunks_;
  core core_;
};

/// A thread's access to a pool, from `pool::local`. The thread's cache is looked up already. Only
/// the thread that called `pool::local` may use it, and only while the pool and the thread live.
/// Thread safety: only that thread may use it, while other threads use the pool as its policy
/// allows.
template <class Policy, class Checking>
class local_pool<pool<Policy, Checking>> {
 public:
  /// As pool::try_allocate.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate() noexcept { return handle_.pop(); }
  /// As pool::allocate.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate() {
    void* const block = try_allocate();
    if (block == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return block;
  }
  /// As pool::deallocate.
  HEAPWISE_ALWAYS_INLINE bool deallocate(void* block) noexcept {
    return handle_.push(block) || block == nullptr;
  }
  /// As pool::claim.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool claim(void* block) noexcept {
    return handle_.claim(block);
  }
  /// As pool::deallocate_claimed.
  HEAPWISE_ALWAYS_INLINE bool deallocate_claimed(void* block) noexcept {
    return handle_.push(block);
  }

 private:
  friend class pool<Policy, Checking>;
  using handle = decltype(std::declval<typename Policy::template core<Checking>&>().local());
  explicit local_pool(handle mine) noexcept : handle_{mine} {}
  handle handle_;
};

} // namespace heapwise::inline v0_2
