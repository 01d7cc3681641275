// Memory read and written whole, word by word, so that no byte that is counted is left out. The
// report latency-lab touches one byte of a page and counts the page: `touching` does both.
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

/// Only the first word of each page.
[[nodiscard]] inline word sum_of_heads(const word* from, std::size_t bytes) noexcept {
  word sum = 0;
  for (std::size_t done = 0; done < bytes; done += page_bytes, from += page_words) sum += *from;
  return sum;
}

inline void fill_heads(word* to, std::size_t bytes, word with) noexcept {
  for (std::size_t done = 0; done < bytes; done += page_bytes, to += page_words) *to = with;
}

/// What a pass touches: every word, or the first word of each page.
struct touching {
  bool heads = false;
  [[nodiscard]] word sum(const word* from, std::size_t bytes) const noexcept {
    return heads ? sum_of_heads(from, bytes) : sum_of(from, bytes);
  }
  void write(word* to, std::size_t bytes, word with) const noexcept {
    heads ? fill_heads(to, bytes, with) : fill(to, bytes, with);
  }
  /// How many words it touches.
  [[nodiscard]] word count(std::size_t bytes) const noexcept {
    return bytes / (heads ? page_bytes : sizeof(word));
  }
};

[[nodiscard]] constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace syscalls
