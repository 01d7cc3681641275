// One output stream of the child: hashed whole, kept at both ends.
#pragma once

#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heapwise::bench {

class output_stream {
 public:
  static constexpr std::size_t kept_bytes = 64 * 1024;

  output_stream() noexcept { XXH3_64bits_reset(&hash_); }

  /// More than a pipe holds, and little enough that fast writers do not keep the launcher from its
  /// deadline.
  static constexpr std::size_t drained_bytes = 2 * 1024 * 1024;

  /// Effects: reads from `file`, which does not block, what is there now, but at most
  /// `drained_bytes`. Returns: false at the end of the stream.
  bool drain(int file) noexcept;

  /// Writes head, a line about what was left out if anything was, and tail; false on an error.
  bool save(const char* path) const noexcept;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return XXH3_64bits_digest(&hash_); }

 private:
  void take(const char* data, std::size_t size) noexcept;

  XXH3_state_t hash_;
  std::uint64_t bytes_ = 0;
  char head_[kept_bytes];
  char tail_[kept_bytes]; ///< a ring: byte number n after the head is at n % kept_bytes
};

} // namespace heapwise::bench
