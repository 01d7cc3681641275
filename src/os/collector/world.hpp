// What a collector needs of an operating system: other threads stopped, and where addresses may be
// kept outside of its own heap. All of these keep errno.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::os {

using thread_id = std::uintptr_t;
using thread_number = int; // the kernel's

/// A piece of memory that is looked through for addresses.
struct memory_range {
  const void* begin;
  const void* end;
};

[[nodiscard]] thread_id this_thread() noexcept;
[[nodiscard]] thread_number this_thread_number() noexcept;

/// Returns: the calling thread's own stack, as far as it may grow; in the first thread, under the
/// limit that holds now. It ends above the thread's first frame; in all threads but the first,
/// above the thread-local variables of the libraries loaded at the start, too. Two times nullptr if
/// the system does not tell.
[[nodiscard]] memory_range own_stack() noexcept;

/// Returns: the end of the alternate signal stack if the calling thread runs on it, else nullptr.
[[nodiscard]] const void* signal_stack_end() noexcept;

/// Returns: the part of `range` that ends (begins) where `range` does and can be read as a whole.
/// It is smaller than `range` by whole pages. Nothing is read, so that no stack grows.
[[nodiscard]] memory_range readable_tail(memory_range range) noexcept;
[[nodiscard]] memory_range readable_head(memory_range range) noexcept;

inline constexpr int default_signal = 23; // SIGURG: by default it is ignored, and debuggers pass it

/// Returns: whether a program can leave this signal to `interrupt`.
[[nodiscard]] bool can_interrupt_with(int signal) noexcept;

/// Effects: from now on `interrupt` calls `stopped` in the other thread, between two of its
/// instructions, with its registers on its stack above `lowest`. `stopped` returns whether it
/// expected the call. If not, the handler that the signal had before is called. Called once.
/// Returns: whether `interrupt` may be used. Requires: can_interrupt_with(signal).
[[nodiscard]] bool on_interrupt(int signal, bool (*stopped)(void* lowest)) noexcept;

enum class interruption {
  sent,
  ended,   // there is no such thread
  delayed, // the system has no room for another signal: ask again
};

/// Effects: interrupts a thread of this process.
interruption interrupt(thread_number thread) noexcept;

/// Returns: whether there is a thread of this number in this process.
[[nodiscard]] bool is_running(thread_number thread) noexcept;

/// Effects: the calling thread takes no signals, except those that end a process or report a fault.
/// Returns: what `restore_signals` needs to undo this.
using signal_mask = std::uint64_t;
signal_mask hold_signals() noexcept;

/// Effects: the calling thread no longer blocks the signal of `interrupt`. Returns: as
/// hold_signals.
signal_mask accept_interrupts() noexcept;

void restore_signals(signal_mask mask) noexcept;

/// Effects: calls `body(argument, lowest)` with the caller's registers on the stack above `lowest`.
void with_registers(void (*body)(void* argument, void* lowest), void* argument) noexcept;

/// Effects: writes zeros over the part of the stack that the functions called next will use. A
/// compiler leaves places in a frame that nobody writes. What an earlier call left there would look
/// like an address that the frame holds.
void clear_unused_stack() noexcept;

/// Effects: `action` is called in each thread that called `watch_this_thread` when it ends, in the
/// last round of the destructors of pthread keys, under ThreadSanitizer in the last but one. It is
/// not called if the thread first called `watch_this_thread` in such a destructor: the system does
/// not tell which round it is. Then `interrupt` says that the thread has ended.
[[nodiscard]] bool on_thread_end(void (*action)()) noexcept;

/// Returns: false if there is no memory, or if `action` was called in this thread: it does not get
/// there again.
bool watch_this_thread(bool yes) noexcept;

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

/// Effects: the calling thread sleeps for about this long; less if a signal comes.
void sleep(std::uint64_t duration_ns) noexcept;

[[nodiscard]] std::size_t processors() noexcept;

/// Where code is in its file, which debuggers and addr2line ask for.
struct code_place {
  const char* file = nullptr; // nullptr: it is not known
  const void* offset = nullptr;
};

/// Returns: the place of code of this process. May wait for libraries that are being loaded.
[[nodiscard]] code_place place_of(const void* code) noexcept;

/// Effects: ends the process, as a failed assertion does.
[[noreturn]] void abort() noexcept;

} // namespace heapwise::os
