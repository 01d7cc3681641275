// Which process this is, as /proc says it. Never allocates.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "trace/kernel.hpp"

namespace heapwise::bench {

/// When the process of this path (/proc/PID/stat) began, in ticks since the boot; 0 if that cannot
/// be read. It survives exec, and no later process with the same number has it.
[[nodiscard]] inline std::uint64_t start_time_of(const char* path) noexcept {
  const int file = kernel::open(path, O_RDONLY);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t got = kernel::read(file, text, sizeof text - 1);
  kernel::close(file);
  if (got <= 0) return 0;
  text[got] = '\0';
  // The name may hold spaces and brackets; fields are counted from its end (proc(5): field 2).
  const char* at = std::strrchr(text, ')');
  constexpr int name_field = 2;
  constexpr int start_field = 22;
  for (int field = name_field; at != nullptr && field < start_field; ++field) {
    at = std::strchr(at + 1, ' ');
  }
  return at != nullptr ? std::strtoull(at + 1, nullptr, 10) : 0;
}

[[nodiscard]] inline std::uint64_t number_of_namespace(const char* path) noexcept {
  struct stat status{};
  return kernel::look_at(path, status) ? status.st_ino : 0;
}

/// Numbers of processes mean the same in processes for which this is the same. 0: not known.
[[nodiscard]] inline std::uint64_t own_process_namespace() noexcept {
  return number_of_namespace("/proc/self/ns/pid");
}

/// Times since the boot mean the same in processes for which this is the same. 0: not known.
[[nodiscard]] inline std::uint64_t own_time_namespace() noexcept {
  return number_of_namespace("/proc/self/ns/time");
}

} // namespace heapwise::bench
