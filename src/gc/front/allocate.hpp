// How threads get blocks: a span is swept while it is used up, by the thread that uses it.
#pragma once

#include <cstddef>
#include <string_view>

#include "gc/state/blocks.hpp"
#include "gc/state/layouts.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

/// Returns: a block; or what the program wants without memory: nullptr with errno set, unless it
/// said otherwise, and it may throw. `caller`: the address of the code that wants it.
[[nodiscard]] void* allocate(std::size_t size_bytes, bool atomic, const void* caller);

/// Returns: the same, kept.
[[nodiscard]] void* allocate_kept(std::size_t size_bytes, bool atomic, const void* caller);

/// Returns: a block that is not atomic and begins at a multiple of `alignment`, or nullptr with
/// errno set: EINVAL if the alignment is not a power of two of at most slice_bytes.
[[nodiscard]] void* allocate_aligned(std::size_t alignment, std::size_t size_bytes,
                                     const void* caller);

/// Returns: a block of which only what the layout names is looked through; as a whole if it is
/// large and its layout has no marking function. nullptr as `allocate`.
[[nodiscard]] void* allocate_typed(const layout& its, std::size_t size_bytes, const void* caller);

/// Returns: a block of the kind, with the same layout if there is one. nullptr as `allocate`.
[[nodiscard]] void* allocate_like(const found_block& block, std::size_t size_bytes,
                                  const void* caller);

/// Effects: gives back a block for a caller of the function `called`.
void release(const found_block& block, std::string_view called) noexcept;

} // namespace heapwise::gc
