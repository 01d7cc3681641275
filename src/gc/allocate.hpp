// How threads get blocks: a span is swept while it is used up, by the thread that uses it.
#pragma once

#include <cstddef>
#include <string_view>

#include "gc/state.hpp"

namespace heapwise::gc {

/// Returns: a block, or nullptr with errno set.
[[nodiscard]] void* allocate(std::size_t size_bytes, bool atomic) noexcept;

/// Returns: a block that is not atomic and begins at a multiple of `alignment`, or nullptr with
/// errno set: EINVAL if the alignment is not a power of two of at most slice_bytes.
[[nodiscard]] void* allocate_aligned(std::size_t alignment, std::size_t size_bytes) noexcept;

struct found_block {
  std::byte* begin = nullptr; // nullptr: there is none
  std::size_t bytes = 0;
  slice_index slice = no_slice;
  std::uint32_t number = 0; // in its slice
  bool atomic = false;
};

/// Returns: the block that holds the byte, which may be a free one.
[[nodiscard]] found_block block_around(const void* address) noexcept;

/// Returns: the block that begins there. Ends the process if none does, with the name of the
/// function that was `called`.
[[nodiscard]] found_block block_at(const void* begin, std::string_view called) noexcept;

/// Effects: gives back a block for a caller of the function `called`.
void release(const found_block& block, std::string_view called) noexcept;

/// What the calling thread's window has for blocks of a kind; one block more is gone after it.
/// Effects: the thread gets a window with a block in it. Returns: whether there was one.
[[nodiscard]] bool next_window(thread_record& self, kind of) noexcept;

} // namespace heapwise::gc
