// Thread policy: all threads use the pool at once, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <heapwise/checking.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/thread_ordinal.hpp>

namespace heapwise::inline v0_2 {

/// Any thread may use the pool, and no thread waits for another: if a thread is stopped in the
/// middle of an operation, the other threads go on. Growth is the exception. One thread at a time
/// asks the source for a chunk, and other threads that found the pool empty wait for it.
///
/// A child of fork may use the pool, and may grow it if its source can be used there. Blocks that
/// other threads of the parent were allocating or freeing are lost to the child.
///
/// The free blocks lie on several stacks (shards). The head of each stack has a cache line of its
/// own. A thread frees to its shard and takes from it. If its shard is empty, it takes from the
/// others. A head is one 64-bit word: the index of the top block and, in the remaining bits, a
/// count of the changes. The count makes an old head recognisable (ABA). The limit of the pool
/// decides how many bits the index needs. No 16-byte compare-and-swap is needed, because blocks
/// have indices. In the largest pool, of 2^32 - 2 blocks, 32 bits are left for the count. In a pool
/// of a million blocks, 44 bits are left.
///
/// `Shards` is how many stacks there are. With one, all threads meet at a single head, as in most
/// published designs of such a list. Requires: Shards > 0.
template <unsigned Shards>
struct lock_free_shards {
  static_assert(Shards > 0);
  static constexpr const char* name = Shards == 1 ? "lock_free_1" : "lock_free";
  static constexpr bool thread_safe = true;
  static constexpr std::size_t min_stride_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t max_blocks = 0xFFFF'FFFEu;

  template <class Checking>
  class core;
};

/// The policy for general use: eight stacks.
using lock_free = lock_free_shards<8>;

template <unsigned Shards>
template <class Checking>
class lock_free_shards<Shards>::core {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

 public:
  core(detail::chunks* chunks, const Checking& check) noexcept
      : chunks_{chunks},
        check_{check},
        index_bits_{static_cast<unsigned>(
            std::bit_width(static_cast<std::uint64_t>(chunks->shape().max_blocks) + 1))} {
    // Another thread may still read the link of a block that was popped and then freed again.
    if constexpr (requires { check_.keep_links_visible(); }) check_.keep_links_visible();
  }

  void* pop() noexcept {
    const unsigned own = shard();
    void* block = pop_from(shards_[own].head);
    if (block == nullptr) block = pop_elsewhere(own);
    if constexpr (Checking::enabled) {
      if (block != nullptr) check_.acquire(block, chunks_->shape().block_size);
    }
    return block;
  }

  bool push(void* block) noexcept {
    const std::size_t index = index_of(block);
    if (index == detail::chunks::no_index) [[unlikely]]
      return refuse_foreign(block);
    if constexpr (Checking::enabled) check_.release(block, chunks_->shape().block_size);
    push_chain(block, index);
    return true;
  }

  /// Returns: false for a pointer that is not a block. With foreign_checked, also false for the top
  /// block of the calling thread's shard, which usually is the block that the thread freed last.
  bool claim(void* block) noexcept {
    const std::size_t index = index_of(block);
    if (index == detail::chunks::no_index) [[unlikely]]
      return refuse_foreign(block);
    if constexpr (Checking::enabled) {
      check_.claim(block, chunks_->shape().block_size);
      return true;
    } else {
      // Relaxed: the owner of a live block took it off a head, or got it from the thread that took
      // it off. A load after that can no longer see the block on top.
      return top_of(shards_[shard()].head.load(std::memory_order_relaxed)) != index + 1;
    }
  }

  /// Returns: true for a block that was handed out at least once.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return index_of(address) != detail::chunks::no_index;
  }

  [[nodiscard]] std::size_t budget_bytes() const noexcept { return 0; }

  [[nodiscard]] std::size_t carved() const noexcept {
    return carved_.load(std::memory_order_relaxed);
  }

  template <class Visit>
  bool visit_free(Visit&& visit) {
    for (const auto& shard : shards_) {
      // Pairs with the release of each push: its link is seen.
      std::uint64_t top = top_of(shard.head.load(std::memory_order_acquire));
      while (top != 0) {
        void* const block = chunks_->address_of(top - 1);
        const std::uint64_t link = load_link(block);
        if (Checking::enabled && link > carved()) [[unlikely]] {
          const std::size_t block_size = chunks_->shape().block_size;
          detail::report_violation(violation::link_corrupted, block, block_size);
        }
        top = top_of(link);
        visit(block);
      }
    }
    return true;
  }

