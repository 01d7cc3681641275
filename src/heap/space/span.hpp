// A span: slices side by side that hold blocks of one class, or one large block. What the heap
// knows of it lies apart from it, so that no overrun reaches it.
//
// The life of a slice. Its state is written in three places: its bit in the space's map of used
// slices (slice_map), the member `use` of its record, and its byte in heap_map::classes. `free`
// reads the byte only.
//
//   state       | bit | use    | byte        | the transition to it is made by
//   ------------+-----+--------+-------------+-----------------------------------------------------
//   free        | 0   | none   | no_class    | space::give, with the space's lock
//   taken       | 1   | none   | no_class    | space::take, with the space's lock
//   small       | 1   | small  | its class   | bin::make_span, with the bin's lock
//   mixed       | 1   | mixed  | mixed_class | mixed_spans::adopt, with the locks of the bin and of
//               |     |        |             | the mixed spans
//   owned       | 1   | owned  | no_class    | owned_blocks::allocate, with the lock of its heap
//   large       | 1   | large  | no_class    | make_large, without a lock: the slice was taken
//   stocked     | 1   | none   | no_class    | large_stock::keep, with the lock of the stock;
//               |     |        |             | keep_to_grow, by a compare-exchange
//   held        | 1   | held   | no_class    | hold_back_large, without a lock; it stays held while
//               |     |        |             | it is stocked afterwards
//   inner slice | 1   | inside | its span's  | the maker of the span, before the first slice's
//   in a purge  | 1   | none   | no_class    | space::purge_run, with the space's lock
//   lost        | 1   | none   | no_class    | space::retire, space::pass_over; for ever
//
// A slice goes from free to taken to one of small, owned and large; from small to mixed; and from
// each of them back to free. `free` and `taken` are told apart by the bit alone. An inner slice
// keeps `inside` when it is freed, until it is the first slice of a span again: what a record says
// is of an earlier life unless the bit, the byte or the first slice of its span confirms it.
//
// Once a thread has taken a span out of its state, only that thread owns it. Small, mixed and owned
// spans leave with their lock held. A large block leaves by a compare-exchange of `use`
// (close_large): of two threads that free it, one gets it, and the other reports.
//
// Which threads read without these locks, and why that is right:
//
// - `free` reads the byte of a block's slice, relaxed. The block was handed to this thread after
//   the byte was written, and whatever handed it over (a lock, or the program's own means) orders
//   the two. While the block is in use the byte changes at most from its class to mixed_class. A
//   reader of the old byte puts the block into its cache as one of that class, which it is; the bin
//   finds out that the span is mixed (next point) when the block leaves the cache.
// - The bin's put_back reads `key`, relaxed, with the bin's lock. The key of this bin was written
//   with that lock; any other one says that the span is not this bin's. Then put_back_alone reads
//   `use`, acquire; the partner is the release in mixed_spans::adopt. It sees small or mixed: the
//   span has a block in use, so it is not freed meanwhile.
// - usable_bytes reads the byte, and then has an acquire fence; the partner is the release in
//   space::set_class. It sees the classes of the blocks that adopt wrote down before.
// - look_up (lookup.cpp) reads `use`, acquire; the partners are the releases in make_large and
//   owned_blocks::allocate. It sees the length and the owner. For a pointer that is not a block
//   it may see any state, and reports.
// - The clock reads the byte, relaxed, to learn whose lock it needs. With that lock held,
//   bin::purge_pages reads it again: a bin writes the bytes of its spans with its lock only.
// - space::record reads the count of committed slices, acquire; the partner is the release in
//   space::commit_to, after the tables for them were mapped.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heap/base/sharing.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::detail {

inline constexpr std::size_t granules_of_a_slice = slice_bytes / granule_bytes;

class owned_blocks;

/// What a slice is used for: see the table above.
enum class slice_use : std::uint8_t {
  none,   // free, or never used
  inside, // not the first slice of its span
  small,  // blocks of one class, shared by all threads
  owned,  // blocks of one class that belong to a heap of its own
  mixed,  // blocks of all classes, shared by all threads
  large,  // one block
  held,   // one block that was freed, and is held back (large_quarantine.hpp)
};

