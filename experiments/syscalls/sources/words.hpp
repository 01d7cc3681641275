// Memory read and written whole, word by word: no byte that is counted is left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscalls {

using word = std::uint64_t;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t page_words = page_bytes / sizeof(word);

/// A page at a time, a number that the compiler knows: then -O2 makes vector instructions of it.
[[nodiscard]] inline word sum_of(const word* from, std::size_t bytes) noexcept {
  word sum = 0;
  for (std::size_t done = 0; done < bytes; done += page_bytes, from += page_words) {
    for (std::size_t i = 0; i < page_words; ++i) sum += from[i];
  }
  return sum;
}

inline void fill(word* to, std::size_t bytes, word with) noexcept {
  for (std::size_t done = 0; done < bytes; done += page_bytes, to += page_words) {
    for (std::size_t i = 0; i < page_words; ++i) to[i] = with;
  }
}

[[nodiscard]] constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace syscalls
