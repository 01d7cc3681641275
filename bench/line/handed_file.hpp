// A file that the launcher opens and that every process of the program inherits. A process that
// changed its user or its root can still write to it, and cannot open it by its path.
#pragma once

#include <sys/stat.h>

#include <cinttypes>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace heapwise::bench {

/// A descriptor together with the identity of its file: the program may close the descriptor, and
/// may then open something else under the same number.
struct handed_file {
  static constexpr std::size_t text_bytes = 64;

  int descriptor = -1;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  /// Returns: the identity of the open `descriptor`; that of no file if it is not open.
  static handed_file of(int descriptor) noexcept {
    struct stat status{};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) return {};
    return {descriptor, status.st_dev, status.st_ino};
  }

  /// Reads the text that `write` wrote; no file if `text` is something else.
  static handed_file parse(const char* text) noexcept {
    char* end = nullptr;
    const long descriptor = std::strtol(text, &end, 10);
    if (end == text || *end != ':' || descriptor < 0 || descriptor > INT_MAX) return {};
    const std::uint64_t device = std::strtoull(end + 1, &end, 16);
    if (*end != ':') return {};
    return {static_cast<int>(descriptor), device, std::strtoull(end + 1, nullptr, 16)};
  }

  /// The text has the same length for all files, so that it does not move the program's stack.
  void write(char (&text)[text_bytes]) const noexcept {
    std::snprintf(text, sizeof text, "%d:%016" PRIx64 ":%016" PRIx64, descriptor, device, inode);
  }

  /// Whether `other` is the same file under the same number.
  bool operator==(const handed_file& other) const noexcept = default;
};

/// The variables with the path and with the text of a file, for each of the probes.
struct handed_variables {
  const char* path;
  const char* descriptor;
};
inline constexpr handed_variables probe_variables{"HEAPWISE_PROBE_OUT", "HEAPWISE_PROBE_FILE"};
inline constexpr handed_variables count_variables{"HEAPWISE_COUNT_OUT", "HEAPWISE_COUNT_FILE"};

} // namespace heapwise::bench
