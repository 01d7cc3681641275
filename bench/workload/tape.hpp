// A tape: what a thread will ask of an allocator, decided before the clock starts, so that only the
// allocator is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "workload/size_mix.hpp"

namespace heapwise::bench {

/// Eight bytes, so that reading the tape costs the caches little.
class operation {
 public:
  operation() = default;
  static constexpr operation allocation(std::uint32_t slot, std::uint32_t bytes) noexcept {
    return operation{slot, bytes};
  }
  static constexpr operation release(std::uint32_t slot, std::uint32_t bytes) noexcept {
    return operation{slot | frees_bit, bytes};
  }

  [[nodiscard]] constexpr bool frees() const noexcept { return (what_ & frees_bit) != 0; }
  /// Where the block is kept while it lives.
  [[nodiscard]] constexpr std::uint32_t slot() const noexcept { return what_ & ~frees_bit; }
  /// What was asked for; known when the block is freed too.
  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept { return bytes_; }

  friend constexpr bool operator==(operation, operation) noexcept = default;

 private:
  static constexpr std::uint32_t frees_bit = 1U << 31;

  constexpr operation(std::uint32_t what, std::uint32_t bytes) noexcept
      : what_{what}, bytes_{bytes} {}

  std::uint32_t what_;
  std::uint32_t bytes_;
};

/// A view: the operations lie in the memory that make_tape was given.
struct tape {
  std::span<const operation> operations;
  std::uint32_t slots = 0;           ///< slots are below this
  std::uint64_t allocations = 0;     ///< as many frees: a tape starts and ends with nothing live
  std::uint64_t requested_bytes = 0; ///< by all allocations
  std::uint64_t peak_live_bytes = 0; ///< the most that is asked for at once
  std::size_t peak_at = 0;           ///< operations done when that is first reached
};

/// Fills `memory`, an even number of operations, with what `mix` says; every free takes a random
/// live block. The last operations free what is left, so a tape can be played again and again.
/// The same seed gives the same tape on every machine. Throws std::bad_alloc.
[[nodiscard]] tape make_tape(std::span<operation> memory, const size_mix& mix, std::uint64_t seed);

/// Describes operations that somebody else wrote; they must start and end with nothing live.
[[nodiscard]] tape describe_tape(std::span<const operation> operations) noexcept;

} // namespace heapwise::bench