/// One bit for each block (of a span of small blocks): set when it is in the span, not in any cache
/// and not in use.
class block_map {
 public:
  static constexpr std::uint32_t bits = granules_of_a_slice;
  static constexpr std::uint32_t word_bits = 64;

  void fill(std::uint32_t count) noexcept {
    const std::uint32_t whole = count / 64;
    for (std::uint32_t each = 0; each < whole; ++each) words_[each] = ~std::uint64_t{0};
    if (count % 64 != 0) words_[whole] = (std::uint64_t{1} << (count % 64)) - 1;
  }
  /// Returns: how many of the first `limit` bits are set.
  [[nodiscard]] std::uint32_t count(std::uint32_t limit) const noexcept {
    std::uint32_t set = 0;
    for (std::uint32_t word = 0; word * 64 < limit; ++word) {
      const std::uint32_t behind = limit - word * 64;
      const std::uint64_t mask = behind < 64 ? (std::uint64_t{1} << behind) - 1 : ~std::uint64_t{0};
      set += static_cast<std::uint32_t>(std::popcount(words_[word] & mask));
    }
    return set;
  }
  [[nodiscard]] bool test(std::uint32_t block) const noexcept {
    return (words_[block / 64] >> (block % 64) & 1) != 0;
  }
  [[nodiscard]] std::uint64_t word(std::size_t number) const noexcept { return words_[number]; }
  void set(std::uint32_t block) noexcept { words_[block / 64] |= std::uint64_t{1} << (block % 64); }
  void set_run(std::uint32_t first, std::uint32_t count) noexcept {
    each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  }
  void clear_run(std::uint32_t first, std::uint32_t count) noexcept {
    each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
  }

