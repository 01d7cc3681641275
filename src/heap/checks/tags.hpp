// Tags of memory (MTE of 64-bit ARM), in the profile `hardened` of a library that was built with
// HEAPWISE_MTE. Each small block in use has a tag that its address carries in the top byte, and
// that its neighbours do not have. Free blocks have tag 0, which no address for a user has. The
// processor compares the tags at each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heap/base/profile.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

#if defined(HEAPWISE_MTE) && defined(__aarch64__)
inline constexpr bool tags_blocks = chosen_profile.clears;
#else
inline constexpr bool tags_blocks = false;
#endif

/// The bits of an address that say where it is. All, if processor or system have no tags. Written
/// before the first block exists.
inline constinit std::uintptr_t place_bits = ~std::uintptr_t{0};

/// Effects: from now on blocks have tags, if that is possible. Requires: no address was mapped yet.
inline void start_tags() noexcept {
  constexpr unsigned tagged_bits = 56;
  if constexpr (!tags_blocks) return;
  if (os::allow_tags()) place_bits = (std::uintptr_t{1} << tagged_bits) - 1;
}

/// Returns: the address by which the heap knows a block.
template <class Byte>
[[nodiscard]] Byte* without_tag(Byte* address) noexcept {
  if constexpr (!tags_blocks) return address;
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(address) & place_bits);
}

#if defined(HEAPWISE_MTE) && defined(__aarch64__)

namespace tag_instructions {

/// Returns: the address with a random tag that is not among the excluded ones.
inline std::byte* random_tag(std::byte* address, std::uint64_t excluded) noexcept {
  std::byte* tagged = nullptr;
  asm volatile(".arch armv8.5-a+memtag\n\tirg %0, %1, %2"
               : "=r"(tagged)
               : "r"(address), "r"(excluded));
  return tagged;
}

/// Effects: the granule has the tag of the address.
inline void set_tag(std::byte* tagged) noexcept {
  asm volatile(".arch armv8.5-a+memtag\n\tstg %0, [%0]" : : "r"(tagged) : "memory");
}

/// The same, and the granule is zero.
inline void set_tag_and_clear(std::byte* tagged) noexcept {
  asm volatile(".arch armv8.5-a+memtag\n\tstzg %0, [%0]" : : "r"(tagged) : "memory");
}

} // namespace tag_instructions

inline bool uses_tags() noexcept { return place_bits != ~std::uintptr_t{0}; }

/// Effects: gives a block a tag. Of neighbours, one has an odd tag and the other an even one: an
/// overrun into a neighbour always faults. Returns: its address for the user.
[[nodiscard]] inline std::byte* give_tag(std::byte* block, std::size_t bytes) noexcept {
  constexpr std::uint64_t even_tags = 0x5555;
  constexpr std::uint64_t odd_tags_and_none = 0xaaab;
  if (!uses_tags()) return block;
  const bool is_odd = reinterpret_cast<std::uintptr_t>(block) / bytes % 2 != 0;
  std::byte* const tagged =
      tag_instructions::random_tag(block, is_odd ? even_tags : odd_tags_and_none);
  for (std::size_t at = 0; at < bytes; at += granule_bytes) {
    tag_instructions::set_tag(tagged + at);
  }
  return tagged;
}

/// Effects: the block is zero, and has the tag of free blocks.
inline void clear_and_untag(std::byte* block, std::size_t bytes) noexcept {
  if (!uses_tags()) {
    std::memset(block, 0, bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += granule_bytes) {
    tag_instructions::set_tag_and_clear(block + at);
  }
}

#else

[[nodiscard]] inline std::byte* give_tag(std::byte* block, std::size_t /*bytes*/) noexcept {
  return block;
}

inline void clear_and_untag(std::byte* block, std::size_t bytes) noexcept {
  std::memset(block, 0, bytes);
}

#endif

} // namespace heapwise::detail