  void restart(std::size_t carved) noexcept {
    for (auto& shard : shards_) {
      const std::uint64_t seen = shard.head.load(std::memory_order_relaxed);
      shard.head.store(next_head(seen, 0), std::memory_order_relaxed);
    }
    carved_.store(carved, std::memory_order_relaxed);
  }

  void put_back(void* block) noexcept { push_chain(block, chunks_->index_of(block)); }

  /// Effects: as push for each block, with one exchange of the head for all of them.
  /// Returns: how many blocks were taken back.
  std::size_t push_many(void* const* blocks, std::size_t count) noexcept {
    void* last = nullptr;
    std::size_t top = 0;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = index_of(blocks[i]);
      if (index == detail::chunks::no_index) [[unlikely]] {
        refuse_foreign(blocks[i]);
        continue;
      }
      if constexpr (Checking::enabled) check_.release(blocks[i], chunks_->shape().block_size);
      if (last == nullptr) {
        last = blocks[i];
      } else {
        store_link(blocks[i], top + 1);
      }
      top = index;
      ++taken;
    }
    if (last != nullptr) push_chain(last, top);
    return taken;
  }

 private:
  bool refuse_foreign(const void* address) const noexcept {
    check_.refuse(address, chunks_->shape().block_size);
    return false;
  }

  static constexpr unsigned shard_count = Shards;
  struct alignas(detail::cache_line_bytes) aligned_head {
    std::atomic<std::uint64_t> head{0};
  };

  [[nodiscard]] std::size_t index_of(const void* address) const noexcept {
    const std::size_t index = chunks_->index_of(address);
    // Relaxed: the caller got the block from the thread that carved it, so the count includes it.
    return index < carved_.load(std::memory_order_relaxed) ? index : detail::chunks::no_index;
  }

  static unsigned shard() noexcept { return detail::thread_ordinal() % shard_count; }

  [[nodiscard]] std::uint64_t top_of(std::uint64_t head) const noexcept {
    return head & ((std::uint64_t{1} << index_bits_) - 1);
  }
  [[nodiscard]] std::uint64_t next_head(std::uint64_t seen, std::uint64_t top) const noexcept {
    return (((seen >> index_bits_) + 1) << index_bits_) | top;
  }

  /// Effects: the block with the index `top` becomes the top of the thread's shard. The links of
  /// the chain lead from it to `last`, which now leads to the block that was on top before.
  void push_chain(void* last, std::size_t top) noexcept {
    std::atomic<std::uint64_t>& head = shards_[shard()].head;
    std::uint64_t seen = head.load(std::memory_order_relaxed);
    std::uint64_t wanted;
    do {
      store_link(last, top_of(seen));
      wanted = next_head(seen, top + 1);
      HEAPWISE_SCHEDULE_POINT();
      // Release: the thread that pops the blocks sees their links, and what their last users wrote.
    } while (!head.compare_exchange_weak(seen, wanted, std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  void* pop_from(std::atomic<std::uint64_t>& head) noexcept {
    // Acquire: pairs with the release in push_chain. A thread that sees the index also sees the
    // link.
    std::uint64_t seen = head.load(std::memory_order_acquire);
    while (const std::uint64_t top = top_of(seen)) {
      void* const block = chunks_->address_of(top - 1);
      HEAPWISE_SCHEDULE_POINT();
      const std::uint64_t link = load_link(block);
      HEAPWISE_SCHEDULE_POINT();
      if constexpr (Checking::enabled) {
        if (link > carved_.load(std::memory_order_relaxed)) [[unlikely]] {
          judge_link(head, seen, block);
          continue;
        }
      }
      const std::uint64_t wanted = next_head(seen, top_of(link));
      // Pairs with the release of the push whose block is taken.
      if (head.compare_exchange_weak(seen, wanted, std::memory_order_acquire,
                                     std::memory_order_acquire)) {
        return block;
      }
    }
    return nullptr;
  }

  /// Returns: a block of another shard, or a fresh one. Freed blocks of other shards come first,
  /// because their memory is already in use.
  HEAPWISE_NOINLINE void* pop_elsewhere(unsigned own) noexcept {
    for (unsigned i = 1; i < shard_count; ++i) {
      HEAPWISE_SCHEDULE_POINT();
      void* const block = pop_from(shards_[(own + i) % shard_count].head);
      if (block != nullptr) return block;
    }
    HEAPWISE_SCHEDULE_POINT();
    if (void* const block = carve(false); block != nullptr) return block;
    return pop_anywhere(own);
  }

  /// Returns: nullptr only if the pool is exhausted.
  HEAPWISE_NOINLINE void* pop_anywhere(unsigned own) noexcept {
    for (;;) {
      std::array<std::uint64_t, shard_count> before;
      for (unsigned i = 0; i < shard_count; ++i) {
        const unsigned other = (own + i) % shard_count;
        HEAPWISE_SCHEDULE_POINT();
        if (void* const block = pop_from(shards_[other].head); block != nullptr) return block;
        // Acquire: the second reading in unchanged() stays behind this one.
        before[other] = shards_[other].head.load(std::memory_order_acquire);
      }
      HEAPWISE_SCHEDULE_POINT();
      if (void* const block = carve(true); block != nullptr) return block;
      HEAPWISE_SCHEDULE_POINT();
      if (unchanged(before)) return nullptr;
    }
  }

  /// Returns: true if the first reading found all heads empty, and no head has changed since. Then
  /// all shards were empty at one moment between the two readings, and the exhaustion is real: no
  /// block moved from one shard to another unseen.
  [[nodiscard]] bool unchanged(
      const std::array<std::uint64_t, shard_count>& before) const noexcept {
    for (unsigned i = 0; i < shard_count; ++i) {
      if (top_of(before[i]) != 0) return false;
      // Acquire: the readings of the shards keep their order.
      if (shards_[i].head.load(std::memory_order_acquire) != before[i]) return false;
    }
    return true;
  }

  void* carve(bool grows) noexcept {
    std::size_t index = carved_.load(std::memory_order_relaxed);
    for (;;) {
      detail::chunk* const newest = chunks_->newest();
      if (index >= newest->first_index + newest->blocks) {
        if (!grows) return nullptr;
        HEAPWISE_SCHEDULE_POINT();
        if (chunks_->grow(newest) == nullptr) return nullptr;
        index = carved_.load(std::memory_order_relaxed);
        continue;
      }
      // Relaxed: the count does not publish anything. newest() publishes the chunks.
      if (carved_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) break;
    }
    void* const block = chunks_->address_of(index);
    check_.carved(block, chunks_->shape().block_size);
    return block;
  }

  /// Effects: judges a link that leads nowhere. If it is corrupted, aborts the program. Otherwise
  /// updates `seen`. Such a link is either garbage, because it was read too late, or corrupted. It
  /// is corrupted if the head has not changed meanwhile. A read-modify-write compares the head, so
  /// that the link was read before it.
  HEAPWISE_COLD void judge_link(std::atomic<std::uint64_t>& head, std::uint64_t& seen,
                                const void* block) const noexcept {
    // Release keeps the reading of the link before this; acquire pairs with the push that won.
    if (head.compare_exchange_strong(seen, seen, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      detail::report_violation(violation::link_corrupted, block, chunks_->shape().block_size);
    }
  }

  void store_link(void* block, std::uint64_t top) const noexcept {
    HEAPWISE_STORE_RELAXED(static_cast<std::uint64_t*>(block), check_.seal(block, top));
  }

  /// Returns: the link in a block. This read is racy by design: another thread may have popped the
  /// block meanwhile, and its user may be writing to it. The value is then garbage, but our value
  /// of the head is old too: its count has changed, so the compare-and-swap fails and the garbage
  /// is dropped. Blocks stay mapped until destruction.
  [[nodiscard]] HEAPWISE_NO_SANITIZE_THREAD std::uint64_t load_link(
      const void* block) const noexcept {
    return check_.unseal(block, HEAPWISE_LOAD_RACY(static_cast<const std::uint64_t*>(block)));
  }

  detail::chunks* chunks_;
  [[no_unique_address]] Checking check_;
  unsigned index_bits_;
  alignas(detail::cache_line_bytes) std::atomic<std::size_t> carved_{0};
  std::array<aligned_head, shard_count> shards_{};
};

} // namespace heapwise::inline v0_2
