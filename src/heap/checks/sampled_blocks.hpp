// A sample of the blocks in use, each with the calls that allocated it: the heap profile of the
// living process. Each byte is sampled with the same small chance, so a block of s bytes is with
// the chance 1 - exp(-s / mean). A small block that is sampled lies at a place of its own outside
// of the spans: its free is found by its address, without an instruction in the fast path of
// others.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "heap/base/invalid.hpp"
#include "heap/base/profile.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Whether the profile has a sample. In those that check every call each free looks at a block's
/// state, which such a place has not.
inline constexpr bool can_sample = !chosen_profile.keeps_states;

/// A block of the sample. Only `take` and `release` of the thread that has the block write it.
struct sampled_block {
  static constexpr std::size_t most_calls = 48;

  /// Even: nobody has it, or it changes. Odd: it stands for a block in use. It grows at each
  /// change, so that a reader knows whether what it read belongs together.
  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint32_t> next{0}; // in the list of free ones: a number and 1, or 0
  std::atomic<std::size_t> bytes{0};
  std::byte* stood_in_for = nullptr; // the block of a span whose place in the stack it took
  size_class class_index = no_class; // of that block; no_class: a large block, at its own place
  std::atomic<std::uint32_t> call_count{0};
  std::array<std::atomic<const void*>, most_calls> calls{};
};

/// The number of a block of the sample and 1; 0: the block is not in it.
using sample_number = std::uint32_t;

/// A block of a span that comes back because the sampled block that stood in for it was freed.
struct replaced_block {
  std::byte* block = nullptr;
  size_class class_index = no_class;
};

/// Thread safety: all, without a lock. Reading is safe in a handler of a signal.
class sampled_blocks {
 public:
  static constexpr std::size_t most = std::size_t{1} << 15;

  /// Effects: blocks may be sampled from now on, one of `mean` bytes, if the system gives the
  /// addresses. Requires: no other thread is in the heap, and the random numbers are seeded.
  void start(std::uint64_t mean) noexcept;

  /// Effects: some small blocks give way to others, in guarded pages. Requires: as `start`.
  void let_blocks_give_way() noexcept { some_give_way_ = true; }

  /// Returns: whether some small blocks give way to others: to sampled ones, or to those in guarded
  /// pages. Where each call is checked it is not asked.
  [[nodiscard]] bool some_blocks_give_way() const noexcept { return some_give_way_; }

  [[nodiscard]] bool is_on() const noexcept { return begin_ != nullptr; }
  [[nodiscard]] std::uint64_t mean_bytes() const noexcept { return mean_; }

  /// Returns: how many bytes are not sampled before the next one is.
  [[nodiscard]] std::uint64_t next_gap() const noexcept;

  /// Returns: a place for a block of the class, which stands in for `block` of a span; nullptr if
  /// there is none. Requires: is_on().
  [[nodiscard]] void* take(std::byte* block, size_class class_index) noexcept;

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_) <
           length_;
  }

  /// Returns: the usable bytes of a block at a place of `take`; 0 if there is no block in use.
  /// Requires: holds(address).
  [[nodiscard]] std::size_t bytes_of(const void* address) const noexcept;

  /// Returns: what is wrong with the address. Requires: holds(address), and bytes_of(address) == 0.
  [[nodiscard]] invalid fault_of(const void* address) const noexcept;

  /// Effects: frees a block of `take`. An address that is not one is reported. Returns: the block
  /// for which it stood. Requires: holds(address).
  [[nodiscard]] replaced_block release(std::byte* address) noexcept;

  /// Returns: a number for a large block that gets `more_bytes`, if one of them is sampled; else 0.
  /// `bytes`: those of the block.
  [[nodiscard]] sample_number take_large(std::size_t bytes, std::size_t more_bytes) noexcept;

  /// Effects: a sampled large block has another length. Returns: its number; 0 if it is not in the
  /// sample any more.
  [[nodiscard]] sample_number resize_large(sample_number number, std::size_t bytes) noexcept;

  /// Effects: a sampled large block is freed.
  void release_large(sample_number number) noexcept;

  /// How many were asked for, of all that could be.
  [[nodiscard]] std::uint32_t used() const noexcept {
    return fresh_.load(std::memory_order_relaxed); // as in pop_free
  }

  /// A block of the sample, as a reader has seen it.
  struct seen_block {
    std::size_t bytes = 0;
    std::uint32_t call_count = 0;
    const void* calls[sampled_block::most_calls];
  };

  /// Effects: reads the block with this number below used(). Returns: false if it is not in use, or
  /// changes.
  [[nodiscard]] bool read(std::uint32_t index, seen_block& into) const noexcept;

  /// Effects: a block that should have been sampled was not.
  void count_missed() noexcept { missed_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t place_bytes = max_small_bytes;

  [[nodiscard]] sampled_block* pop_free() noexcept;
  void push_free(sampled_block& block) noexcept;
  [[nodiscard]] std::uint32_t index_of(const sampled_block& block) const noexcept {
    return static_cast<std::uint32_t>(&block - blocks_);
  }
  [[nodiscard]] sampled_block& around(const void* address) const noexcept;
  [[nodiscard]] std::byte* place_of(const sampled_block& block) const noexcept {
    return begin_ + std::size_t{index_of(block)} * place_bytes;
  }

  // What `start` writes.
  bool some_give_way_ = false;
  std::byte* begin_ = nullptr;
  std::size_t length_ = 0;
  sampled_block* blocks_ = nullptr;
  std::uint64_t mean_ = 0;

  alignas(cache_line_bytes) std::atomic<std::uint64_t> free_{0}; // changes above, a number below
  std::atomic<std::uint32_t> fresh_{0};                          // from here on, none was used
  std::atomic<std::uint64_t> missed_{0};
};
extern sampled_blocks the_samples;

} // namespace heapwise::detail
