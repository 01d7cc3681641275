// What the library needs of an operating system: the only system calls. One file per system.
// All of these keep errno.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::os {

/// Returns: the size of a page in bytes, a power of two, the same at every call.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Returns: fresh zeroed pages that take no physical memory until they are touched, aligned to
/// `alignment` (a power of two), or nullptr.
/// Requires: size_bytes > 0, a multiple of the page size.
[[nodiscard]] void* map(std::size_t size_bytes, std::size_t alignment) noexcept;

/// Effects: gives pages back. Requires: what `map` or `reserve` returned, whole.
void unmap(void* memory, std::size_t size_bytes) noexcept;

/// Returns: addresses that may not be touched yet and cost nothing, aligned like those of `map`; or
/// nullptr.
[[nodiscard]] void* reserve(std::size_t size_bytes, std::size_t alignment) noexcept;

/// Effects: makes reserved pages readable; they are zero. Returns: whether the system agreed.
[[nodiscard]] bool show(void* memory, std::size_t size_bytes) noexcept;

/// Effects: makes reserved pages usable; they are zero. Returns: whether the system agreed.
[[nodiscard]] bool commit(void* memory, std::size_t size_bytes) noexcept;

/// Effects: gives the contents of committed pages back; they stay usable and read as zero.
/// Returns: whether the system agreed; if not, the pages are as they were.
bool purge(void* memory, std::size_t size_bytes) noexcept;

/// Effects: as `purge`, and undoes what `move_pages` did to how the system describes the pages.
bool renew(void* memory, std::size_t size_bytes) noexcept;

/// Effects: the pages at `from` become those at `to`; fresh zeroed ones take their place. Nothing
/// is copied. Returns: whether the system could; if not, nothing changed. Requires: whole committed
/// pages; the two do not overlap.
[[nodiscard]] bool move_pages(void* from, void* to, std::size_t size_bytes) noexcept;

/// Returns: how many bytes of addresses this process may use, SIZE_MAX without a limit.
[[nodiscard]] std::size_t address_limit_bytes() noexcept;

/// Effects: writes to standard error, all or as much as can be. Allocates nothing.
void write_error(const char* text, std::size_t length) noexcept;

/// Returns: a number that other processes cannot guess easily.
[[nodiscard]] unsigned long long random_word() noexcept;

/// Returns: the environment, a list of NAME=VALUE that ends with nullptr; nullptr without one.
/// Needs nothing of the C library to be ready.
[[nodiscard]] const char* const* environment() noexcept;

/// Returns: whether this process never had a second thread.
[[nodiscard]] bool is_single_threaded() noexcept;

/// Returns: the number of this process, never 0; a child of fork has another one.
[[nodiscard]] std::uint32_t process_id() noexcept;

/// Effects: calls the three around every later fork of this process: before it, and after it in the
/// parent and in the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// Effects: calls `action(argument)` when a thread ends that called `at_thread_exit(argument)`,
/// after the destructors of its thread_local objects. Called once, before the first of these.
/// Returns: whether the system has room for that. Neither takes a lock of the loader, which may be
/// held by who waits for this thread; `at_thread_exit` may allocate.
[[nodiscard]] bool set_thread_exit(void (*action)(void*)) noexcept;
void at_thread_exit(void* argument) noexcept;

/// Effects: starts a thread that takes no signals and keeps no process alive. May allocate.
[[nodiscard]] bool start_thread(void (*body)()) noexcept;

/// Effects: waits until `word` is no longer `expected`, for about `limit_ms` at most (0: for ever);
/// may return early. the others let those that wait look again.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;
void wake_one(std::atomic<std::uint32_t>& word) noexcept;

/// Effects: tells the processor that this is a loop that waits.
void pause() noexcept;

} // namespace heapwise::os