  /// Effects: sets bits of one word if none of them is set. Returns: whether that is so.
  [[nodiscard]] bool set_if_clear(std::uint32_t word, std::uint64_t mask) noexcept {
    if ((words_[word] & mask) != 0) return false;
    words_[word] |= mask;
    return true;
  }
  /// Effects: sets the bit of a block in a copy of its word. Returns: whether it was set before.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE static bool test_and_set(std::uint64_t& word,
                                                                std::size_t block) noexcept {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    bool was_set = false; // by one instruction, of which compilers make three or more
    __asm__("btsq %2, %0" : "+r"(word), "=@ccc"(was_set) : "r"(block));
    return was_set;
#else
    const bool was_set = (word >> block % word_bits & 1) != 0;
    word |= std::uint64_t{1} << block % word_bits;
    return was_set;
#endif
  }
  /// Effects: sets the bit of a block if it is clear. Returns: whether it was.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool set_one_if_clear(std::size_t block) noexcept {
    std::uint64_t word = words_[block / word_bits];
    if (test_and_set(word, block)) [[unlikely]]
      return false;
    words_[block / word_bits] = word;
    return true;
  }
  /// Returns: the word with the bit of a block.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::uint64_t& word_of(std::size_t block) noexcept {
    return words_[block / word_bits];
  }

  /// Effects: clears the lowest `count` set bits, and calls `take(first, length)` for runs that are
  /// all of them, in order. Requires: as many are set.
  template <class Take>
  void take_lowest(std::uint32_t count, Take take) noexcept {
    expects([&] { return count <= this->count(bits); }, "as many bits are set as are taken");
    for (std::size_t word = 0; count > 0; ++word) {
      while (words_[word] == 0) ++word;
      std::uint64_t left = words_[word];
      while (left != 0 && count > 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto run = static_cast<std::uint32_t>(std::countr_one(left >> bit));
        const std::uint32_t length = run < count ? run : count;
        left &= ~((~std::uint64_t{0} >> (64 - length)) << bit);
        count -= length;
        take(static_cast<std::uint32_t>(word) * 64 + bit, length);
      }
      words_[word] = left;
    }
  }

  /// Effects: clears `count` set bits, and calls `take(bit)` for each. From each word, beginning
  /// with `first_word`, takes bits that a word from draw_word() also has, starting at a position
  /// drawn with it. If the first `limit` bits have too few of these, takes others.
  /// Requires: at least `count` of the first `limit` bits are set.
  template <class DrawWord, class Take>
  void take_scattered(std::uint32_t count, std::uint32_t limit, std::uint32_t first_word,
                      DrawWord draw_word, Take take) noexcept {
    expects([&] { return count <= this->count(limit); }, "as many bits are set as are taken");
    for (std::uint32_t word = first_word; count > 0 && word * word_bits < limit; ++word) {
      take_chosen(count, word, draw_word(), take);
    }
    for (std::uint32_t word = 0; count > 0; ++word)
      take_chosen(count, word, ~std::uint64_t{0}, take);
  }

  // Always inlined: GCC takes a function that only prefetches for one without an effect, and
  // deletes the calls of it.
  HEAPWISE_ALWAYS_INLINE void prefetch(std::uint32_t block) const noexcept {
    HEAPWISE_PREFETCH_TO_WRITE(&words_[block / 64]);
  }

  /// Returns: the first block at or after `from` whose bit is `value`, or `limit`.
  [[nodiscard]] std::uint32_t find(bool value, std::uint32_t from,
                                   std::uint32_t limit) const noexcept {
    const std::uint64_t flip = value ? 0 : ~std::uint64_t{0};
    for (std::uint32_t word = from / 64; word * 64 < limit; ++word) {
      std::uint64_t candidates = words_[word] ^ flip;
      if (word == from / 64) candidates &= ~std::uint64_t{0} << (from % 64);
      if (candidates != 0) {
        const std::uint32_t index =
            word * 64 + static_cast<std::uint32_t>(std::countr_zero(candidates));
        return index < limit ? index : limit;
      }
    }
    return limit;
  }

 private:
  /// Effects: as take_scattered, for the bits of one word that `mask` has. `count` are left.
  template <class Take>
  void take_chosen(std::uint32_t& count, std::uint32_t word, std::uint64_t mask,
                   Take& take) noexcept {
    const auto first = static_cast<int>(mask >> (word_bits - 6)); // as good as any number below 64
    std::uint64_t left = std::rotr(words_[word] & mask, first);
    for (; count > 0 && left != 0; --count, left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(left) + first) % word_bits;
      words_[word] &= ~(std::uint64_t{1} << bit);
      take(word * word_bits + bit);
    }
  }

  template <class Change>
  void each_word(std::uint32_t first, std::uint32_t count, Change change) noexcept {
    const std::uint32_t begin = first % word_bits;
    if (count != 0 && begin + count <= word_bits) { // mostly
      change(words_[first / word_bits], (~std::uint64_t{0} >> (word_bits - count)) << begin);
      return;
    }
    const std::uint32_t end = first + count;
    while (first < end) {
      const std::uint32_t from = first % 64;
      const std::uint32_t length = end - first < 64 - from ? end - first : 64 - from;
      change(words_[first / 64], (~std::uint64_t{0} >> (64 - length)) << from);
      first += length;
    }
  }

  std::array<std::uint64_t, bits / 64> words_;
};

