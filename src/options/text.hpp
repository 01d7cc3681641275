// Lines for people, put together without allocating.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/os.hpp"

namespace heapwise::detail {

/// One piece of text of limited length; what does not fit is cut off.
template <std::size_t capacity>
class text_of {
 public:
  static constexpr std::size_t most_bytes = capacity;

  text_of& add(std::string_view more) noexcept {
    const std::size_t fits = std::min(more.size(), sizeof buffer_ - length_);
    std::copy_n(more.data(), fits, buffer_ + length_);
    length_ += fits;
    return *this;
  }

  /// A decimal number, on the right of a column so wide.
  text_of& add(std::size_t number, std::size_t width = 0) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    for (std::size_t used = sizeof digits - first; used < width; ++used) add(" ");
    return add({digits + first, sizeof digits - first});
  }

  text_of& add_address(const void* address) noexcept {
    constexpr std::string_view hex = "0123456789abcdef";
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    add("0x");
    bool started = false;
    for (unsigned shift = 8 * sizeof value; shift > 0;) {
      shift -= 4;
      const std::uintptr_t digit = value >> shift & 15;
      started = started || digit != 0 || shift == 0;
      if (started) add({&hex[digit], 1});
    }
    return *this;
  }

  [[nodiscard]] std::string_view view() const noexcept { return {buffer_, length_}; }
  void clear() noexcept { length_ = 0; }
  void write() const noexcept { os::write_error(buffer_, length_); }

 private:
  char buffer_[most_bytes];
  std::size_t length_ = 0;
};

using text = text_of<512>;

} // namespace heapwise::detail
