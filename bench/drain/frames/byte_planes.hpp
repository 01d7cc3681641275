// A column of numbers, stored by the significance of their bytes: see column.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace heapwise::bench {

class byte_planes {
 public:
  /// How many bytes the largest number needs.
  [[nodiscard]] unsigned width() const noexcept { return width_; }

  /// Appends numbers to the `before` ones that are here.
  template <class Number>
  void append(std::span<const Number> numbers, std::size_t before) {
    Number all = 0;
#pragma GCC unroll 4
    for (const Number each : numbers) all = static_cast<Number>(all | each);
    const unsigned needed = (static_cast<unsigned>(std::bit_width(all)) + 7) / 8;
    for (; width_ < needed; ++width_) planes_[width_].assign(before, 0);
    for (unsigned byte = 0; byte < width_; ++byte) {
      planes_[byte].resize(before + numbers.size());
      unsigned char* const to = planes_[byte].data() + before;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        to[i] = static_cast<unsigned char>(numbers[i] >> 8 * byte);
    }
  }

  /// Copies all bytes to where there is room for them. Returns what is behind them.
  unsigned char* copy_to(unsigned char* room) const noexcept {
    for (unsigned byte = 0; byte < width_; ++byte) {
      std::memcpy(room, planes_[byte].data(), planes_[byte].size());
      room += planes_[byte].size();
    }
    return room;
  }

  void clear() noexcept { width_ = 0; }

 private:
  unsigned width_ = 0;
  std::array<std::vector<unsigned char>, sizeof(std::uint64_t)> planes_;
};

} // namespace heapwise::bench
