// What the profiles that check every call know of each small block: a byte for its first granule,
// in the table that other profiles use for mixed spans. No overrun of a block reaches it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "heap/base/invalid.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/base/zeros.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/checks/tags.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Returns: the bytes of a block of the class that its user may use.
constexpr std::size_t usable_bytes_of(size_class class_index) noexcept {
  return class_table[class_index].bytes - canary_bytes;
}

/// Returns: the class for a request in this profile. Requires: at most max_small_bytes together
/// with a canary.
constexpr size_class class_for(std::size_t size_bytes) noexcept {
  expects(size_bytes <= max_small_bytes - canary_bytes, "a class has blocks of this size");
  return static_cast<size_class>(class_of(size_bytes + canary_bytes));
}

/// Returns: whether a request gets a block of a class in this profile.
constexpr bool is_small(std::size_t size_bytes) noexcept {
  return size_bytes <= max_small_bytes - canary_bytes;
}

namespace block_states {

/// The state of a block that was freed. One in use has its class. 0: no block was ever there since
/// the span was made.
inline constexpr std::uint8_t freed = 0xff;

/// Returns: whether a block was freed, so that it is zero where free blocks are cleared unless
/// somebody has written to it.
[[nodiscard]] inline bool is_cleared(const std::byte* block) noexcept {
  return the_space.granule_class(block).load(std::memory_order_relaxed) == freed;
}

/// Returns: the word behind the bytes that a block's user may use. Its first byte is 0, so that a
/// string ends there.
[[nodiscard]] inline std::uint64_t canary_of(const std::byte* block) noexcept {
  constexpr std::uint64_t all_but_first = ~std::uint64_t{0xff};
  return (the_facts.canary_secret ^ reinterpret_cast<std::uintptr_t>(block)) & all_but_first;
}

/// Effects: reports an address at which no block in use begins.
[[noreturn]] HEAPWISE_COLD inline void report_state(const void* address,
                                                    std::uint8_t state) noexcept {
  end_by_fault(address, state == freed ? invalid::freed_before : invalid::inside_block);
}

/// Effects: a block in use gets its tag and its canary, where the profile has them. Returns: the
/// address for its user.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte* sign(std::byte* block,
                                                     size_class class_index) noexcept {
  std::byte* const address = give_tag(block, class_table[class_index].bytes);
  if constexpr (canary_bytes > 0) {
    const std::uint64_t canary = canary_of(block);
    std::memcpy(address + usable_bytes_of(class_index), &canary, sizeof canary);
  }
  return address;
}

/// The same, and the call site is kept. A function of its own, so that the path without it calls
/// nothing.
[[nodiscard]] HEAPWISE_COLD inline std::byte* note_and_sign(std::byte* block,
                                                            size_class class_index) noexcept {
  keep_allocated(block);
  return sign(block, class_index);
}

/// Effects: where blocks have states, no block of a new span was ever in use: the states are those
/// of the blocks that were there before.
inline void forget(const span& new_span) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    std::memset(static_cast<void*>(&the_space.granule_class(the_space.begin_of(new_span))), 0,
                new_span.slices * granules_of_a_slice);
  }
}

/// Effects: the block is in use from now on. Where free blocks are cleared, a block that was
/// written to after it was freed is reported, and one that has an owner already. Returns: the
/// address for its user, which has a tag where the profile has tags. Requires: a free block of the
/// class.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte* use(std::byte* block,
                                                    size_class class_index) noexcept {
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  // Relaxed: the block itself is handed from thread to thread with an order of its own.
  if constexpr (chosen_profile.clears) {
    const std::uint8_t seen = state.load(std::memory_order_relaxed);
    if (seen == freed) [[likely]] {
      if (!zeros::is_zero(block, class_table[class_index].bytes)) [[unlikely]]
        end_by_fault(block, invalid::written_when_free);
    } else if (seen != 0) {
      end_by_fault(block, invalid::freed_before);
    }
  }
  state.store(static_cast<std::uint8_t>(class_index), std::memory_order_relaxed);
  if (the_facts.sites != nullptr) [[unlikely]]
    return note_and_sign(block, class_index);
  return sign(block, class_index);
}

/// Effects: the block is free from now on; it is not cleared yet. Reports an address that is not a
/// block in use, and a canary that was overwritten. Faults if the address that the user gave has
/// not the block's tag. Requires: an address in a span of the class.
HEAPWISE_ALWAYS_INLINE void free(const std::byte* address, size_class class_index) noexcept {
  expects(class_index != no_class, "the block has a class");
  const std::byte* const block = without_tag(address);
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  std::uint8_t seen = 0;
  if constexpr (chosen_profile.clears) { // of two threads that free it at once, one is told
    // The processor reads nothing past the exchange before that is done, so the canary is fetched
    // meanwhile.
    HEAPWISE_PREFETCH_TO_WRITE(address + usable_bytes_of(class_index));
    seen = state.exchange(freed, std::memory_order_relaxed);
    if (seen != class_index) [[unlikely]] {
      if (seen != freed) state.store(seen, std::memory_order_relaxed);
      report_state(block, seen);
    }
  } else {
    seen = state.load(std::memory_order_relaxed);
    if (seen != class_index) [[unlikely]]
      report_state(block, seen);
    state.store(freed, std::memory_order_relaxed);
  }
  if constexpr (canary_bytes > 0) {
    const std::uint64_t canary = canary_of(block);
    if (std::memcmp(address + usable_bytes_of(class_index), &canary, sizeof canary) != 0)
        [[unlikely]]
      end_by_fault(block, invalid::overrun);
  }
}

} // namespace block_states

} // namespace heapwise::detail
