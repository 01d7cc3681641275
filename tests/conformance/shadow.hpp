// The shadow of a heap: every live block is known here with its size, and filled with what only
// this block at this place and time holds. Operations are drawn from a source of numbers; whatever
// the heap gets wrong (two blocks that overlap, a byte lost, a wrong alignment, a dirty calloc)
// ends the process with one line that says what.
//
// Functions: static malloc, calloc, realloc, aligned_alloc, posix_memalign, free, free_sized,
// free_aligned_sized, usable_size, purge; heap_create, heap_malloc, heap_aligned_alloc,
// heap_destroy where has_heaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace conformance {

[[noreturn]] inline void shadow_differs(const char* what, const void* block, std::size_t size) {
  char line[256];
  const int length =
      std::snprintf(line, sizeof line, "shadow: %s (block %p of %zu bytes)\n", what, block, size);
  if (::write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) std::abort();
  std::abort();
}

inline std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

struct shadowed_block {
  unsigned char* at = nullptr;
  std::size_t size = 0;
  std::size_t alignment = 0; ///< 0: as malloc's
  std::uint64_t generation = 0;
  int heap = -1; ///< of which it is, -1: none of its own
};

/// Where the next word of a stamp goes: everywhere in the first 16 KiB, then here and there, so
/// that large blocks do not take all the time.
constexpr std::size_t after(std::size_t offset) {
  return offset < (16U << 10) ? offset + 8 : offset + 512;
}

/// Effects: writes hash(address, generation) into the block.
inline void stamp(const shadowed_block& block) {
  const std::uint64_t seed =
      mixed(reinterpret_cast<std::uintptr_t>(block.at) ^ (block.generation << 20));
  for (std::size_t i = 0; i < block.size; i = after(i)) {
    const std::uint64_t word = seed + i;
    std::memcpy(block.at + i, &word, block.size - i < 8 ? block.size - i : 8);
  }
}

/// Returns: the first `bytes` at `at` are what stamp() wrote when the block was there.
inline bool stamped(const shadowed_block& block, const unsigned char* at, std::size_t bytes) {
  const std::uint64_t seed =
      mixed(reinterpret_cast<std::uintptr_t>(block.at) ^ (block.generation << 20));
  for (std::size_t i = 0; i < bytes; i = after(i)) {
    const std::uint64_t word = seed + i;
    if (std::memcmp(at + i, &word, bytes - i < 8 ? bytes - i : 8) != 0) return false;
  }
  return true;
}

/// Numbers: a type with next(limit), which gives a number below the limit, and is_empty().
template <class Functions, class Numbers>
class shadow {
 public:
  static constexpr std::size_t slots = 512;
  static constexpr std::size_t heaps = 3;
  static constexpr std::size_t live_limit = 64U << 20;

  explicit shadow(Numbers& numbers) : numbers_(numbers) {}

  /// Effects: does up to `operations` operations, then frees everything.
  void run(std::size_t operations) {
    while (operations-- > 0 && !numbers_.is_empty()) step();
    for (shadowed_block& block : blocks_) release(block);
    for (std::size_t i = 0; i < heaps; ++i) destroy(i);
  }

 private:
  void step() {
    shadowed_block& block = blocks_[numbers_.next(slots)];
    const std::size_t choice = numbers_.next(64);
    if (choice == 0) return rarely(block);
    if (Functions::has_heaps && choice < 4) return heap_step();
    if (block.at == nullptr) return allocate(block);
    if (choice < 24 && block.heap < 0) return resize(block);
    release(block);
  }

  /// What is slow, or never succeeds.
  void rarely(const shadowed_block& block) {
    if (numbers_.next(32) == 0)
      Functions::purge();
    else
      too_much(block);
  }

