// What a collector needs of an operating system: other threads stopped, and where addresses may be
// kept outside of its own heap. All of these keep errno.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::os {

using thread_id = std::uintptr_t;

/// A piece of memory that is looked through for addresses.
struct memory_range {
  const void* begin;
  const void* end;
};

[[nodiscard]] thread_id this_thread() noexcept;

/// Returns: the end of the calling thread's stack, above its first frame; in all threads but the
/// first it is above the thread-local variables of the libraries loaded at the start, too. nullptr
/// when the system does not tell.
[[nodiscard]] void* stack_end() noexcept;

/// Effects: from now on `interrupt` calls `stopped` in the other thread, between two of its
/// instructions, with its registers on its stack above `lowest`. Returns: whether it may be used.
[[nodiscard]] bool on_interrupt(void (*stopped)(void* lowest)) noexcept;

/// Requires: a thread that has not ended. Returns: whether it will get there.
bool interrupt(thread_id thread) noexcept;

/// Effects: calls `body(argument, lowest)` with the caller's registers on the stack above `lowest`.
void with_registers(void (*body)(void* argument, void* lowest), void* argument) noexcept;

/// Effects: `action` is called in each thread that called `watch_this_thread` when it ends.
[[nodiscard]] bool on_thread_end(void (*action)()) noexcept;
void watch_this_thread(bool yes) noexcept;

/// Effects: copies those values of the calling thread's pthread keys that lie in `wanted`.
/// Returns: how many. May be called by a thread that was interrupted.
std::size_t thread_values(memory_range wanted, const void** into, std::size_t room) noexcept;
inline constexpr std::size_t most_thread_values = 1024;

/// Effects: calls `body` once. Until it returns, no library is loaded or unloaded, and no other
/// thread is in the middle of it: the calling thread holds the loader's lock.
void while_nothing_is_loaded(void (*body)(void* argument), void* argument) noexcept;

/// Effects: calls `visit` for the writable data of the program and of every library that is loaded
/// now. Requires: called by the body of while_nothing_is_loaded.
using range_visitor = void(memory_range range, void* argument);
void each_static_range(range_visitor* visit, void* argument) noexcept;

[[nodiscard]] std::uint64_t now_ns() noexcept;
[[nodiscard]] std::size_t processors() noexcept;

/// Effects: ends the process, as a failed assertion does.
[[noreturn]] void abort() noexcept;

} // namespace heapwise::os
