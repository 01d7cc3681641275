// What a program wrote to anything but its output: files, pipes, devices.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// What this process and all children that it waited for have written, by /proc/self/io.
struct writing {
  std::int64_t calls_bytes = -1; ///< by calls of write(); -1: nothing is known
  std::int64_t pages_bytes = -1; ///< of pages of files on disks that became dirty, mapped ones too

  static writing now();

  /// Returns: bytes written since `before`, without `ours`: its output and what the probes wrote;
  /// -1 if nothing is known. Not seen are what is sent by send(), what is written to memory that
  /// processes share, and what children wrote whose end their parent ignores.
  [[nodiscard]] std::int64_t since(const writing& before, std::int64_t ours) const;
};

} // namespace heapwise::bench
