// How an object begins in a block.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "heapwise/detail/config.hpp"

namespace heapwise::detail::inline v0_2 {

/// Returns: an object in the block. Aggregates are made with parentheses, which clang can since
/// version 16, and with braces by older compilers. Throws: what the constructor throws.
template <class T, class... Arguments>
T* construct_in(void* block, Arguments&&... arguments) {
  if constexpr (std::is_aggregate_v<T> && !std::is_constructible_v<T, Arguments...>) {
    return ::new (block) T{std::forward<Arguments>(arguments)...};
  } else {
    return ::new (block) T(std::forward<Arguments>(arguments)...);
  }
}

} // namespace heapwise::detail::inline v0_2
