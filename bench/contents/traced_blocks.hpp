// The blocks that live while a trace is read, by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwise::bench {

/// What is known of the call that made a block. key: the number of the block and 1. An empty place
/// of the table has the key 0. stack: its place and 1; 0 if the trace has no stack of the block.
struct traced_block {
  std::uint64_t key = 0;
  std::uint64_t time = 0;
  std::uint64_t size = 0;
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
};

/// A hash table with linear probing (Knuth, volume 3, 6.4, algorithms L and R). Blocks whose
/// numbers follow each other lie in groups: most blocks end soon after those beside them.
class traced_blocks {
 public:
  traced_blocks() : table_(least), bits_{least_bits} {}

  void clear() {
    table_.assign(least, {});
    bits_ = least_bits;
    count_ = 0;
  }

  void add(std::uint64_t block, const traced_block& birth) {
    if (2 * (count_ + 1) > table_.size()) grow();
    put(block, birth);
    ++count_;
  }

  /// Takes the block out. Returns whether it was there.
  bool take(std::uint64_t block, traced_block& taken) {
    std::size_t at = home(block + 1);
    while (table_[at].key != block + 1) {
      if (table_[at].key == 0) return false;
      at = next(at);
    }
    taken = table_[at];
    --count_;
    close_gap(at);
    return true;
  }

  template <class Visit>
  void visit(Visit visit) const {
    for (const traced_block& each : table_) {
      if (each.key != 0) visit(each);
    }
  }

 private:
  static constexpr unsigned least_bits = 12;
  static constexpr std::size_t least = std::size_t{1} << least_bits;
  static constexpr unsigned group_bits = 3;

  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    const std::uint64_t group = (key >> group_bits) * golden >> (64 - bits_ + group_bits);
    return static_cast<std::size_t>(group << group_bits | (key & ((1U << group_bits) - 1)));
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
    return (at + 1) & (table_.size() - 1);
  }

  void put(std::uint64_t block, const traced_block& birth) {
    std::size_t at = home(block + 1);
    while (table_[at].key != 0) at = next(at);
    table_[at] = birth;
    table_[at].key = block + 1;
  }

  /// Moves blocks behind a place that is empty now to where a search for them begins.
  void close_gap(std::size_t gap) {
    for (std::size_t at = next(gap); table_[at].key != 0; at = next(at)) {
      const std::size_t wanted = home(table_[at].key);
      const std::size_t mask = table_.size() - 1;
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue; // it must not go before its home
      table_[gap] = table_[at];
      gap = at;
    }
    table_[gap].key = 0;
  }

  void grow() {
    std::vector<traced_block> old(2 * table_.size());
    old.swap(table_);
    ++bits_;
    for (const traced_block& each : old) {
      if (each.key != 0) put(each.key - 1, each);
    }
  }

  std::vector<traced_block> table_;
  unsigned bits_;
  std::size_t count_ = 0;
};

} // namespace heapwise::bench
