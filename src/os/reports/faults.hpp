// What a report of a fault needs of the system. All of these are safe in a handler of a signal, and
// keep errno.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwise::os {

/// Addresses that calls return to, the innermost first.
struct stack_trace {
  static constexpr std::size_t most = 12;
  std::array<const void*, most> frames{};
  std::size_t count = 0;
};

/// What a function that has a frame keeps at its frame pointer.
struct frame {
  const frame* caller;
  const void* returns_to;
};

/// Addresses, from the first one to behind the last one.
struct address_range {
  const void* begin = nullptr;
  const void* end = nullptr;

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin) <
           reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(begin);
  }
};

/// Returns: the code of libheapwise-malloc, if this function is in that shared library. Empty if it
/// is in a program, or in another library.
[[nodiscard]] address_range own_code() noexcept;

/// Returns: the calling thread's stack, as far as it has frame pointers. What is read of it is
/// looked at by the system before, so that a wrong pointer ends the list, and not the process. A
/// frame in `changing` also ends it: another thread may hide that memory after the look.
[[nodiscard]] stack_trace trace_stack(address_range changing = {}) noexcept;

/// Returns: the number of the calling thread, as the system counts them.
[[nodiscard]] std::uint64_t thread_number() noexcept;

/// Effects: from the first call on, `action` is called with the address of each access that is not
/// allowed. If it returns, the handler that the program had is in place again, and the access
/// happens once more. A handler that the program installs later replaces it. A SIGSEGV that a
/// process sent does not call `action`, and has the effect that it has without it: the handler that
/// the program had is in place again, and gets the signal. Does nothing if the program ignores
/// SIGSEGV.
void watch_faults(void (*action)(const void* address)) noexcept;

/// What keeps a process from pages of its own.
enum class hidden_by : std::uint8_t {
  nothing,
  mark,       // in the table of pages, from Linux 6.13 on: the mapping stays whole
  protection, // of a mapping of their own
};

/// Effects: finds out how pages can be hidden here. Requires: no other thread hides or reveals.
void prepare_hiding() noexcept;

/// Effects: no access to these pages, and their contents are gone. Returns: how; `nothing` if the
/// system refuses, then only the contents are gone. Where only protection is left, and a limit of
/// data was in force at `prepare_hiding`, that is the answer: hidden pages do not count as data,
/// and may be refused later. Requires: private memory that can be written.
[[nodiscard]] hidden_by hide(void* memory, std::size_t size_bytes) noexcept;

/// Effects: as `hide`, but by protection only, which takes no longer for many pages than for one.
[[nodiscard]] hidden_by hide_by_protection(void* memory, std::size_t size_bytes) noexcept;

/// Effects: pages that are hidden so can be used. Returns: false if the system refuses.
[[nodiscard]] bool reveal(void* memory, std::size_t size_bytes, hidden_by how) noexcept;

/// What became of pages that nobody may write to any more.
enum class sealing : std::uint8_t {
  done,
  no_room, // they would be one mapping more than the process may have
  refused,
};

/// Effects: a write to these pages faults from now on. Does nothing, and says no_room, if they are
/// not whole pages of this system.
[[nodiscard]] sealing seal(void* memory, std::size_t size_bytes) noexcept;

/// A file at whose end is written, without the C library's buffers.
class appended_file {
 public:
  enum class start : std::uint8_t { as_it_is, empty };

  /// Effects: opens or creates it, for its owner alone. A symbolic link is not followed.
  explicit appended_file(const char* path, start from = start::as_it_is) noexcept;
  ~appended_file();
  appended_file(const appended_file&) = delete;
  appended_file& operator=(const appended_file&) = delete;
  /// Effects: writes all, or as much as can be. Returns: 0, or why not, as errno.
  int write(const char* text, std::size_t length) const noexcept;

  /// Returns: 0, or why the file could not be opened, as errno.
  [[nodiscard]] int error() const noexcept { return descriptor_ >= 0 ? 0 : -descriptor_; }

 private:
  int descriptor_;
};

/// Effects: the file gets another name, and takes the place of one that has it. Returns: 0, or why
/// not, as errno.
int rename_file(const char* from, const char* to) noexcept;

} // namespace heapwise::os
