// Thread policy: all threads, no lock anywhere.
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

namespace heapwise::inline v0_1 {

/// Any thread may use the pool and none ever waits for another: a thread that is stopped in the
/// middle of an operation hinders nobody. Growth is the exception: one thread at a time asks the
/// source for a chunk, and others that found the pool empty wait for it.
///
/// A child of fork may use the pool, and grow it if its source can be used there; blocks that other
/// threads of the parent had in hand are lost to it.
///
/// Several stacks (shards), each with its head in a cache line of its own; a thread frees to its
/// shard and takes from it, and from the others when it is empty. A head is one 64-bit word: the
/// index of the top block, and in the bits that the pool's limit leaves over a count of the
/// changes, which makes an old head recognisable (ABA). No 16-byte compare-and-swap is needed:
/// blocks have indices, and an index into 2^32 - 2 blocks leaves 32 bits for the count at the
/// least, 44 for a pool of a million blocks.
struct lock_free {
  static constexpr const char* name = "lock_free";
  static constexpr bool thread_safe = true;
  static constexpr std::size_t min_stride_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t max_blocks = 0xFFFF'FFFEu;

  template <class Checking>
  class core;
};

template <class Checking>
class lock_free::core {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

 public:
  core(detail::chunks* chunks, const Checking& check) noexcept
      : chunks_{chunks},
        check_{check},
        index_bits_{static_cast<unsigned>(
            std::bit_width(static_cast<std::uint64_t>(chunks->shape().max_blocks) + 1))} {
    // Another thread may still look at the link of a block that was popped, and freed again.
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

  /// Returns: false for a pointer that is not a block, and (foreign_checked) for the top block of
  /// the calling thread's shard, as a rule the one that it freed last.
  bool claim(void* block) noexcept {
    const std::size_t index = index_of(block);
    if (index == detail::chunks::no_index) [[unlikely]]
      return refuse_foreign(block);
    if constexpr (Checking::enabled) {
      check_.claim(block, chunks_->shape().block_size);
      return true;
    } else {
      // Relaxed: the owner of a live block took it off a head, or got it from the thread that did.
      // A load that comes after that cannot see the block on top any more.
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

  /// One exchange of the head for all of them.
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

  static constexpr unsigned shard_count = 8;
  struct alignas(detail::cache_line_bytes) aligned_head {
    std::atomic<std::uint64_t> head{0};
  };

  [[nodiscard]] std::size_t index_of(const void* address) const noexcept {
    const std::size_t index = chunks_->index_of(address);
    // Relaxed: the caller got the block from somebody who carved it, so the count includes it.
    return index < carved_.load(std::memory_order_relaxed) ? index : detail::chunks::no_index;
  }

  static unsigned shard() noexcept { return detail::thread_ordinal() % shard_count; }

  [[nodiscard]] std::uint64_t top_of(std::uint64_t head) const noexcept {
    return head & ((std::uint64_t{1} << index_bits_) - 1);
  }
  [[nodiscard]] std::uint64_t next_head(std::uint64_t seen, std::uint64_t top) const noexcept {
    return (((seen >> index_bits_) + 1) << index_bits_) | top;
  }

  /// Effects: the block with the index `top` becomes the top of the thread's shard; `last`, to
  /// which its links lead, leads to the block that was on top.
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
    // Acquire: pairs with the release in push, so that the link is there when the index is.
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
      if (head.compare_exchange_weak(seen, wanted, std::memory_order_acquire,
                                     std::memory_order_acquire)) {
        return block;
      }
    }
    return nullptr;
  }

  /// Freed blocks of other shards come before fresh ones: their memory is in use already.
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
        before[other] = shards_[other].head.load(std::memory_order_acquire);
      }
      HEAPWISE_SCHEDULE_POINT();
      if (void* const block = carve(true); block != nullptr) return block;
      HEAPWISE_SCHEDULE_POINT();
      if (unchanged(before)) return nullptr;
    }
  }

  /// If no head changed between two readings, then all shards were empty at one moment between
  /// them: the exhaustion is real, not a block that moved behind our back.
  [[nodiscard]] bool unchanged(
      const std::array<std::uint64_t, shard_count>& before) const noexcept {
    for (unsigned i = 0; i < shard_count; ++i) {
      if (top_of(before[i]) != 0) return false;
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
      // Relaxed: the count publishes nothing; chunks are published by newest().
      if (carved_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) break;
    }
    void* const block = chunks_->address_of(index);
    check_.carved(block, chunks_->shape().block_size);
    return block;
  }

  /// A link that leads nowhere is either garbage that we read too late, or corrupted: the second,
  /// if the head did not change meanwhile. A read-modify-write, so that the link was read before
  /// it.
  HEAPWISE_COLD void judge_link(std::atomic<std::uint64_t>& head, std::uint64_t& seen,
                                const void* block) const noexcept {
    if (head.compare_exchange_strong(seen, seen, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      detail::report_violation(violation::link_corrupted, block, chunks_->shape().block_size);
    }
  }

  void store_link(void* block, std::uint64_t top) const noexcept {
    std::atomic_ref{*static_cast<std::uint64_t*>(block)}.store(check_.seal(block, top),
                                                               std::memory_order_relaxed);
  }

  /// Racy by design: another thread may have popped the block meanwhile and its user may be writing
  /// to it. The value is then garbage, but so is our view of the head: its count has moved on, the
  /// compare-and-swap fails and the garbage is dropped. Blocks stay mapped until destruction.
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

} // namespace heapwise::inline v0_1
