// What heaps of their own write into their free blocks: the next free block. Where every call is
// checked, each block has a state too (block_states.hpp), and links are unreadable: what a program
// writes into a free block does not become an address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "heap/block_states.hpp"
#include "heap/invalid.hpp"
#include "heap/profile.hpp"
#include "heap/sealed_facts.hpp"
#include "heap/space.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail::owned_links {

[[nodiscard]] inline std::uintptr_t key_of(const std::byte* block) noexcept {
  return chosen_profile::keeps_states ? the_facts.link_secret ^ reinterpret_cast<std::uintptr_t>(block) : 0;
}

/// Effects: `next` follows a free block.
inline void write(std::byte* block, std::byte* next) noexcept {
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(next) ^ key_of(block);
  std::memcpy(block, &word, sizeof word);
}

/// Returns: the free block that follows a free block; nullptr for the last one.
[[nodiscard]] inline std::byte* read(const std::byte* block) noexcept {
  std::uintptr_t word = 0;
  std::memcpy(&word, block, sizeof word);
  return reinterpret_cast<std::byte*>(word ^ key_of(block));
}

/// Returns: whether a link leads to a free block, or to none. Requires: a profile with states.
[[nodiscard]] inline bool leads_to_free(const std::byte* next) noexcept {
  if (next == nullptr) return true;
  return the_space.holds(next) && reinterpret_cast<std::uintptr_t>(next) % granule_bytes == 0 &&
         the_space.record(the_space.slice_of(next)) != nullptr &&
         the_space.granule_class(next).load(std::memory_order_relaxed) == block_states::freed;
}

/// Effects: the block is in use. Requires: a class of blocks.
inline void use(const std::byte* block, size_class class_index) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    the_space.granule_class(block).store(static_cast<std::uint8_t>(class_index),
                                         std::memory_order_relaxed);
  }
}

/// Effects: the block is free, if it is in use. Returns: what is wrong if it is not; nothing for a
/// large block, which has no class. Requires: a profile with states.
[[nodiscard]] inline std::optional<invalid> free(const void* block,
                                                 size_class class_index) noexcept {
  std::atomic<std::uint8_t>& state = the_space.granule_class(block);
  const std::uint8_t seen = state.load(std::memory_order_relaxed);
  if (class_index != no_class && seen != class_index) {
    return seen == block_states::freed ? invalid::freed_before : invalid::inside_block;
  }
  state.store(block_states::freed, std::memory_order_relaxed);
  return {};
}

/// Effects: no block of a new span was ever in use.
inline void forget_states(const span& new_span) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    std::memset(static_cast<void*>(&the_space.granule_class(the_space.begin_of(new_span))), 0,
                new_span.slices * granules_of_a_slice);
  }
}

} // namespace heapwise::detail::owned_links
