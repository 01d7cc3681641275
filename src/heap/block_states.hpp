// What the profiles that check every call know of each small block: a byte for its first granule,
// in the table that other profiles use for mixed spans. No overrun of a block reaches it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heap/call_sites.hpp"
#include "heap/invalid.hpp"
#include "heap/profile.hpp"
#include "heap/sealed_facts.hpp"
#include "heap/space.hpp"
#include "heap/tags.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: the bytes of a block of the class that its user may use.
constexpr std::size_t usable_bytes_of(size_class class_index) noexcept {
  return class_table[class_index].bytes - chosen_profile::canary_bytes;
}

/// Returns: the class for a request in this profile. Requires: at most max_small_bytes together
/// with a canary.
constexpr size_class class_for(std::size_t size_bytes) noexcept {
  return static_cast<size_class>(class_of(size_bytes + chosen_profile::canary_bytes));
}

/// Returns: whether a request gets a block of a class in this profile.
constexpr bool is_small(std::size_t size_bytes) noexcept {
  return size_bytes <= max_small_bytes - chosen_profile::canary_bytes;
}

namespace block_states {

/// The state of a block that was freed. One in use has its class. 0: no block was ever there since
/// the span was made.
inline constexpr std::uint8_t freed = 0xff;

/// Returns: the word behind the bytes that a block's user may use. Its first byte is 0, so that a
/// string ends there.
[[nodiscard]] inline std::uint64_t canary_of(const std::byte* block) noexcept {
  constexpr std::uint64_t all_but_first = ~std::uint64_t{0xff};
  return (the_facts.canary_secret ^ reinterpret_cast<std::uintptr_t>(block)) & all_but_first;
}

/// Returns: whether all bytes are 0. Requires: a multiple of 8 bytes.
[[nodiscard]] inline bool is_zero(const std::byte* begin, std::size_t bytes) noexcept {
  constexpr std::size_t at_once = 64; // a long block: the loop reads only its first 64 bytes
  const bool is_long = bytes > 4 * at_once;
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < (is_long ? at_once : bytes); at += sizeof any) {
    std::uint64_t word = 0;
    std::memcpy(&word, begin + at, sizeof word);
    any |= word;
  }
  if (any != 0 || !is_long) return any == 0;
  // Each byte is the same as the one 64 bytes before it. The C library compares faster than a loop.
  return std::memcmp(begin, begin + at_once, bytes - at_once) == 0;
}

/// Effects: the block is in use from now on. Where free blocks are cleared, a block that was
/// written to after it was freed is reported. Returns: the address for its user, which has a tag
/// where the profile has tags. Requires: a free block of the class.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte* use(std::byte* block,
                                                    size_class class_index) noexcept {
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  // Relaxed: the block itself is handed from thread to thread with an order of its own.
  if constexpr (chosen_profile::clears) {
    if (state.load(std::memory_order_relaxed) == freed &&
        !is_zero(block, class_table[class_index].bytes)) {
      invalid_free(block, invalid::written_when_free);
    }
  }
  state.store(static_cast<std::uint8_t>(class_index), std::memory_order_relaxed);
  note_allocated(block);
  std::byte* const address = give_tag(block, class_table[class_index].bytes);
  if constexpr (chosen_profile::canary_bytes > 0) {
    const std::uint64_t canary = canary_of(block);
    std::memcpy(address + usable_bytes_of(class_index), &canary, sizeof canary);
  }
  return address;
}

/// Effects: reports an address at which no block in use begins.
HEAPWISE_COLD inline void report_state(const void* address, std::uint8_t state) noexcept {
  invalid_free(address, state == freed ? invalid::freed_before : invalid::inside_block);
}

/// Effects: the block is free from now on. Reports an address that is not a block in use, and a
/// canary that was overwritten. Faults if the address that the user gave has not the block's tag.
/// Returns: whether the block is free now. Requires: an address in a span of the class.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE bool free(const std::byte* address,
                                               size_class class_index) noexcept {
  auto* const block = const_cast<std::byte*>(without_tag(address));
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  std::uint8_t seen = 0;
  if constexpr (chosen_profile::clears) { // of two threads that free it at once, one is told
    seen = state.exchange(freed, std::memory_order_relaxed);
    if (seen != class_index && seen != freed) state.store(seen, std::memory_order_relaxed);
  } else {
    seen = state.load(std::memory_order_relaxed);
  }
  if (seen != class_index) [[unlikely]] {
    report_state(block, seen);
    return false;
  }
  if constexpr (chosen_profile::canary_bytes > 0) {
    const std::uint64_t canary = canary_of(block);
    if (std::memcmp(address + usable_bytes_of(class_index), &canary, sizeof canary) != 0)
        [[unlikely]]
      invalid_free(block, invalid::overrun);
  }
  note_freed(block);
  if constexpr (chosen_profile::clears) {
    clear_and_untag(block, class_table[class_index].bytes);
  } else {
    state.store(freed, std::memory_order_relaxed);
  }
  return true;
}

} // namespace block_states

} // namespace heapwise::detail
