// What a build that counts asks the system. Nothing else needs it.
#pragma once

#include <cstdint>

namespace heapwise::os {

[[nodiscard]] std::uint64_t now_ns() noexcept;

/// Returns: the part of a measured time that is the clock's own.
[[nodiscard]] std::uint64_t clock_cost_ns() noexcept;

/// Returns: how often the system has let another thread run instead of the calling one.
[[nodiscard]] long switches() noexcept;

/// Returns: an address that no other living thread has. Works in a bare thread, too.
[[nodiscard]] inline const void* this_thread() noexcept { return __builtin_thread_pointer(); }

} // namespace heapwise::os
