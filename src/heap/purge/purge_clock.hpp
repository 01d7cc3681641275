// The clock that gives memory back while the program does something else, or nothing.
#pragma once

#include <cstdint>

namespace heapwise::detail {

enum class after_stop : std::uint8_t {
  tick_again, ///< if there is memory that can be given back
  rest,       ///< for a while
};

/// While one lives, there is no clock's thread: of a call after which a thread may not keep what it
/// was started with (its user, its filters of system calls, its namespaces). Thread safety: all.
class clock_stop {
 public:
  /// Effects: tells the thread to end and waits for that, a second at most. A signal handler may
  /// have interrupted a holder of a lock that the thread needs.
  explicit clock_stop(after_stop then) noexcept;
  clock_stop(const clock_stop&) = delete;
  clock_stop& operator=(const clock_stop&) = delete;

  ~clock_stop();

 private:
  bool is_counted_;
  after_stop then_;
};

/// Whether this library has the calls that make a `clock_stop`. Not in a program that is linked
/// with an archive.
[[gnu::weak]] extern const bool calls_stop_clock;

/// Effects: no thread starts any more: the process took on a filter of system calls, which may end
/// a process that starts a thread.
void forbid_clock() noexcept;

/// Effects: in a child that has a copy of its parent's memory and was made without the handlers of
/// fork: forgets the parent's thread and what it held. Does nothing elsewhere.
void adopt_copy() noexcept;

/// Effects: in a forked child, where there is no clock: lets the next one start. `forked_in_pause`:
/// the clock was paused; if it waited for a lock that the forking thread holds, it goes on.
void forget_clock(bool forked_in_pause) noexcept;

} // namespace heapwise::detail