  std::size_t size() {
    const std::size_t kind = numbers_.next(4096);
    if (kind < 2900) return numbers_.next(300);
    if (kind < 4060) return numbers_.next(5'000);
    if (kind < 4095) return numbers_.next(70'000);
    return numbers_.next(live_ < live_limit / 2 ? std::size_t{3} << 20 : 1'000);
  }

  std::size_t power_of_two(std::size_t shifts) { return std::size_t{1} << numbers_.next(shifts); }

  void allocate(shadowed_block& block) {
    const std::size_t wanted = size();
    switch (numbers_.next(8)) {
      case 0:
        return adopt(block, zeroed(wanted), wanted, 0);
      case 1:
        return aligned(block, wanted, power_of_two(17));
      case 2:
        return by_posix(block, wanted, sizeof(void*) * power_of_two(10));
      case 3:
        return adopt(block, Functions::realloc(nullptr, wanted), wanted, 0);
      case 4:
        if constexpr (Functions::has_heaps) return from_heap(block, wanted);
        [[fallthrough]];
      default:
        return adopt(block, Functions::malloc(wanted), wanted, 0);
    }
  }

  void* zeroed(std::size_t wanted) {
    const std::size_t count = 1 + numbers_.next(8);
    auto* const at =
        static_cast<unsigned char*>(Functions::calloc(count, (wanted + count - 1) / count));
    if (at != nullptr && wanted > 0 && (at[0] != 0 || std::memcmp(at, at + 1, wanted - 1) != 0)) {
      shadow_differs("calloc gave a dirty block", at, wanted);
    }
    return at;
  }

  void aligned(shadowed_block& block, std::size_t wanted, std::size_t alignment) {
    adopt(block, Functions::aligned_alloc(alignment, wanted), wanted, alignment);
  }

  void by_posix(shadowed_block& block, std::size_t wanted, std::size_t alignment) {
    void* at = nullptr;
    if (Functions::posix_memalign(&at, alignment, wanted) != 0) at = nullptr;
    adopt(block, at, wanted, alignment);
  }

  void adopt(shadowed_block& block, void* at, std::size_t wanted, std::size_t alignment) {
    if (at == nullptr) shadow_differs("no block although there is memory", at, wanted);
    // C asks no more of a block than what an object of its size needs; here 16 is promised.
    const std::size_t needed = alignment > 0 ? alignment : 16;
    if (reinterpret_cast<std::uintptr_t>(at) % needed != 0)
      shadow_differs("misaligned", at, wanted);
    if (Functions::usable_size(at) < wanted) shadow_differs("usable size too small", at, wanted);
    block = {static_cast<unsigned char*>(at), wanted, alignment, ++generation_, -1};
    live_ += wanted;
    stamp(block);
  }

  void check(const shadowed_block& block) {
    if (!stamped(block, block.at, block.size))
      shadow_differs("bytes changed", block.at, block.size);
  }

  void resize(shadowed_block& block) {
    check(block);
    const std::size_t usable = Functions::usable_size(block.at);
    const std::size_t wanted = numbers_.next(4) == 0 ? usable : size();
    void* const at = Functions::realloc(block.at, wanted);
    live_ -= block.size;
    if (wanted == 0 && at == nullptr) {
      block.at = nullptr;
      return;
    }
    const std::size_t kept = wanted < block.size ? wanted : block.size;
    if (at != nullptr && !stamped(block, static_cast<unsigned char*>(at), kept)) {
      shadow_differs("realloc lost bytes", at, wanted);
    }
    adopt(block, at, wanted, 0);
  }

  void release(shadowed_block& block) {
    if (block.at == nullptr) return;
    check(block);
    live_ -= block.size;
    if (block.alignment > 0) {
      if (numbers_.next(2) == 0)
        Functions::free(block.at);
      else
        Functions::free_aligned_sized(block.at, block.alignment, block.size);
    } else {
      if (numbers_.next(2) == 0)
        Functions::free(block.at);
      else
        Functions::free_sized(block.at, block.size);
    }
    block.at = nullptr;
  }

  void too_much(const shadowed_block& block) {
    const std::size_t wanted = SIZE_MAX / 2 - numbers_.next(100'000);
    if (void* const at = Functions::malloc(wanted)) shadow_differs("too much is given", at, wanted);
    if (block.at == nullptr || block.heap >= 0) return;
    if (void* const at = Functions::realloc(block.at, wanted)) {
      shadow_differs("too much is given by realloc", at, wanted);
    }
    check(block);
  }

  void heap_step() {
    const std::size_t which = numbers_.next(heaps);
    if (numbers_.next(16) == 0) destroy(which);
    if constexpr (Functions::has_heaps) {
      if (heap_[which] == nullptr) heap_[which] = Functions::heap_create();
    }
  }

  void from_heap(shadowed_block& block, std::size_t wanted) {
    const std::size_t which = numbers_.next(heaps);
    if (heap_[which] == nullptr) return adopt(block, Functions::malloc(wanted), wanted, 0);
    if (numbers_.next(4) == 0) {
      const std::size_t alignment = power_of_two(14);
      void* const at = Functions::heap_aligned_alloc(heap_[which], alignment, wanted);
      adopt(block, at, wanted, alignment);
    } else {
      adopt(block, Functions::heap_malloc(heap_[which], wanted), wanted, 0);
    }
    block.heap = static_cast<int>(which);
  }

  /// Its blocks are looked at, then all of them go at once.
  void destroy(std::size_t which) {
    if (heap_[which] == nullptr) return;
    for (shadowed_block& block : blocks_) {
      if (block.at == nullptr || block.heap != static_cast<int>(which)) continue;
      check(block);
      live_ -= block.size;
      block.at = nullptr;
    }
    if constexpr (Functions::has_heaps) Functions::heap_destroy(heap_[which]);
    heap_[which] = nullptr;
  }

  Numbers& numbers_;
  shadowed_block blocks_[slots];
  void* heap_[heaps] = {};
  std::size_t live_ = 0;
  std::uint64_t generation_ = 0;
};

} // namespace conformance
