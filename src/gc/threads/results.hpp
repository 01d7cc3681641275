// What threads returned, until they are joined.
#pragma once

#include <cstddef>

#include "os/collector/world.hpp"

namespace heapwise::gc {

// The functions of gc.h with the same names, without a lock of the caller.
[[nodiscard]] std::size_t add_result(bool is_detached) noexcept;
void name_result(std::size_t number, os::thread_id thread) noexcept;
void set_result(os::thread_id thread, void* result) noexcept;
[[nodiscard]] std::size_t find_result(os::thread_id thread) noexcept;
void detach_result(os::thread_id thread) noexcept;
void remove_result(std::size_t number) noexcept;

/// Effects: in the child of a fork, only the calling thread has a cell. Requires: the lock.
void forget_other_results() noexcept;

} // namespace heapwise::gc
