// The inner loop of a collection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/mark/block_marks.hpp"
#include "gc/mark/displacements.hpp"
#include "gc/mark/mark_stack.hpp"
#include "gc/mark/marking.hpp"
#include "gc/space/space.hpp"
#include "gc/state/layouts.hpp"
#include "heapwise/detail/config.hpp"

namespace heapwise::gc {

/// One thread's share of marking. `Shared`: others mark at the same time. `Interior`: an address
/// inside of a block counts as one of the block.
class marker {
 public:
  [[nodiscard]] bool start(std::size_t stack_bytes) noexcept { return stack_.start(stack_bytes); }
  /// Effects: undoes `start`. Requires: nothing was marked since.
  void give_back() noexcept { stack_.end(); }

  /// The stack may hold blocks already, and may have overflowed.
  void begin(const map& where) noexcept { where_ = where; }
  void end() noexcept { stack_.shrink(); }

  /// Effects: marks what the words in [begin, end) point to, and notes it down.
  template <bool Interior>
  HEAPWISE_READS_ANYTHING void scan(const void* begin, const void* end) noexcept {
    const map where = where_;
    mark_stack::ends at = stack_.take_out();
    scan_words<Interior>(where, at, begin, end);
    stack_.put_back(at);
  }

  /// Effects: marks what the words of the block point to that its layout names, or what its marking
  /// function does. A block that was not handed out yet has no layout.
  template <bool Interior>
  HEAPWISE_NOINLINE HEAPWISE_READS_ANYTHING void scan_typed(const void* block,
                                                            kind block_kind) noexcept {
    const auto* const words = static_cast<const std::uintptr_t*>(block);
    const std::size_t bytes =
        block_kind < small_kinds ? kind_table[block_kind].bytes : bytes_of_large(where_, block);
    const std::size_t room = (bytes - layout_bytes(block_kind)) / sizeof(std::uintptr_t);
    const layout* const its = layout_at(words + room);
    if (its == nullptr) return;
    if (its->function != nullptr) return call_function(*its, block, *this);
    mark_stack::ends at = stack_.take_out();
    for (std::size_t element = 0; element < room; element += its->element_words) {
      for (std::size_t each = 0; each < its->count; ++each) {
        const std::size_t word = element + its->words()[each];
        if (word < room) consider<Interior>(where_, at, words[word]);
      }
    }
    stack_.put_back(at);
  }

  /// Effects: marks the block that the address is in, and notes it down.
  HEAPWISE_NOINLINE void mark_address(std::uintptr_t address) noexcept {
    mark_stack::ends at = stack_.take_out();
    consider<true>(where_, at, address);
    stack_.put_back(at);
  }

  /// Effects: what `scan`, `mark_address` and the like were led to is marked. `drain` does so, too.
  void settle_marks() noexcept {
    mark_stack::ends at = stack_.take_out();
    settle_all(at);
    stack_.put_back(at);
  }

  /// Effects: as `scan`, and for an address one past the end of a block, too. A loop that counts
  /// down has no other address of its block. Such a word may be the first byte of the next block,
  /// which is kept as well.
  HEAPWISE_READS_ANYTHING void scan_stack(const void* begin, const void* end) noexcept {
    const std::uintptr_t base = where_.base;
    const std::uintptr_t extent = where_.extent;
    for (const auto* word = static_cast<const std::uintptr_t*>(end); word != begin;) {
      --word;
      if (*word - base <= extent) consider_on_stack(*word); // few are
    }
  }

  /// Effects: looks through all blocks noted down, and those they lead to. When `others_wait()`,
  /// `share` is called with the stack, now and then; `long_block` gets the large blocks.
  template <bool Shared, bool Interior, class OthersWait, class Share, class LongBlock>
  HEAPWISE_READS_ANYTHING void drain(OthersWait others_wait, Share share,
                                     LongBlock long_block) noexcept {
    // Blocks are fetched when they leave the stack, and looked through a few blocks later, when
    // they have arrived: Cher, Hosking, Vitek: Software prefetching for mark-sweep garbage
    // collection, ASPLOS 2004.
    std::array<grey, in_flight> arriving{};
    const map where = where_;
    mark_stack::ends at = stack_.take_out();
    std::size_t taken = 0; // off the stack, and not looked through
    for (std::size_t turn = 0;; ++turn) {
      if (at.top == stack_.bottom()) {
        settle_all(at);
        if (taken == 0 && at.top == stack_.bottom()) break;
      }
      grey next{};
      if (at.top != stack_.bottom()) {
        next = *--at.top;
        fetch(next);
        ++taken;
      }
      grey now = next;
      // The only block that is known, as each of a list is: nothing can be done meanwhile.
      if (!next || taken != 1 || at.top != stack_.bottom()) {
        grey& place = arriving[turn % in_flight];
        now = place;
        place = next;
      }
      if (!now) continue;
      --taken;
      if (now.block_kind() < first_atomic) [[likely]] { // atomic ones are never noted down
        look_through<Interior>(where, at, now);
      } else {
        stack_.put_back(at);
        if (is_typed(now.block_kind())) {
          scan_typed<Interior>(now.block(), now.block_kind());
        } else {
          long_block(now.block());
        }
        at = stack_.take_out();
      }
      if (Shared && turn % turns_between_looks == 0 && others_wait()) [[unlikely]] {
        stack_.put_back(at);
        if (stack_.size() >= 2) share(stack_);
        at = stack_.take_out();
      }
    }
    stack_.put_back(at);
  }

  [[nodiscard]] mark_stack& stack() noexcept { return stack_; }
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  void forget_overflow() noexcept { overflowed_ = false; }

