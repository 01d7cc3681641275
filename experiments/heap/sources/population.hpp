// The blocks of a program whose sizes change while it runs, and which of them go first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "harness/escape.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/random.hpp"
#include "sources/marks.hpp"

namespace heaps {

struct byte_range {
  std::uint32_t least;
  std::uint32_t most;
};

/// The program's blocks. What is to be done next is decided outside the clock, by planning.
class population {
 public:
  /// Throws std::bad_alloc.
  explicit population(std::size_t most_blocks) : blocks_{most_blocks} {}

  /// Decides what to allocate, any sizes of the range, until `full_bytes` are live.
  void plan_growth(std::uint64_t full_bytes, byte_range sizes,
                   heapwise::bench::random_numbers& random) {
    grown_ = live_;
    while (live_bytes_ < full_bytes && grown_ < blocks_.size()) {
      held& next = blocks_[grown_];
      const std::uint64_t choices = sizes.most - sizes.least + std::uint64_t{1};
      next.bytes = sizes.least + static_cast<std::uint32_t>(random.below(choices));
      next.mark = mark_of(grown_++);
      live_bytes_ += next.bytes;
    }
  }
  template <class Source>
  void grow(Source& source) {
    for (held& next : blocks_.span().subspan(live_, grown_ - live_)) {
      next.block = source.allocate(next.bytes);
      mark(next.block, next.bytes, next.mark);
    }
    live_ = grown_;
  }
  [[nodiscard]] std::size_t growth() const noexcept { return grown_ - live_; }

  /// Decides which blocks to free, any of them, until no more than `kept_bytes` are live.
  void plan_loss(std::uint64_t kept_bytes, heapwise::bench::random_numbers& random) {
    kept_ = live_;
    while (live_bytes_ > kept_bytes && kept_ != 0) {
      std::swap(blocks_[static_cast<std::size_t>(random.below(kept_))], blocks_[kept_ - 1]);
      live_bytes_ -= blocks_[--kept_].bytes;
    }
  }
  template <class Source>
  void shrink(Source& source) {
    for (const held& last : blocks_.span().subspan(kept_, live_ - kept_)) {
      source.deallocate(last.block, last.bytes);
      heapwise::bench::clobber();
    }
    live_ = kept_;
  }
  [[nodiscard]] std::size_t loss() const noexcept { return live_ - kept_; }

  [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  [[nodiscard]] std::size_t whole() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        blocks_.span().first(live_),
        [](const held& each) { return is_marked(each.block, each.bytes, each.mark); }));
  }

 private:
  struct held {
    void* block;
    std::uint32_t bytes;
    unsigned char mark;
  };

  heapwise::bench::mapped_array<held> blocks_; // the live ones first, in no order
  std::size_t live_ = 0;
  std::size_t grown_ = 0;
  std::size_t kept_ = 0;
  std::uint64_t live_bytes_ = 0;
};

} // namespace heaps
