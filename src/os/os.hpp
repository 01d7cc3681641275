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
/// Returns: whether the system agreed. It may refuse in a process that has as many mappings as it
/// may have; then nothing changed.
bool unmap(void* memory, std::size_t size_bytes) noexcept;

/// Effects: makes pages of `map` more, at their place or at another one, without copying; those
/// that are new are zero. Returns: the pages; nullptr if the system does not agree, and nothing
/// changed. Requires: what `map` or `enlarge` returned, whole; larger_bytes is a multiple of the
/// page size and not less than size_bytes.
[[nodiscard]] void* enlarge(void* memory, std::size_t size_bytes,
                            std::size_t larger_bytes) noexcept;

/// Returns: addresses that may not be touched yet and cost nothing, aligned like those of `map`; or
/// nullptr.
[[nodiscard]] void* reserve(std::size_t size_bytes, std::size_t alignment) noexcept;

/// What became of a request for pages at an address.
enum class placed {
  here,
  occupied, ///< something else is mapped there, at least in part
  refused,  ///< the system has no room for them, or a limit stands against them
};

/// Effects: as `map`, at exactly these addresses, if nothing is mapped there. What is mapped side
/// by side in this way is one mapping to the system. Returns: anything but `here`: nothing changed.
/// Requires: whole pages.
[[nodiscard]] placed map_at(void* memory, std::size_t size_bytes) noexcept;

/// Effects: as `map_at(end, size_bytes)` where pages of `map_at` end. It needs no mapping more, so
/// it also works in a process that has as many as it may have: the system refuses `map_at` there,
/// even where the new pages would be one mapping with their neighbours. Returns: whether the system
/// agreed; if not, nothing changed. Requires: whole pages; the page before `end` came from `map_at`
/// and was not used since.
[[nodiscard]] bool extend_mapping(void* end, std::size_t size_bytes) noexcept;

/// Effects: as `map_at`; the addresses may not be touched until `show` or `commit`.
[[nodiscard]] placed reserve_at(void* memory, std::size_t size_bytes) noexcept;

/// Returns: addresses at which the system places nothing unless it is told to, aligned to
/// `alignment`; other ones at each call, as far as addresses are random in this process. nullptr if
/// no such addresses are known for this processor, or not as many.
[[nodiscard]] void* quiet_addresses(std::size_t size_bytes, std::size_t alignment) noexcept;

/// Effects: memory of `map_at`, `commit` and `renew` can be tagged from now on, and an access to it
/// by an address with another tag faults, in this thread and those that it starts. Returns: whether
/// the processor and the system have tags; if not, nothing changed. Built with HEAPWISE_MTE only.
[[nodiscard]] bool allow_tags() noexcept;

/// Returns: whether the process runs with the same addresses each time, as debuggers want it.
[[nodiscard]] bool addresses_are_fixed() noexcept;

/// Returns: whether the system refuses new memory of this size, for example because the machine has
/// less. Unlike here, `map_at` asks the system not to count what is never written to.
[[nodiscard]] bool is_too_much(std::size_t size_bytes) noexcept;

/// Effects: makes reserved pages readable; they are zero. Returns: whether the system agreed.
[[nodiscard]] bool show(void* memory, std::size_t size_bytes) noexcept;

/// Effects: makes reserved pages usable; they are zero. Returns: whether the system agreed.
[[nodiscard]] bool commit(void* memory, std::size_t size_bytes) noexcept;

/// Effects: gives the contents of committed pages back, also of those that are locked in memory
/// (Linux 5.18); they stay usable and read as zero.
/// Returns: whether the system agreed; if not, the pages are as they were, those in front of the
/// ones that it refused possibly not.
bool purge(void* memory, std::size_t size_bytes) noexcept;

/// Effects: maps committed pages again: they read as zero, and are one mapping with what `map_at`
/// put around them, whatever `move_pages` or the program (`madvise`, `mlock`) made of them.
/// Returns: whether the system agreed. If not, they are as they were, or nothing is mapped there:
/// Linux before 6.12 unmaps before it knows whether memory may be charged (strict overcommit).
[[nodiscard]] bool renew(void* memory, std::size_t size_bytes) noexcept;

/// Returns: whether something is mapped at every one of these addresses. Requires: whole pages.
[[nodiscard]] bool is_mapped(const void* memory, std::size_t size_bytes) noexcept;

/// Returns: whether the pages are a single mapping to the system. False if the system does not
/// tell. Requires: whole pages at quiet addresses.
[[nodiscard]] bool is_one_mapping(const void* memory, std::size_t size_bytes) noexcept;

/// Effects: the pages at `from` become those at `to`, and nothing is mapped at `from` any more.
/// Nothing is copied, and no limit of addresses or memory is asked.
/// Returns: whether the system could. If not, the pages at `from` are as they were; at `to`
/// everything is as it was, or nothing is mapped: Linux unmaps the target before it looks at the
/// source. (All versions do so when memory for page tables is short. Up to 6.16 they do so also if
/// the source is more than one mapping; 6.17 moves several mappings one by one, and may stop
/// between two of them.) Requires: whole committed pages that are one mapping (`is_one_mapping`);
/// the two do not overlap.
[[nodiscard]] bool move_pages(void* from, void* to, std::size_t size_bytes) noexcept;

