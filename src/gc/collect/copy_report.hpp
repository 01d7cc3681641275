// What a copy of the process tells of its marks, in memory that both have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/space/space.hpp"
#include "gc/state/attached.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

inline constexpr std::size_t reached_of_slice = marks_of_slice / 8;
inline constexpr std::uint64_t ones_of_bytes = 0x0101'0101'0101'0101; // one in each byte

/// What a copy finds, in memory that it shares with the process: this, then a list of weak targets
/// that are empty, then one of blocks whose finalizers are ready, then the marks, a bit for each,
/// and how many of them are set in each slice.
struct copy_report {
  std::atomic<bool> complete;
  bool overflowed;
  std::uint64_t mark_ns;
  weak_target** empty; // room for all
  std::size_t empty_count;
  void** ready;
  std::size_t ready_count;
  std::uint8_t* reached; // reached_of_slice for each slice
  std::uint16_t* marked; // how many blocks of each slice are reached
};

/// Returns: eight bytes, 0 or 1, from a bit for each.
inline std::uint64_t unpack(std::uint8_t bits) noexcept {
  constexpr std::uint64_t bit_of_byte = 0x8040'2010'0804'0201; // bit i in byte i
  constexpr std::uint64_t to_the_highest = 0x7F7F'7F7F'7F7F'7F7F;
  return (((bits * ones_of_bytes) & bit_of_byte) + to_the_highest) >> 7 & ones_of_bytes;
}

/// Returns: how many of eight bytes are 1. Requires: the others are 0.
inline std::uint32_t sum_of_bytes(std::uint64_t eight) noexcept {
  expects((eight & ~ones_of_bytes) == 0, "each byte is 0 or 1");
  return static_cast<std::uint32_t>(eight * ones_of_bytes >> 56);
}

/// Returns: a report that is empty, in shared memory, and how large it is; nullptr without memory.
/// Requires: the lock.
[[nodiscard]] copy_report* make_report(std::size_t& shared_bytes) noexcept;

/// Effects: what the copy has reached, from its marks into the report. Pages of slices in which it
/// has reached nothing stay untouched.
void write_reached(const mark* marks, copy_report& into) noexcept;

/// Effects: gives the report back, and forgets what was noted down for it. Requires: the lock;
/// there is a report.
void unmap_report() noexcept;

} // namespace heapwise::gc
