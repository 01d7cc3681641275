// The blocks that live, by address: open addressing, linear probing, no tombstones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drain/calls/zeroed_array.hpp"

namespace heapwise::bench {

struct live_block {
  std::uint64_t address = 0; ///< 0: an empty place
  std::uint64_t number = 0;
  std::uint64_t words = 0; ///< size, and the logarithm of the alignment in the lowest 8 bits
  std::uint32_t site = 0;
  std::uint32_t thread = 0;

  [[nodiscard]] static std::uint64_t pack(std::uint64_t size, std::uint8_t alignment_log) noexcept {
    return size << 8 | alignment_log;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return words >> 8; }
  [[nodiscard]] std::uint8_t alignment_log() const noexcept {
    return static_cast<std::uint8_t>(words);
  }
};
static_assert(sizeof(live_block) == 32);

class live_blocks {
 public:
  live_blocks() { clear(); }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// Whether the table may be in no cache that is near.
  [[nodiscard]] bool is_large() const noexcept { return mask_ >= large_places; }

  /// Asks for the line in which a search for `address` will begin.
  void prefetch(std::uint64_t address) const noexcept {
    __builtin_prefetch(&places_[home(address)]);
  }

  /// Null if no block lives there. Valid until the next call that changes the table.
  [[nodiscard]] live_block* find(std::uint64_t address) noexcept {
    for (std::size_t at = home(address);; at = next(at)) {
      if (places_[at].address == address) return &places_[at];
      if (places_[at].address == 0) return nullptr;
    }
  }

  /// The place of the address: a block that lives there (its address is that), or an empty place
  /// that may be filled, with place_new(). Valid until the next call that changes the table.
  [[nodiscard]] live_block* place_for(std::uint64_t address) {
    if (count_ * 2 > mask_) [[unlikely]]
      grow();
    std::size_t at = home(address);
    while (places_[at].address != address && places_[at].address != 0) at = next(at);
    return &places_[at];
  }

  /// `place` is empty, and of place_for() with the address of the block.
  void place_new(live_block* place, const live_block& block) noexcept {
    *place = block;
    ++count_;
  }

  /// `block` is of find(). Later ones move up, so that a search never meets a gap.
  void erase(live_block* block) noexcept {
    auto gap = static_cast<std::size_t>(block - places_.data());
    for (std::size_t at = next(gap); places_[at].address != 0; at = next(at)) {
      const std::size_t wanted = home(places_[at].address);
      // Whether `wanted` lies, on the circle, after the gap and up to `at`.
      if (((at - wanted) & mask_) < ((at - gap) & mask_)) continue;
      places_[gap] = places_[at];
      gap = at;
    }
    places_[gap].address = 0;
    --count_;
  }

  void clear() {
    places_ = zeroed_array<live_block>{first_places};
    mask_ = first_places - 1;
    count_ = 0;
  }

  template <class Visit>
  void visit(Visit visit) const {
    for (const live_block& each : places_) {
      if (each.address != 0) visit(each);
    }
  }

 private:
  static constexpr std::size_t first_places = 1024;
  static constexpr std::size_t large_places = 262144 / sizeof(live_block);

  [[nodiscard]] std::size_t home(std::uint64_t address) const noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>((address >> 4) * golden >> 32) & mask_;
  }

  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }

  void place(const live_block& block) noexcept {
    std::size_t at = home(block.address);
    while (places_[at].address != 0) at = next(at);
    places_[at] = block;
  }

  /// Twice as many places, without a second table. A block that is at home in place h of the
  /// smaller one is at home in h or in h + size, with the same hash. The blocks are moved in the
  /// order of their places, so one that stays in the lower half finds a place not behind its own,
  /// since all before it, from its home on, have been moved. The upper half has only moved blocks.
  /// Only the blocks at the beginning may be at home at the end of the smaller table; so they are
  /// put aside, and come last.
  void grow() {
    const std::size_t size = places_.size();
    std::vector<live_block> first;
    places_.grow(size * 2);
    mask_ = places_.size() - 1;
    for (std::size_t at = 0; at != size && places_[at].address != 0; ++at) {
      first.push_back(places_[at]);
      places_[at].address = 0;
    }
    for (std::size_t at = first.size(); at != size; ++at) {
      const live_block block = places_[at];
      if (block.address == 0) continue;
      places_[at].address = 0;
      place(block);
    }
    for (const live_block& block : first) place(block);
  }

  zeroed_array<live_block> places_;
  std::size_t mask_ = 0; ///< how many places, a power of two, less 1
  std::size_t count_ = 0;
};

} // namespace heapwise::bench
