// The blocks of operator new that a plug-in has defined for itself, by address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

/// A block may lie in any place of a short range, and each search reads the whole range. So nothing
/// is ever moved: there is no lock, which a forked child could find taken.
class plugin_blocks {
 public:
  /// Returns false if there is no room for it.
  [[nodiscard]] bool insert(const void* block) noexcept { return replace(block, 0, key_of(block)); }

  /// Returns false if the block is not here.
  bool erase(const void* block) noexcept { return replace(block, key_of(block), 0); }

  void clear() noexcept {
    for (std::atomic<std::uintptr_t>& each : places_) each.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t places = 65536;
  static constexpr std::size_t range = 32;

  [[nodiscard]] static std::uintptr_t key_of(const void* block) noexcept {
    return reinterpret_cast<std::uintptr_t>(block);
  }

  /// In the range of the block. relaxed: a thread that ends a block got its address from the one
  /// that made it, and sees what that thread has stored.
  bool replace(const void* block, std::uintptr_t before, std::uintptr_t after) noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    constexpr unsigned shift = 48;
    static_assert(places == std::size_t{1} << (64 - shift));
    const std::size_t home = (key_of(block) >> 4) * golden >> shift;
    for (std::size_t step = 0; step < range; ++step) {
      std::atomic<std::uintptr_t>& place = places_[(home + step) % places];
      std::uintptr_t expected = before;
      if (place.load(std::memory_order_relaxed) == before &&
          place.compare_exchange_strong(expected, after, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  std::atomic<std::uintptr_t> places_[places]{};
};

} // namespace heapwise::bench
