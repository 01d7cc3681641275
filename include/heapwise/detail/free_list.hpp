// The free blocks of a pool, remembered inside the free blocks themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heapwise/detail/config.hpp>
#include <heapwise/detail/links.hpp>

namespace heapwise::detail::inline v0_2 {

/// A last-in-first-out list of free blocks that costs no memory and rarely touches a block.
///
/// A chain through every block would read one cold cache line for each block that it hands out.
/// Here a free block is used for the addresses of others, in two levels:
///
///     hot    the block freed last, held in the list itself: a free followed by an allocation
///            touches no memory of any block. It is remembered while it is out: if it comes back
///            first, only a mark changes, and nobody need ask whose block it is
///     leaf   a free block whose words are the addresses of `leaf_capacity` free blocks
///     node   a free block with a link to the next node and the addresses of `node_capacity` leaves
///
/// so with 64-byte blocks one node stands for 64 blocks and lies in one cache line. When a node
/// comes up, its leaves and the next node are prefetched together: the misses overlap, where a
/// chain would wait for them one after the other. All nodes below the top one are full, which lets
/// thread caches exchange whole nodes. Blocks of fewer than two words form a plain chain.
/// Lists that exchange nodes must have the same shape.
///
/// Links: how the words are written (plain_links, or the encoded links of checked pools, which
/// keep to one word per block). Thread safety: none. Complexity: O(1) for every function that does
/// not say otherwise; with encoded links O(chunks) for each link that is read.
template <class Links = plain_links>
class free_list {
 public:
  /// A detached run of full nodes: `head` links down to `tail`.
  struct nodes {
    void* head = nullptr;
    void* tail = nullptr;
    std::size_t count = 0;
  };

  /// As many blocks as fit, for `node_blocks_max`.
  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

  /// node_blocks_max: the largest number of blocks that a node may stand for, for lists that
  /// exchange few blocks. Requires: stride_bytes >= sizeof(void*), node_blocks_max >= 1.
  explicit constexpr free_list(std::size_t stride_bytes, Links links = {},
                               std::size_t node_blocks_max = no_limit) noexcept
      : leaf_capacity_{leaf_capacity(stride_bytes)},
        node_capacity_{node_capacity(leaf_capacity_)},
        links_{links} {
    while (blocks_per_node() > node_blocks_max) leaf_capacity_ = node_capacity_ = smaller();
  }

  /// Returns: true if `block` is the hot one, free or not. Never true for nullptr.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_hot(const void* block) const noexcept {
    return block == hot_;
  }

