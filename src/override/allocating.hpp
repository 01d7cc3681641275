// What an operator new does when there is no free block at hand.
#pragma once

#include <cstddef>

#include "heapwise/detail/config.hpp"

namespace heapwise::detail {

/// What an operator new was asked for. An alignment of 0 stands for that of all blocks.
struct request {
  std::size_t size;
  std::size_t alignment = 0;
};

/// Returns: a block. As long as there is no memory, it calls the new handler, as the standard says.
/// Throws: std::bad_alloc, or what the handler throws. `caller`: an address in the code that called
/// the operator, whose C++ runtime is used.
HEAPWISE_NOINLINE void* allocate_or_throw(request asked, const void* caller);

/// Returns: the same, or nullptr instead of an exception. If the program has replaced operators,
/// `call` is called instead, which calls the operator that this one is derived from.
HEAPWISE_NOINLINE void* allocate_or_null(request asked, void* (*call)(const request&),
                                         const void* caller) noexcept;

} // namespace heapwise::detail