/// A byte that one thread may read while another writes it, without an order.
class relaxed_byte {
 public:
  void operator=(std::uint8_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  operator std::uint8_t() const noexcept { return value_.load(std::memory_order_relaxed); }
  /// Effects: changes it if it is still `from`.
  void change(std::uint8_t from, std::uint8_t to) noexcept {
    value_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint8_t> value_;
};

/// What the clock knows of a span of small blocks. Blocks that come or go make it `touched`, with
/// the lock of the span's bin. The clock's next look makes it `untouched`, and the one after that
/// gives its free pages back (`in_purge`) and makes it `settled`, unless it was touched meanwhile.
/// Settled spans are passed over, and no lock is taken for them.
enum touch : std::uint8_t { untouched, touched, in_purge, settled };

/// What is known of a span of small blocks. Its bin's lock guards it.
struct small_facts {
  std::uint64_t purged_pages; // pages that were given back and hold free blocks only
  std::int32_t below;         // how many free blocks there are less than most_free
  std::uint16_t most_free;    // if more are free, it belongs into another list, or is empty
  std::uint8_t fullness;      // which list it is in

  [[nodiscard]] std::uint32_t free_blocks() const noexcept {
    return static_cast<std::uint32_t>(most_free - below);
  }
  /// Effects: counts blocks that came back. Returns: whether the span belongs into another list.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool add_free(std::uint32_t blocks) noexcept {
    return (below -= static_cast<std::int32_t>(blocks)) < 0; // one instruction
  }
  void remove_free(std::uint32_t blocks) noexcept { below += static_cast<std::int32_t>(blocks); }
  void set_free(std::uint32_t blocks) noexcept {
    below = most_free - static_cast<std::int32_t>(blocks);
  }
  /// Effects: from now on the span belongs into another list if more than these are free.
  void set_most_free(std::uint16_t most) noexcept {
    const std::uint32_t free = free_blocks();
    most_free = most;
    set_free(free);
  }
};

/// What is known of a mixed span. The lock of the mixed spans guards it. Lengths are in granules.
struct mixed_facts {
  std::uint64_t purged_pages; // as of a span of small blocks
  std::uint32_t free_granules;
  std::uint16_t longest_hole; // no hole is longer
  std::uint16_t searched;     // the next search for holes begins here
  std::uint16_t longest_seen; // of the holes before that
  std::uint8_t list;          // which list it is in
};

/// What is known of a block that has all of the slices of its span: a large one, also while it is
/// stocked or held, or one of a heap of its own. Only the thread that has the span writes it.
struct large_facts {
  std::size_t usable_bytes;
  // What is behind these is not in use; at most `worth_purging_slices` (large_blocks.hpp) of it may
  // be resident.
  std::size_t touched_bytes;
  bool grows;           // it is small still, and counts among those that grow
  bool is_fresh;        // no page was resident when it was made; held: none is, as far as known
  os::hidden_by hidden; // held: all of its pages
  std::uint32_t sample; // its number in the sample of blocks (sampled_blocks.hpp), or 0
};

/// What is known of a span with blocks of one class that belong to a heap of its own.
struct owned_facts {
  std::size_t block_bytes;
};

/// Names a bin: the one of a class in a shard. No bin has the key 0.
class bin_key {
 public:
  constexpr bin_key() noexcept = default;
  constexpr bin_key(size_class class_index, std::uint8_t shard) noexcept
      : word_{static_cast<std::uint16_t>(class_index | unsigned{shard} << 8)} {}

  [[nodiscard]] constexpr size_class class_index() const noexcept { return word_ & 0xffU; }
  [[nodiscard]] constexpr std::uint8_t shard() const noexcept {
    return static_cast<std::uint8_t>(word_ >> 8);
  }
  [[nodiscard]] constexpr bool operator==(const bin_key&) const noexcept = default;

 private:
  std::uint16_t word_ = 0;
};

struct span {
  span* next; // in the list of its bin that holds spans about as full
  span* previous;
  std::atomic<slice_use> use;
  std::uint8_t class_index; // size_class; no_class: one block has all of the slices
  relaxed_byte touched;     // of the clock: see `touch`
  // Small and large: whose span it is; never changes meanwhile.
  std::atomic<std::uint8_t> shard;
  std::uint32_t slices; // of the whole span; of an inner slice: how far behind the first it is
  std::uint32_t pieces; // mappings that moved pages are, up to the next `mend`
  os::hidden_by behind; // large: the pages behind its bytes; small: the last page
  // Of the bin that the span is in; else 0. Written with that bin's lock, so a thread that holds a
  // lock and finds the key of its bin knows that the span stays there.
  std::atomic<bin_key> key;
  union { // by the state, which `use` and `class_index` say
    small_facts small;
    mixed_facts mixed;
    large_facts large;
    owned_facts owned;
  };
  owned_blocks* owner; // owned: whose
  [[no_unique_address]] line_mark<shared::span_record> mark;
  block_map free_map;
};

/// Returns: the bits of `count` pages from `first` on. Requires: count > 0, all below 64.
constexpr std::uint64_t page_bits(std::size_t first, std::size_t count) noexcept {
  expects(count > 0 && first + count <= 64, "pages of a span have bits");
  return (~std::uint64_t{0} >> (64 - count)) << first;
}

} // namespace heapwise::detail
