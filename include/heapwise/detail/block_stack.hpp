// The free blocks of a pool for one thread: several chains, used in turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <heapwise/detail/config.hpp>
#include <heapwise/detail/links.hpp>

namespace heapwise::detail::inline v0_2 {

/// A last-in-first-out stack of free blocks that needs one word of each block.
///
/// A chain through all blocks would wait for one cache miss after the other, because the address of
/// a block stands in the block above it. Here there are `chain_count` chains. Each block that is
/// added becomes the head of the next chain in turn, and blocks are taken in the opposite turn, so
/// the order is that of one stack. The heads are the `chain_count` blocks on top. When a block is
/// taken, the block below it in its chain is fetched. It is handed out `chain_count` allocations
/// later, so as many misses overlap. They are fetched for writing: the user writes to a block that
/// it allocated.
///
/// The block taken last is remembered while it is out. If it comes back first, only a mark changes,
/// and nobody has to ask whether it is a block of the pool. The chains are not involved until
/// another block is added.
///
/// Links: how the words are written (plain_links, or those of checked or sanitized pools).
/// Thread safety: none. Complexity: O(1), except for `visit`.
template <class Links = plain_links>
class block_stack {
 public:
  /// Measured: with 16, allocations in random order take a fifth to a half longer; with 64 they
  /// take as long as with 32.
  static constexpr std::uint32_t chain_count = 32;

  explicit constexpr block_stack(Links links = {}) noexcept : links_{links} {}

  /// Returns: true if `block` is the one taken last, and no other was added since. Never true for
  /// nullptr.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_last(const void* block) const noexcept {
    return block == last_;
  }

  /// Requires: is_last(block). Effects: the block is free again. Returns: false if it was already.
  HEAPWISE_ALWAYS_INLINE bool push_last() noexcept {
    const bool was_free = last_is_free_;
    last_is_free_ = true; // a store without a branch before it: the branch would cost more
    return !was_free;
  }

  /// Requires: block is not nullptr. Returns: true if it is free and the one that was added last.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_top(const void* block) const noexcept {
    return block == (last_is_free_ ? last_ : heads_[turn_]);
  }

  /// Requires: !is_last(block), or no block comes back by `push_last`. Effects: adds a block.
  /// Returns: false, and does nothing, if it is the one that was added last.
  HEAPWISE_ALWAYS_INLINE bool push(void* block) noexcept {
    if (last_is_free_) [[unlikely]] {
      last_is_free_ = false;
      add(last_);
      last_ = no_block;
    }
    if (block == heads_[turn_]) [[unlikely]]
      return false;
    add(block);
    return true;
  }

  /// Effects: takes out the block that was added last. Returns: nullptr if there is none.
  HEAPWISE_ALWAYS_INLINE void* pop() noexcept {
    if (last_is_free_) [[likely]] {
      last_is_free_ = false;
      HEAPWISE_ASSUME(last_ != nullptr);
      return last_;
    }
    void* const block = heads_[turn_];
    if (block == nullptr) [[unlikely]]
      return nullptr;
    void* const next = links_.load(block);
    heads_[turn_] = next;
    HEAPWISE_PREFETCH_TO_WRITE(next);
    turn_ = (turn_ - 1) % chain_count;
    last_ = block;
    return block;
  }

  [[nodiscard]] bool empty() const noexcept { return !last_is_free_ && heads_[turn_] == nullptr; }

  /// Effects: calls visit(block) for each block of the stack, in no certain order. `visit` must not
  /// change the stack or the blocks. Complexity: O(blocks).
  template <class Visit>
  void visit(Visit&& visit_block) const {
    if (last_is_free_) visit_block(last_);
    for (void* block : heads_) {
      for (; block != nullptr; block = links_.load(block)) visit_block(block);
    }
  }

 private:
  HEAPWISE_ALWAYS_INLINE void add(void* block) noexcept {
    turn_ = (turn_ + 1) % chain_count;
    links_.store(block, heads_[turn_]);
    heads_[turn_] = block;
  }

  /// What no block's address can be: it is odd.
  static inline void* const no_block = reinterpret_cast<void*>(std::uintptr_t{1});

  void* last_ = no_block;
  bool last_is_free_ = false;
  std::uint32_t turn_ = 0; ///< the chain of the block on top; all heads are null if there is none
  [[no_unique_address]] Links links_;
  std::array<void*, chain_count> heads_{};
};

} // namespace heapwise::detail::inline v0_2
