// The stacks of a trace, with the blocks that have one: made, live now, and live at the peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace heapwise::bench {

/// A block of this size or more has its stack; of the smaller ones few have one.
inline constexpr std::uint64_t large_bytes = 65536;

/// Blocks of one stack. The names are those of Sampled in Python, which explains them.
struct sampled_blocks {
  std::int64_t large_count = 0;
  std::int64_t large_bytes = 0;
  std::int64_t small_count = 0;
  std::int64_t small_bytes = 0;
  bool has_first = false;

  void change(std::uint64_t size, std::int32_t blocks, bool is_first) noexcept {
    const std::int64_t bytes = static_cast<std::int64_t>(size) * blocks;
    const bool is_large = size >= bench::large_bytes;
    (is_large ? large_count : small_count) += blocks;
    (is_large ? large_bytes : small_bytes) += bytes;
    if (is_first) has_first = blocks > 0;
  }
};

/// One of the stacks. first: the number of its first block, if that is a small one.
struct traced_stack {
  static constexpr std::uint64_t none = UINT64_MAX;

  std::vector<std::uint64_t> addresses;
  std::uint64_t first = none;
  sampled_blocks every;
};

class traced_stacks {
 public:
  /// Effects: one more block has this stack. block: its number; `traced_stack::none` for a call
  /// that made none, which counts as made and never lives. Returns: the place of the stack.
  std::size_t add(std::vector<std::uint64_t> addresses, std::uint64_t size, std::uint64_t block) {
    const auto [known, is_new] = places_.try_emplace(addresses, stacks_.size());
    const std::size_t place = known->second;
    if (is_new) {
      stacks_.push_back({std::move(addresses), traced_stack::none, {}});
      live_.emplace_back();
    }
    traced_stack& stack = stacks_[place];
    const bool is_first = is_new && size < large_bytes;
    stack.every.change(size, 1, is_first);
    if (block == traced_stack::none) return place;
    if (is_first) stack.first = block;
    follow(place, size, 1, is_first);
    return place;
  }

  /// Effects: a block of this stack lives no longer.
  void end(std::size_t place, std::uint64_t size, std::uint64_t block) {
    follow(place, size, -1, stacks_[place].first == block);
  }

  /// Effects: no block is known to live.
  void forget_live() { live_.assign(live_.size(), {}); }

  void begin_frame() {
    steps_.clear();
    highest_ = 0;
  }

  /// Effects: no place of the frame so far has more live bytes than this one.
  void mark_highest() noexcept { highest_ = steps_.size(); }

  /// Effects: the peak is at the highest place of the frame, which has ended.
  void keep_peak() {
    at_peak_ = live_;
    for (std::size_t i = steps_.size(); i > highest_; --i) {
      const step& later = steps_[i - 1];
      at_peak_[later.place].change(later.size, -later.blocks, later.is_first);
    }
  }

  /// Calls visit(stack, blocks at the peak, blocks that live now) in the order in which they came.
  template <class Visit>
  void visit(Visit visit) const {
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      visit(stacks_[i], i < at_peak_.size() ? at_peak_[i] : sampled_blocks{}, live_[i]);
    }
  }

 private:
  struct step {
    std::uint64_t size;
    std::size_t place;
    std::int32_t blocks; ///< 1 or -1
    bool is_first;
  };

  void follow(std::size_t place, std::uint64_t size, std::int32_t blocks, bool is_first) {
    live_[place].change(size, blocks, is_first);
    steps_.push_back({size, place, blocks, is_first});
  }

  std::vector<traced_stack> stacks_;
  std::vector<sampled_blocks> live_;
  std::vector<sampled_blocks> at_peak_;
  std::map<std::vector<std::uint64_t>, std::size_t> places_;
  std::vector<step> steps_; ///< of the frame; the first `highest_` lead to its highest place
  std::size_t highest_ = 0;
};

} // namespace heapwise::bench
