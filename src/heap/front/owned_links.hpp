// What heaps of their own write into their free blocks: the next free block. Where every call is
// checked, each block has a state too (block_states.hpp), and links are unreadable: what a program
// writes into a free block does not become an address. Where free blocks are cleared, all but the
// link is zero, and a canary ends each block in use. These blocks have no memory tags.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "heap/base/invalid.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/base/zeros.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::detail::owned_links {

[[nodiscard]] inline std::uintptr_t key_of(const std::byte* block) noexcept {
  return chosen_profile.keeps_states
             ? the_facts.link_secret ^ reinterpret_cast<std::uintptr_t>(block)
             : 0;
}

/// Effects: `next` follows a free block. If free blocks are cleared, and this one was written to
/// where the link is, `use` will find that out by the byte behind the link.
inline void write(std::byte* block, std::byte* next) noexcept {
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(next) ^ key_of(block);
  std::uintptr_t before = 0;
  std::memcpy(&before, block, sizeof before);
  if (chosen_profile.clears && before != 0) block[sizeof word] = std::byte{1};
  std::memcpy(block, &word, sizeof word);
}

/// Returns: the free block that follows a free block; nullptr for the last one.
[[nodiscard]] inline std::byte* read(const std::byte* block) noexcept {
  std::uintptr_t word = 0;
  std::memcpy(&word, block, sizeof word);
  return reinterpret_cast<std::byte*>(word ^ key_of(block));
}

/// Returns: whether a link leads to a free block, or to none. Without states that is not known.
[[nodiscard]] inline bool leads_to_free(const std::byte* next) noexcept {
  if (!chosen_profile.keeps_states || next == nullptr) return true;
  return the_space.holds(next) && reinterpret_cast<std::uintptr_t>(next) % granule_bytes == 0 &&
         the_space.record(the_space.slice_of(next)) != nullptr &&
         the_space.granule_class(next).load(std::memory_order_relaxed) == block_states::freed;
}

/// Effects: the link of a free block is gone, which is like any other free block then.
inline void erase(std::byte* block) noexcept {
  if constexpr (chosen_profile.clears) std::memset(block, 0, sizeof(std::uintptr_t));
}

/// Effects: the block is in use. Where free blocks are cleared, one that was written to after it
/// was freed is reported. Requires: a class of blocks; the block has no link; no lock is held.
inline void use(std::byte* block, size_class class_index) noexcept {
  expects(class_index != no_class, "the block has a class");
  if constexpr (chosen_profile.keeps_states) {
    std::atomic<std::uint8_t>& state = the_space.granule_class(block);
    if (chosen_profile.clears && state.load(std::memory_order_relaxed) == block_states::freed &&
        !zeros::is_zero(block, class_table[class_index].bytes)) {
      end_by_fault(block, invalid::written_when_free);
    }
    state.store(static_cast<std::uint8_t>(class_index), std::memory_order_relaxed);
    note_allocated(block);
    if constexpr (canary_bytes > 0) {
      const std::uint64_t canary = block_states::canary_of(block);
      std::memcpy(block + usable_bytes_of(class_index), &canary, sizeof canary);
    }
  }
}

/// Effects: a block with slices of its own is in use.
inline void use_alone(const std::byte* block) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    the_space.granule_class(block).store(0, std::memory_order_relaxed);
    note_allocated(block);
  }
}

/// Returns: whether what ends a block in use is as it was.
[[nodiscard]] inline bool has_canary(const std::byte* block, size_class class_index) noexcept {
  if constexpr (canary_bytes > 0) {
    const std::uint64_t canary = block_states::canary_of(block);
    return std::memcmp(block + usable_bytes_of(class_index), &canary, sizeof canary) == 0;
  }
  return true;
}

/// Effects: the block is free, if it is in use, and zero where the profile clears. Returns: what is
/// wrong with it; nothing in a profile without states. One without a class is a block with slices
/// of its own.
[[nodiscard]] inline std::optional<invalid> free(std::byte* block,
                                                 size_class class_index) noexcept {
  if constexpr (!chosen_profile.keeps_states) return {};
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  const std::uint8_t seen = state.load(std::memory_order_relaxed);
  const auto expected = static_cast<std::uint8_t>(class_index == no_class ? 0 : class_index);
  if (seen != expected) {
    return seen == block_states::freed ? invalid::freed_before : invalid::inside_block;
  }
  state.store(block_states::freed, std::memory_order_relaxed);
  if (class_index != no_class && !has_canary(block, class_index)) return invalid::overrun;
  note_freed(block);
  if (chosen_profile.clears && class_index != no_class)
    std::memset(block, 0, class_table[class_index].bytes);
  return {};
}

} // namespace heapwise::detail::owned_links