  /// Returns: true if `block` is the hot one and free.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_free_hot(const void* block) const noexcept {
    return block == hot_ && hot_is_free_;
  }

  /// Requires: is_hot(block). Effects: the block is free again.
  /// Returns: false if it was free already.
  HEAPWISE_ALWAYS_INLINE bool push_hot() noexcept {
    const bool was_free = hot_is_free_;
    hot_is_free_ = true; // a store without a branch before it: the branch would cost more
    return !was_free;
  }

  /// Effects: adds a block. Returns: true if a node became full by it, that is, if
  /// `full_nodes()` grew.
  HEAPWISE_ALWAYS_INLINE bool push(void* block) noexcept {
    void* const colder = hot_;
    hot_ = block;
    if (!hot_is_free_) {
      hot_is_free_ = true;
      return false;
    }
    if (leaf_size_ != leaf_capacity_ && leaf_ != nullptr) [[likely]] {
      leaf_[leaf_size_++] = colder;
      return false;
    }
    return push_node(colder);
  }

  /// Effects: takes out the block that was added last. Returns: nullptr if there is none.
  HEAPWISE_ALWAYS_INLINE void* pop() noexcept {
    if (hot_is_free_) [[likely]] {
      hot_is_free_ = false;
      HEAPWISE_ASSUME(hot_ != nullptr);
      return hot_;
    }
    if (leaf_size_ != 0) [[likely]]
      return leaf_[--leaf_size_];
    return pop_node();
  }

  /// The number of full nodes below the top one; `detach_full_nodes` takes exactly these.
  [[nodiscard]] std::size_t full_nodes() const noexcept { return full_nodes_; }

  [[nodiscard]] bool empty() const noexcept {
    return !hot_is_free_ && leaf_ == nullptr && node_ == nullptr;
  }

  /// Effects: takes out all full nodes below the top one.
  nodes detach_full_nodes() noexcept {
    nodes run{};
    if (full_nodes_ == 0) return run;
    run = {links_.load(node_), tail_, full_nodes_};
    links_.store(node_, nullptr);
    full_nodes_ = 0;
    return run;
  }

  /// Effects: adds a run of full nodes that a list of the same shape gave away.
  void attach_full_nodes(nodes run) noexcept {
    if (run.count == 0) return;
    if (node_ == nullptr) {
      node_ = static_cast<void**>(run.head);
      node_size_ = node_capacity_;
      tail_ = run.tail;
      full_nodes_ = run.count - 1;
      fetch_leaves();
      return;
    }
    links_.store(run.tail, links_.load(node_));
    if (full_nodes_ == 0) tail_ = run.tail;
    links_.store(node_, run.head);
    full_nodes_ += run.count;
  }

  /// Effects: calls visit(block) for each block of the list, in no certain order. `visit` must not
  /// change the list or the blocks. Complexity: O(blocks).
  template <class Visit>
  void visit(Visit&& visit_block) const {
    if (hot_is_free_) visit_block(hot_);
    if (leaf_ != nullptr) visit_leaf(leaf_, leaf_size_, visit_block);
    for (std::uint32_t i = 1; node_ != nullptr && i <= node_size_; ++i) {
      visit_leaf(static_cast<void**>(node_[i]), leaf_capacity_, visit_block);
    }
    if (node_ == nullptr) return;
    visit_block(static_cast<void*>(node_));
    visit_full_nodes(links_.load(node_), visit_block);
  }

  /// Effects: as visit, for the blocks of a run of full nodes that no list has.
  template <class Visit>
  void visit_full_nodes(void* head, Visit&& visit_block) const {
    for (void* node = head; node != nullptr; node = links_.load(node)) {
      visit_block(node);
      for (std::uint32_t i = 1; i <= node_capacity_; ++i) {
        visit_leaf(static_cast<void**>(static_cast<void**>(node)[i]), leaf_capacity_, visit_block);
      }
    }
  }

  /// The number of blocks that a full node stands for, itself included.
  [[nodiscard]] constexpr std::size_t blocks_per_node() const noexcept {
    return 1 + std::size_t{node_capacity_} * (1 + leaf_capacity_);
  }

 private:
  /// Words used of a leaf and of a node, at most: one cache line of 64 bytes.
  static constexpr std::size_t words_used = cache_line_bytes / sizeof(void*);

  static constexpr std::uint32_t leaf_capacity(std::size_t stride_bytes) noexcept {
    const std::size_t words = std::min(stride_bytes / sizeof(void*), words_used);
    return Links::unrolled && words >= 2 ? static_cast<std::uint32_t>(words) : 0;
  }
  static constexpr std::uint32_t node_capacity(std::uint32_t leaf_capacity) noexcept {
    return leaf_capacity == 0 ? 0 : leaf_capacity - 1;
  }
  /// The next smaller shape: as many leaves as a leaf has blocks; 0 is a plain chain.
  [[nodiscard]] constexpr std::uint32_t smaller() const noexcept {
    return leaf_capacity_ == node_capacity_ ? leaf_capacity_ - 1 : node_capacity_;
  }

  template <class Visit>
  static void visit_leaf(void** leaf, std::uint32_t size, Visit& visit_block) {
    for (std::uint32_t i = 0; i < size; ++i) visit_block(leaf[i]);
    visit_block(static_cast<void*>(leaf));
  }

  HEAPWISE_ALWAYS_INLINE bool push_node(void* block) noexcept {
    if (leaf_ != nullptr) {
      foresee(block);
      node_[++node_size_] = leaf_;
    }
    leaf_size_ = 0;
    if (node_ == nullptr || node_size_ == node_capacity_) {
      leaf_ = nullptr;
      return start_node(block);
    }
    leaf_ = static_cast<void**>(block);
    return false;
  }

  /// Blocks that are freed in address order become leaves at even distances: a leaf a few ahead is
  /// fetched long before it is written to. The processor's own prefetchers do not see so wide a
  /// stride, and its stores wait for each other. A wrong guess costs one cache line.
  HEAPWISE_ALWAYS_INLINE void foresee(void* block) noexcept {
    constexpr std::ptrdiff_t near_bytes = 2048; // further apart, it is not an order
    constexpr std::ptrdiff_t leaves_ahead = 4;  // measured: a miss takes as long as their filling
    const std::ptrdiff_t step =
        reinterpret_cast<std::intptr_t>(block) - reinterpret_cast<std::intptr_t>(leaf_);
    if (step > -near_bytes && step < near_bytes) {
      HEAPWISE_PREFETCH_TO_WRITE(
          reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(block) + leaves_ahead * step));
    }
  }

  HEAPWISE_ALWAYS_INLINE bool start_node(void* block) noexcept {
    const bool completes = node_ != nullptr;
    if (completes && full_nodes_++ == 0) tail_ = node_;
    links_.store(block, node_);
    node_ = static_cast<void**>(block);
    node_size_ = 0;
    return completes;
  }

  HEAPWISE_ALWAYS_INLINE void* pop_node() noexcept {
    if (leaf_ != nullptr) {
      void* const block = leaf_;
      leaf_ = nullptr;
      if (node_size_ != 0) take_leaf();
      return block;
    }
    if (node_size_ != 0) {
      take_leaf();
      return leaf_[--leaf_size_];
    }
    void* const block = node_;
    if (block != nullptr) next_node();
    return block;
  }

  HEAPWISE_ALWAYS_INLINE void take_leaf() noexcept {
    leaf_ = static_cast<void**>(node_[node_size_--]);
    leaf_size_ = leaf_capacity_;
  }

  HEAPWISE_ALWAYS_INLINE void next_node() noexcept {
    node_ = static_cast<void**>(links_.load(node_));
    if (node_ == nullptr) return;
    --full_nodes_;
    node_size_ = node_capacity_;
    fetch_leaves();
  }

  HEAPWISE_ALWAYS_INLINE void fetch_leaves() noexcept {
    for (std::uint32_t i = node_capacity_; i > 0; --i) HEAPWISE_PREFETCH(node_[i]);
    if constexpr (Links::unrolled) HEAPWISE_PREFETCH(node_[0]);
  }

  /// What no block's address can be: it is odd.
  static inline void* const no_block = reinterpret_cast<void*>(std::uintptr_t{1});

  void* hot_ = no_block;
  void** leaf_ = nullptr; // only beside a node that has room for it
  void** node_ = nullptr;
  std::uint32_t leaf_size_ = 0;
  std::uint32_t leaf_capacity_;
  std::uint32_t node_size_ = 0;
  std::uint32_t node_capacity_;
  std::size_t full_nodes_ = 0;
  void* tail_ = nullptr;
  bool hot_is_free_ = false;
  [[no_unique_address]] Links links_;
};

} // namespace heapwise::detail::inline v0_2