 private:
  static constexpr std::size_t in_flight = 16;
  static constexpr std::size_t turns_between_looks = 16;
  static constexpr std::uint32_t most_candidates = 8;

  /// A block that an address leads to, before it is known whether it is marked.
  struct candidate {
    mark* its_mark;
    grey block; // none: atomic
  };

  /// Effects: fetches both ends of the block, which lie in two cache lines for half of the blocks
  /// of 48 bytes. The last word is read first.
  HEAPWISE_ALWAYS_INLINE static void fetch(grey next) noexcept {
    HEAPWISE_PREFETCH(next.block());
    const kind block_kind = next.block_kind();
    if (block_kind == pair_kind || block_kind >= first_atomic) return;
    HEAPWISE_PREFETCH(static_cast<const std::byte*>(next.block()) + kind_table[block_kind].bytes -
                      sizeof(std::uintptr_t));
  }

  template <bool Interior>
  HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING void look_through(const map& where,
                                                                   mark_stack::ends& at,
                                                                   grey now) noexcept {
    const auto* const words = static_cast<const std::uintptr_t*>(now.block());
    if (now.block_kind() == pair_kind) {
      const std::uintptr_t second = words[1];
      const std::uintptr_t first = words[0];
      consider<Interior>(where, at, second);
      consider<Interior>(where, at, first);
    } else {
      scan_words<Interior>(where, at, words,
                           words + kind_table[now.block_kind()].bytes / sizeof(std::uintptr_t));
    }
  }

  template <bool Interior>
  HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING void scan_words(const map& where,
                                                                 mark_stack::ends& at,
                                                                 const void* begin,
                                                                 const void* end) noexcept {
    // From the end, so that what the first word leads to lies on top and comes next: blocks that
    // were made in one go lie in that order.
    const auto* const first = static_cast<const std::uintptr_t*>(begin);
    const auto* word = static_cast<const std::uintptr_t*>(end);
    while (word - first >= words_at_once) {
      word -= words_at_once;
      if (!any_in_heap(where, word)) continue;
      for (std::ptrdiff_t each = words_at_once; each > 0;)
        consider<Interior>(where, at, word[--each]);
    }
    while (word != first) consider<Interior>(where, at, *--word);
  }

  /// The question that a collection asks most: is this word the address of a block, and is that
  /// marked? Two instructions say no if it is not an address of the heap.
  template <bool Interior>
  HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING void consider(const map& where,
                                                               mark_stack::ends& at,
                                                               std::uintptr_t word) noexcept {
    const std::uintptr_t offset = word - where.base;
    if (offset >= where.extent) return;
    const std::uintptr_t slice = offset / slice_bytes;
    const kind block_kind = where.kinds[slice].load(std::memory_order_relaxed);
    if (block_kind == pair_kind) { // nothing to look up, nothing to divide
      if (!Interior && offset % granule_bytes != 0) [[unlikely]] {
        if (!the_displacements.has(offset % granule_bytes)) return;
        word -= offset % granule_bytes;
      }
      if (was_marked(where.marks[offset / granule_bytes])) return;
      note(at, {word - (Interior ? offset % granule_bytes : 0), block_kind});
      return;
    }
    if (block_kind >= small_kinds) [[unlikely]] {
      const grey block = consider_large(where, word, Interior);
      if (block) note(at, block);
      return;
    }
    const kind_facts& facts = kind_table[block_kind]; // of no_kind: no blocks
    const std::uintptr_t inside = offset % slice_bytes;
    const std::uint32_t block = block_at(facts, inside);
    if (block >= facts.blocks) return;
    const std::uintptr_t behind_first = inside - std::uintptr_t{block} * facts.bytes;
    if (!Interior && behind_first != 0 && !the_displacements.has(behind_first)) return;
    wait_for_mark(at, where.marks[slice * marks_of_slice + block],
                  facts.atomic ? grey{} : grey{word - behind_first, block_kind});
  }

  /// Effects: fetches the mark of a block, which is looked at after some more of them. Most marks
  /// of a large heap are in no near cache: looking at once took two thirds of marking a hash table.
  /// Those of blocks of two words are looked at once: they are mostly made in the order of their
  /// addresses.
  HEAPWISE_ALWAYS_INLINE void wait_for_mark(mark_stack::ends& at, mark& of_block,
                                            grey block) noexcept {
    HEAPWISE_PREFETCH(&of_block);
    candidates_[newest_++ % most_candidates] = {&of_block, block};
    if (newest_ - oldest_ == most_candidates) [[likely]]
      settle(at, candidates_[oldest_++ % most_candidates]);
  }

  HEAPWISE_ALWAYS_INLINE void settle(mark_stack::ends& at, const candidate& which) noexcept {
    if (!was_marked(*which.its_mark) && which.block) note(at, which.block);
  }

  HEAPWISE_ALWAYS_INLINE void settle_all(mark_stack::ends& at) noexcept {
    while (oldest_ != newest_) settle(at, candidates_[oldest_++ % most_candidates]);
  }

  HEAPWISE_NOINLINE void consider_on_stack(std::uintptr_t word) noexcept {
    mark_stack::ends at = stack_.take_out();
    consider<true>(where_, at, word);
    consider<true>(where_, at, word - 1); // of another block only if the word is where one begins
    stack_.put_back(at);
  }

  HEAPWISE_ALWAYS_INLINE void note(mark_stack::ends& at, grey item) noexcept {
    if (!stack_.push(at, item)) [[unlikely]]
      overflowed_ = true;
  }

  map where_;
  std::array<candidate, most_candidates> candidates_{};
  std::uint32_t newest_ = 0;
  std::uint32_t oldest_ = 0;
  mark_stack stack_;
  bool overflowed_ = false;
};

} // namespace heapwise::gc
