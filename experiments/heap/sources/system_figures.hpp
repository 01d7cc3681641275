// What the system says of itself in /proc, for experiments that it may not have room for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "sources/memory_groups.hpp"

namespace heaps {

/// The first number in a file; -1 if it cannot be read.
inline long number_in(const char* path) {
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  long number = -1;
  if (std::fscanf(file, "%ld", &number) != 1) number = -1;
  std::fclose(file);
  return number;
}

/// False if the system says that fewer bytes are available without swapping, or that a control
/// group of this process allows fewer. True if it does not say.
inline bool may_use(std::uint64_t bytes) {
  std::FILE* const file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return true;
  unsigned long long kilobytes = UINT64_MAX / 1024;
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) break;
  }
  std::fclose(file);
  return std::min<std::uint64_t>(kilobytes * 1024, left_in_groups()) >= bytes;
}

} // namespace heaps
