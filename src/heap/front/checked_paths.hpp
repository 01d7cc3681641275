// The calls of the profiles that check each of them. They exist in these profiles only.
#pragma once

#include <cstddef>

#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: a block of the class, or nullptr. It has a canary where the profile has one.
[[nodiscard]] void* take_of_class(size_class class_index) noexcept;

/// Returns: a block that can hold one of the class of the other profiles, or nullptr: for a path
/// that a program has inlined, which knows of no canary.
[[nodiscard]] void* take_for_inlined(size_class class_index) noexcept;

/// Returns: as take_of_class, and the first `bytes` are zero. Only where free blocks are cleared.
[[nodiscard]] void* take_zeroed(size_class class_index, std::size_t bytes) noexcept;

/// Effects: gives back any block of the heap; reports another address. nullptr does nothing.
void give_checked(void* freed) noexcept;

/// Effects: reports an address that is not the first byte of a block in use.
void expect_block(const void* address) noexcept;

/// Effects: reports a block that no `new` of this size and alignment made. nullptr is not reported.
void expect_new_of(const void* address, std::size_t size_bytes, std::size_t alignment) noexcept;

/// Effects: reports a block that no request of this size, nor `realloc` to it, made.
void expect_size(const void* address, std::size_t size_bytes) noexcept;

/// Effects: what these profiles need before the first block. Returns: whether there was memory.
[[nodiscard]] bool start_checking() noexcept;

} // namespace heapwise::detail
