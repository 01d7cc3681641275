// Chunks with numbers, so that the place of a block fits in 32 bits.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <heapwise/hybrid/detail/chunk_map.hpp>

namespace heapwise::detail::hybrids {

/// An index consists of the number of a chunk and a place in the chunk, in units of the smallest
/// block. Index 0 is not a block, because the head of a chunk lies there. The table of numbers
/// consists of segments, each twice as large as the one before, so that no entry ever moves.
///
/// Thread safety: all threads may call address_of at once, and it is lock-free. One thread at a
/// time may call enter.
class numbered_chunks {
 public:
  explicit numbered_chunks(chunk_map& chunks) noexcept : chunks_{&chunks} {}
  numbered_chunks(const numbered_chunks&) = delete;
  numbered_chunks& operator=(const numbered_chunks&) = delete;
  ~numbered_chunks() {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (segments_[i] != nullptr) chunks_->release(segments_[i], bytes_of(i), alignof(place));
    }
  }

  /// Effects: gives the chunk the next number. Returns: false if there is no memory, or if all
  /// numbers are used.
  [[nodiscard]] bool enter(sliced_chunk& chunk) noexcept {
    const std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == most_chunks) return false;
    const std::size_t segment = segment_of(number);
    if (segments_[segment] == nullptr && !make(segment)) return false;
    chunk.number = number;
    segments_[segment][number + first_size - (first_size << segment)].store(
        &chunk, std::memory_order_relaxed);
    count_.store(number + 1, std::memory_order_release); // pairs with address_of
    return true;
  }

  /// Returns: the address that belongs to an index; nullptr if the number is not an index.
  [[nodiscard]] void* address_of(std::uint64_t index) const noexcept {
    const std::uint64_t number = index >> place_bits;
    // Pairs with the release above.
    if (number >= count_.load(std::memory_order_acquire)) return nullptr;
    const std::size_t segment = segment_of(number);
    sliced_chunk* const chunk =
        segments_[segment][number + first_size - (first_size << segment)].load(
            std::memory_order_relaxed);
    return reinterpret_cast<std::byte*>(chunk) + (index & (places - 1)) * unit_bytes;
  }

  /// Requires: the block lies in a chunk that was entered. Returns: its index, which is never 0.
  [[nodiscard]] static std::uint64_t index_of(const void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t offset = address & (chunk_bytes - 1);
    const auto* const chunk =
        reinterpret_cast<const sliced_chunk*>(static_cast<const std::byte*>(block) - offset);
    return std::uint64_t{chunk->number} << place_bits | offset / unit_bytes;
  }

  /// Requires: no other thread uses it. Effects: no chunk has a number.
  void reset() noexcept { count_.store(0, std::memory_order_relaxed); }

 private:
  using place = std::atomic<sliced_chunk*>;
  static constexpr std::size_t unit_bytes = routing::smallest_list_bytes;
  static constexpr std::size_t places = chunk_bytes / unit_bytes;
  static constexpr int place_bits = std::countr_zero(places);
  static constexpr std::uint32_t most_chunks = std::uint32_t{1} << (32 - place_bits);
  static constexpr std::size_t first_size = 64; // chunks of the first segment

  static std::size_t segment_of(std::uint64_t number) noexcept {
    // Not bit_width, which has another type in older libraries.
    return 63 - static_cast<std::size_t>(std::countl_zero(number / first_size + 1));
  }
  static std::size_t bytes_of(std::size_t segment) noexcept {
    return sizeof(place) * (first_size << segment);
  }

  bool make(std::size_t segment) noexcept {
    void* const memory = chunks_->obtain(bytes_of(segment), alignof(place));
    if (memory == nullptr) return false;
    auto* const new_places = static_cast<place*>(memory);
    for (std::size_t i = 0; i < first_size << segment; ++i) ::new (&new_places[i]) place{nullptr};
    segments_[segment] = new_places;
    return true;
  }

  chunk_map* chunks_;
  // Written before the count, which lets other threads read it.
  std::array<place*, 32 - place_bits> segments_{};
  std::atomic<std::uint32_t> count_{0};
};

} // namespace heapwise::detail::hybrids
