// What the thread caches of a pool share: free blocks, in full nodes as far as possible.
#pragma once

#include <cstddef>

#include <heapwise/detail/free_list.hpp>

namespace heapwise::detail::inline v0_2 {

/// Full nodes that caches gave, the newest on top, and blocks that came one by one, from caches
/// that were not full. A cache takes whole nodes as long as there are any.
///
/// Thread safety: none, the pool has a lock. Complexity: O(1) for every function that does not say
/// otherwise.
template <class Links>
class depot {
 public:
  using free_list = detail::free_list<Links>;
  using nodes = typename free_list::nodes;

  /// Requires: `loose` is empty, and a list as those of the caches.
  explicit depot(const free_list& loose, const Links& links) noexcept
      : loose_{loose}, links_{links} {}

  /// Effects: adds a run of full nodes.
  void give(nodes run) noexcept {
    if (run.count == 0) return;
    links_.store(run.tail, top_);
    top_ = run.head;
  }

  /// Effects: adds a block.
  void give(void* block) noexcept {
    if (loose_.push(block)) give(loose_.detach_full_nodes());
  }

  /// Returns: the newest full nodes, up to `count` of them. Complexity: O(count).
  nodes take(std::size_t count) noexcept {
    if (top_ == nullptr || count == 0) return {};
    nodes run{top_, top_, 1};
    void* below = links_.load(run.tail);
    for (; run.count < count && below != nullptr; ++run.count) {
      run.tail = below;
      below = links_.load(below);
    }
    top_ = below;
    links_.store(run.tail, nullptr);
    return run;
  }

  /// Returns: a block that came alone, nullptr if there is none.
  void* take_loose() noexcept { return loose_.pop(); }

  /// Effects: calls visit(block) for each block, in no certain order. `visit` must not change the
  /// depot or the blocks. Complexity: O(blocks).
  template <class Visit>
  void visit(Visit&& visit_block) const {
    loose_.visit(visit_block);
    loose_.visit_full_nodes(top_, visit_block);
  }

 private:
  void* top_ = nullptr;
  free_list loose_;
  [[no_unique_address]] Links links_;
};

} // namespace heapwise::detail::inline v0_2
