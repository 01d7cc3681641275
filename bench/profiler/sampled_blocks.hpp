// The sampled blocks of the process that live, by address. It has a fixed size.
//
// A free asks one bit whether its block may be a sample. The bit of a block is set as long as the
// block is here: the thread that frees it got its address from the one that made it, so it sees
// the bit without an order of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

class sampled_blocks {
 public:
  static constexpr std::size_t most = 65536;

  [[nodiscard]] bool may_hold(const void* block) const noexcept {
    const std::size_t bit = bit_of(reinterpret_cast<std::uintptr_t>(block));
    return (filter_[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
  }

  /// Returns false if it is full. Requires that the address is not 0 and not here.
  [[nodiscard]] bool insert(std::uint64_t address) noexcept;

  /// Returns false if the block is not a sample.
  [[nodiscard]] bool erase(std::uint64_t address) noexcept;

  /// From now on may_hold() is true for this address.
  void mark(std::uint64_t address) noexcept;

  /// No block is a sample any more. For a forked child, in which no other thread lives. The bits
  /// stay: marked addresses are among them.
  void forget() noexcept;

 private:
  static constexpr std::size_t places = 2 * most;
  /// They are counted no further, and their bit stays.
  static constexpr std::uint8_t most_sharers = 255;
  class lock;

  /// Neighbours have neighbouring bits: a line of the filter stands for 8 KiB of blocks, so the
  /// frees of a program that has locality find it in the first cache.
  [[nodiscard]] static std::size_t bit_of(std::uint64_t address) noexcept {
    return static_cast<std::size_t>((address >> 4 ^ address >> 21) % places);
  }

  [[nodiscard]] static std::size_t home(std::uint64_t address) noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>((address >> 4) * golden >> 47);
  }
  [[nodiscard]] static std::size_t next(std::size_t at) noexcept { return (at + 1) % places; }
  void share_bit(std::uint64_t address) noexcept;

  static_assert(places == std::size_t{1} << (64 - 47));

  std::atomic<std::uint64_t> filter_[places / 64]; ///< the bits of the blocks that are here
  std::atomic<bool> busy_{false};
  std::size_t count_ = 0;
  std::uint64_t addresses_[places] = {}; ///< linear probing; 0: an empty place
  std::uint8_t sharers_[places] = {};    ///< how many of the blocks have this bit
};

} // namespace heapwise::bench
