// One bit for each block of a pool, for as long as all of them are looked at.
#pragma once

#include <climits>
#include <cstddef>
#include <memory>

#include <heapwise/block_source.hpp>

namespace heapwise::detail::inline v0_2 {

/// A set of blocks by their index, in memory of the pool's source. Thread safety: none.
class block_map {
 public:
  /// Effects: an empty set of the indices below `count`. Without memory for it, not `valid`.
  block_map(std::size_t count, block_source& source) noexcept
      : source_{&source}, words_{count / word_bits + 1} {
    void* const memory = source.allocate(size_bytes(), alignof(word));
    if (memory == nullptr) return;
    bits_ = static_cast<word*>(memory);
    std::uninitialized_fill_n(bits_, words_, word{0});
  }
  block_map(const block_map&) = delete;
  block_map& operator=(const block_map&) = delete;
  ~block_map() {
    if (bits_ != nullptr) source_->deallocate(bits_, size_bytes(), alignof(word));
  }

  [[nodiscard]] bool valid() const noexcept { return bits_ != nullptr; }
  void set(std::size_t index) noexcept {
    bits_[index / word_bits] |= word{1} << (index % word_bits);
  }
  [[nodiscard]] bool test(std::size_t index) const noexcept {
    return (bits_[index / word_bits] >> (index % word_bits) & 1) != 0;
  }

 private:
  using word = std::size_t;
  static constexpr std::size_t word_bits = sizeof(word) * CHAR_BIT;
  [[nodiscard]] std::size_t size_bytes() const noexcept { return words_ * sizeof(word); }

  block_source* source_;
  std::size_t words_;
  word* bits_ = nullptr;
};

} // namespace heapwise::detail::inline v0_2