/// Returns: how many bytes of addresses this process may use, SIZE_MAX without a limit.
[[nodiscard]] std::size_t address_limit_bytes() noexcept;

/// Effects: writes to standard error, all or as much as can be. Allocates nothing.
void write_error(const char* text, std::size_t length) noexcept;

/// Returns: a number that other processes cannot guess easily.
[[nodiscard]] unsigned long long random_word() noexcept;

/// Returns: the environment, a list of NAME=VALUE that ends with nullptr; nullptr without one, and
/// in a program that has more rights than its user, who must not advise it. There may be none yet
/// while the C library is not ready.
[[nodiscard]] const char* const* environment() noexcept;

/// Effects: `environment` returns this one as long as the C library has none. Called by a
/// constructor, to which the loader passes it.
void remember_environment(const char* const* environment) noexcept;

/// Returns: a number that is the same in all threads that share this memory, a child of vfork
/// included, and never 0. In a child with a copy of the memory, however it was made, it is another
/// than in the parent.
[[nodiscard]] std::uint32_t memory_number() noexcept;

/// Effects: the library or program that this code is in is never unloaded, as if it had been linked
/// with `-z nodelete`. May allocate. Called by a constructor. Does nothing if the loader cannot do
/// it.
void keep_loaded() noexcept;

/// Returns: the function of that name which all libraries of the process see; nullptr if there is
/// none, or no loader. Takes the loader's lock, and may allocate. Called by a constructor.
[[nodiscard]] void* loaded_function(const char* name) noexcept;

/// Effects: calls the three around every later fork of this process: before it, and after it in the
/// parent and in the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// Effects: calls `action(argument)` when a thread ends that called `at_thread_exit(argument)`,
/// after the destructors of its thread_local objects. Called once, before the first of these.
/// Returns: whether the system has room for that. Neither takes a lock of the loader: a thread that
/// waits for this one may hold it. `at_thread_exit` may allocate. `action` is not called if
/// `at_thread_exit` is first called in the last round of destructors of the thread's keys: the
/// system does not tell which round it is.
[[nodiscard]] bool set_thread_exit(void (*action)(void*)) noexcept;
void at_thread_exit(void* argument) noexcept;

/// Effects: starts a thread that takes no signals and keeps no process alive. May allocate.
[[nodiscard]] bool start_thread(void (*body)()) noexcept;

/// Effects: starts a thread of which the C library knows nothing; it ends when `body` returns. It
/// takes no signals and keeps no process alive. It runs at normal priority (at that of the first
/// thread in a real-time process with a filter of system calls), on the processors that the first
/// thread may use at that moment. Takes no lock of the C library and allocates nothing through it,
/// so `free` may call it.
/// Requires: `body` needs no thread-local variable but errno and `variable`, which may have any
/// value when `body` begins. It calls nothing that needs a thread of the C library.
/// Errors: false if the system refuses, or if two such threads are there; a later call may succeed.
/// Thread safety: all.
[[nodiscard]] bool start_bare_thread(void (*body)(), const void* variable) noexcept;

/// Effects: as `wait`. A bare thread that calls it holds no lock and touches nothing that is
/// shared, so a fork may come meanwhile; it returns when that fork is done.
void rest(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept;

/// Effects: if the calling thread is a bare one and a fork waits for it, lets the fork be done.
/// Called where the thread holds no lock and has changed nothing by halves.
void let_fork() noexcept;

/// Effects: returns when each bare thread rests, is gone, or waits for a lock that the calling
/// thread holds. They stay so until `end_pause`. May be nested, as a signal handler may fork while
/// its thread forks. Requires: has_one_library_thread(); one bare thread works at a time.
void pause_bare_threads() noexcept;
void end_pause() noexcept;

/// Effects: in a child of a fork within a pause: a bare thread that waited for a lock, with others
/// held perhaps, goes on to wait in the child. Others are forgotten, except for one that the
/// calling thread was about to start when it was interrupted. Returns: whether there is one that
/// goes on. Errors: if the system refuses it, the locks that it holds stay locked.
[[nodiscard]] bool resume_bare_thread() noexcept;

/// Effects: in a forked child, which has none of its parent's bare threads: forgets them.
void forget_bare_threads() noexcept;

/// Returns: whether there is a bare thread. It may be about to end.
[[nodiscard]] bool has_bare_thread() noexcept;

/// Effects: waits until there is no bare thread, and the system knows of none, for about `limit_ms`
/// at most. Returns: whether there is none. Requires: each was told to end; none is about to start.
bool await_bare_threads(std::uint32_t limit_ms) noexcept;

/// Effects: `processor_count` counts the processors that the calling thread may use now.
void remember_processors() noexcept;

/// Returns: how many processors `remember_processors` found; 0 if it could not find out.
[[nodiscard]] std::size_t processor_count() noexcept;

/// Returns: whether this process never had a second thread of the C library. It may have bare ones.
[[nodiscard]] bool has_one_library_thread() noexcept;

/// Effects: waits until `word` is no longer `expected`, for about `limit_ms` at most (0: for ever);
/// may return early. `wake_all` wakes all threads that wait, `wake_one` one of them.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;
void wake_one(std::atomic<std::uint32_t>& word) noexcept;

/// Effects: tells the processor that this is a loop that waits.
void pause() noexcept;

} // namespace heapwise::os
