// Which of several rings has the earliest call: a loser tree (Knuth, The Art of Computer
// Programming, volume 3, section 5.4.1).
//
// If threads call at the same time, nearly each call is of another ring than the one before. The
// processor cannot predict such comparisons, so none of them decides about a jump: an order and its
// ring are one word, and a match keeps the larger word and hands on the smaller one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/shared.hpp"

namespace heapwise::bench {

class loser_tree {
 public:
  /// The order of a ring that has no call.
  static constexpr std::uint64_t no_order = UINT64_MAX;
  /// Larger orders count as this one, so that no call has no_order. Only stamps below 0 have such
  /// orders, and only a ring that does not begin with a whole stamp has those.
  static constexpr std::uint64_t most_order = UINT64_MAX / 2;

  /// Makes the tree of rings with these orders, of which `least` is the least and is not no_order.
  /// Orders that are larger than `least` by more than 2^51 (a week) count as no_order.
  void build(const std::vector<std::uint64_t>& orders, std::uint64_t least) {
    base_ = least - std::min(least, most_step_back);
    leaves_ = std::bit_ceil(std::max<std::size_t>(orders.size(), 1));
    losers_.resize(leaves_);
    winners_.resize(2 * leaves_);
    for (std::size_t leaf = 0; leaf != leaves_; ++leaf) {
      winners_[leaves_ + leaf] = word_of(leaf < orders.size() ? orders[leaf] : no_order, leaf);
    }
    for (std::size_t node = leaves_ - 1; node != 0; --node) {
      const std::uint64_t one = winners_[2 * node];
      const std::uint64_t other = winners_[2 * node + 1];
      losers_[node] = std::max(one, other);
      winners_[node] = std::min(one, other);
    }
    first_ = winners_[1];
  }

  /// The ring with the least order; of equal ones that with the least number.
  [[nodiscard]] std::size_t first() const noexcept { return first_ & leaf_mask; }

  /// For first_is_within(): up to this order, which is not below the least one of build().
  [[nodiscard]] std::uint64_t limit_of(std::uint64_t last_order) const noexcept {
    return std::min(last_order - base_, out_of_reach - 1) << leaf_bits | leaf_mask;
  }
  [[nodiscard]] bool first_is_within(std::uint64_t limit) const noexcept { return first_ <= limit; }

  /// The largest order with which first() would still be the first one.
  [[nodiscard]] std::uint64_t last_order_of_first() const noexcept {
    std::uint64_t second = UINT64_MAX;
    for (std::size_t node = (leaves_ + first()) / 2; node != 0; node /= 2) {
      second = std::min(second, losers_[node]);
    }
    const std::uint64_t order = base_ + (second >> leaf_bits);
    return first() < (second & leaf_mask) ? order : order - 1;
  }

  /// To be called when first() has another order, or none.
  [[gnu::always_inline]] void replace_first(std::uint64_t order) noexcept {
    // A copy: as far as the compiler knows, a word that is stored may be this pointer.
    std::uint64_t* const losers = losers_.data();
    std::uint64_t word = word_of(order, first());
    for (std::size_t node = (leaves_ + first()) / 2; node != 0; node /= 2) {
      const std::uint64_t other = losers[node];
      const std::uint64_t difference = (other ^ word) & all_bits_if(other < word);
      losers[node] = other ^ difference;
      word ^= difference;
    }
    first_ = word;
  }

 private:
  /// A value that the compiler knows nothing of: it would make a jump again (GCC 12), as it does of
  /// std::min and std::max.
  [[gnu::always_inline]] static std::uint64_t all_bits_if(bool condition) noexcept {
    std::uint64_t bits = -static_cast<std::uint64_t>(condition);
    asm("" : "+r"(bits));
    return bits;
  }

  static constexpr int leaf_bits = 12;
  static constexpr std::uint64_t leaf_mask = (1U << leaf_bits) - 1;
  static_assert(most_threads <= leaf_mask + 1);
  static constexpr std::uint64_t out_of_reach = UINT64_MAX >> leaf_bits;
  /// Stamps of one thread may go back a little, if its processors have different counters.
  static constexpr std::uint64_t most_step_back = std::uint64_t{1} << 40;

  [[nodiscard]] std::uint64_t word_of(std::uint64_t order, std::size_t leaf) const noexcept {
    return std::min(order - base_, out_of_reach) << leaf_bits | leaf;
  }

  std::uint64_t base_ = 0;
  std::uint64_t first_ = UINT64_MAX;  ///< order less base_, and number of a ring
  std::size_t leaves_ = 1;            ///< a power of two, so that each of them meets as many others
  std::vector<std::uint64_t> losers_; ///< by node; those below node n are 2 n and 2 n + 1
  std::vector<std::uint64_t> winners_;
};

} // namespace heapwise::bench
