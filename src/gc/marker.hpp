// The inner loop of a collection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/mark_stack.hpp"
#include "gc/space.hpp"
#include "heapwise/detail/config.hpp"
#include "os/world.hpp"

namespace heapwise::gc {

/// One thread's share of marking. `Shared`: others mark at the same time.
class marker {
 public:
  [[nodiscard]] bool start(std::size_t stack_bytes) noexcept { return stack_.start(stack_bytes); }

  void begin(const map& where) noexcept {
    where_ = where;
    marked_bytes_ = 0;
    overflowed_ = false;
  }
  void end() noexcept { stack_.shrink(); }

  /// Effects: marks what the words in [begin, end) point to, and notes it down.
  template <bool Shared, bool Interior>
  HEAPWISE_READS_ANYTHING void scan(const void* begin, const void* end) noexcept {
    // From the end, so that what the first word leads to lies on top and comes next: blocks that
    // were made in one go lie in that order.
    const auto* const first = static_cast<const std::uintptr_t*>(begin);
    for (const auto* at = static_cast<const std::uintptr_t*>(end); at != first;) {
      consider<Shared, Interior>(*--at);
    }
  }

  /// Effects: looks through all blocks noted down, and those they lead to. `meanwhile` is called
  /// now and then; `long_block` gets the blocks that are better looked through in pieces.
  template <bool Shared, bool Interior, class Meanwhile, class LongBlock>
  HEAPWISE_READS_ANYTHING void drain(Meanwhile meanwhile, LongBlock long_block) noexcept {
    // Blocks are fetched when they leave the stack, and looked through a few blocks later, when
    // they have arrived: Cher, Hosking, Vitek: Software prefetching for mark-sweep garbage
    // collection, ASPLOS 2004.
    std::array<grey, in_flight> arriving{};
    std::size_t turn = 0;
    std::size_t idle_turns = 0;
    while (idle_turns < in_flight || !stack_.empty()) {
      grey next{};
      if (!stack_.empty()) {
        next = stack_.pop();
        HEAPWISE_PREFETCH(next.block());
        idle_turns = 0;
        if constexpr (Shared) meanwhile();
      } else {
        ++idle_turns;
      }
      const grey now = arriving[turn];
      arriving[turn] = next;
      turn = (turn + 1) % in_flight;
      if (!now) continue;
      look_through<Shared, Interior>(now, long_block);
    }
  }

  [[nodiscard]] mark_stack& stack() noexcept { return stack_; }
  [[nodiscard]] std::size_t marked_bytes() const noexcept { return marked_bytes_; }
  [[nodiscard]] bool overflowed() noexcept { return overflowed_; }
  void forget_overflow() noexcept { overflowed_ = false; }

 private:
  static constexpr std::size_t in_flight = 8;

  template <bool Shared, bool Interior, class LongBlock>
  HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING void look_through(grey now,
                                                                   LongBlock long_block) noexcept {
    const auto* const words = static_cast<const std::uintptr_t*>(now.block());
    if (now.of() == 1) { // two words: the most frequent of small blocks
      const std::uintptr_t second = words[1];
      const std::uintptr_t first = words[0];
      consider<Shared, Interior>(second);
      consider<Shared, Interior>(first);
    } else if (now.of() < small_kinds) {
      scan<Shared, Interior>(words, words + kind_table[now.of()].bytes / sizeof(std::uintptr_t));
    } else {
      long_block(words);
    }
  }

  /// The question that a collection asks most: is this word the address of a block, and is that
  /// marked? Three instructions say no to what is no address of the heap.
  template <bool Shared, bool Interior>
  HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING void consider(std::uintptr_t word) noexcept {
    const std::uintptr_t offset = word - where_.base;
    if (offset >= where_.extent) return;
    const std::uintptr_t slice = offset / slice_bytes;
    const kind of = where_.kinds[slice].load(std::memory_order_relaxed);
    if (of >= small_kinds) [[unlikely]]
      return consider_large<Shared, Interior>(word);
    const kind_facts& facts = kind_table[of]; // of no_kind: no blocks
    const std::uintptr_t inside = offset % slice_bytes;
    const std::uint32_t block = block_at(facts, inside);
    if (block >= facts.blocks) return;
    const std::uintptr_t behind_first = inside - std::uintptr_t{block} * facts.bytes;
    if (!Interior && behind_first != 0) return;
    if (!mark<Shared>(where_.records[slice].marks[block / 64], block)) return;
    marked_bytes_ += facts.bytes;
    if (!facts.atomic) note({word - behind_first, of});
  }

  template <bool Shared, bool Interior>
  HEAPWISE_NOINLINE HEAPWISE_READS_ANYTHING void consider_large(std::uintptr_t word) noexcept {
    std::uintptr_t offset = word - where_.base;
    std::uintptr_t slice = offset / slice_bytes;
    if (where_.kinds[slice].load(std::memory_order_relaxed) == inside_large) {
      if (!Interior) return;
      slice -= where_.records[slice].slices;
    }
    const slice_record& record = where_.records[slice];
    const std::uintptr_t behind_first = offset - slice * slice_bytes;
    if (!Interior && behind_first != 0) return;
    if (behind_first >= record.bytes) return;
    if (!mark<Shared>(where_.records[slice].marks[0], 0)) return;
    marked_bytes_ += record.bytes;
    const kind of = where_.kinds[slice].load(std::memory_order_relaxed);
    if (of == large) note({word - behind_first, of});
  }

  /// Returns: whether it was this call that marked it.
  template <bool Shared>
  HEAPWISE_ALWAYS_INLINE static bool mark(std::atomic<std::uint64_t>& word,
                                          std::uint32_t block) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    // Relaxed: marks say nothing of other memory, and all of it stands still.
    const std::uint64_t before = word.load(std::memory_order_relaxed);
    if ((before & bit) != 0) return false;
    if constexpr (Shared) {
      return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    } else {
      word.store(before | bit, std::memory_order_relaxed);
      return true;
    }
  }

  HEAPWISE_ALWAYS_INLINE void note(grey item) noexcept {
    if (!stack_.push(item)) [[unlikely]]
      overflowed_ = true;
  }

  map where_;
  mark_stack stack_;
  std::size_t marked_bytes_ = 0;
  bool overflowed_ = false;
};

} // namespace heapwise::gc
