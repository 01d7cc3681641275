// Waiting for files, also where a sandbox refuses the newest call for it.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

namespace heapwise::bench {

/// A wait that only a file or a signal ends.
inline constexpr std::uint64_t without_end = UINT64_MAX;

/// Effects: returns when one of `files` is ready, a signal came, or `left_ns` is over. If the
/// kernel refuses every call for that, sleeps for a moment. Returns: false if that was refused:
/// then `revents` says nothing. Thread safety: safe.
inline bool wait_until_ready(std::span<pollfd> files, std::uint64_t left_ns) noexcept {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  const auto timespec_of = [](std::uint64_t nanoseconds) {
    return timespec{static_cast<time_t>(nanoseconds / second_ns),
                    static_cast<long>(nanoseconds % second_ns)};
  };
  for (pollfd& each : files) each.revents = 0;
  const timespec left = timespec_of(left_ns);
  const timespec* end = left_ns == without_end ? nullptr : &left;
  if (ppoll(files.data(), files.size(), end, nullptr) >= 0 || errno == EINTR) return true;
#ifdef SYS_poll
  const std::uint64_t most_ns = std::min(left_ns, 3600 * second_ns);
  const auto milliseconds = static_cast<int>((most_ns + 999'999) / 1'000'000);
  if (syscall(SYS_poll, files.data(), files.size(), milliseconds) >= 0 || errno == EINTR) {
    return true;
  }
#endif
  const timespec moment = timespec_of(std::min(left_ns, second_ns / 200));
  nanosleep(&moment, nullptr);
  return false;
}

} // namespace heapwise::bench
