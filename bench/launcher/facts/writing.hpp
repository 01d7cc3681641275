// What a program wrote to anything but its output: files, pipes, devices.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// What the program would not have written without us.
struct written_for_us {
  std::int64_t to_pipes = 0; ///< its output
  std::int64_t to_files = 0; ///< the lines of the probe
};

/// What this process and all children that it waited for have written, by /proc/self/io.
struct writing {
  std::int64_t calls_bytes = -1; ///< by calls of write(); -1: nothing is known
  std::int64_t pages_bytes = -1; ///< of pages of files on disks that became dirty, mapped ones too

  static writing now();

  /// Returns: bytes written since `before`, without `ours`;
  /// -1 if nothing is known. Not seen are what is sent by send(), what is written to memory that
  /// processes share, up to 64 KiB of mapped files, and what children wrote whose end their parent
  /// ignores.
  [[nodiscard]] std::int64_t since(const writing& before, written_for_us ours) const;
};

} // namespace heapwise::bench
