// Addresses inside of blocks that count as the address of the first byte.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/expects.hpp"

namespace heapwise::gc {

/// How far behind the first byte such addresses may lie. Thread safety: `add` by one thread at a
/// time, `has` by all.
class displacements {
 public:
  static constexpr std::size_t end_bytes = 4096; // below this

  /// Requires: bytes < end_bytes.
  void add(std::size_t bytes) noexcept {
    expects(bytes < end_bytes, "the displacement is below the end");
    // Relaxed: a collection that begins later takes the collector's lock, as the caller did.
    bits_[bytes / word_bits].fetch_or(std::uint64_t{1} << bytes % word_bits,
                                      std::memory_order_relaxed);
  }

  [[nodiscard]] bool has(std::size_t bytes) const noexcept {
    if (bytes >= end_bytes) return false;
    const std::uint64_t bits = bits_[bytes / word_bits].load(std::memory_order_relaxed);
    return (bits >> bytes % word_bits & 1) != 0;
  }

 private:
  static constexpr std::size_t word_bits = 64;
  std::array<std::atomic<std::uint64_t>, end_bytes / word_bits> bits_{};
};

inline constinit displacements the_displacements;

} // namespace heapwise::gc
