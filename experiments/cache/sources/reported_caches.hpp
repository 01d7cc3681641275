// The data caches that the system says this machine has.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace caches {

inline constexpr std::size_t line_bytes = 64; ///< of x86-64 and most ARM; Apple's have 128

struct reported_cache {
  int level = 0;
  std::size_t bytes = 0;
  std::size_t ways = 0; ///< 0: not reported

  /// Addresses so far apart fall into the same set, if the cache does not scramble them.
  [[nodiscard]] std::size_t way_bytes() const noexcept { return ways == 0 ? 0 : bytes / ways; }
};

/// Reads one line of /sys/devices/system/cpu/cpu0/cache/index<index>/<name>; false if there is
/// none.
inline bool read_cache_file(int index, const char* name, char (&line)[32]) {
  char path[128];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  const auto close = [](std::FILE* open) { std::fclose(open); };
  const std::unique_ptr<std::FILE, decltype(close)> file{std::fopen(path, "re"), close};
  return file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr;
}

/// Of the first processor, nearest first; empty where the system does not tell.
inline std::vector<reported_cache> reported_data_caches() {
  std::vector<reported_cache> caches;
  char line[32];
  for (int index = 0; read_cache_file(index, "type", line); ++index) {
    if (std::strncmp(line, "Instruction", 11) == 0) continue;
    reported_cache one;
    unsigned long kib = 0;
    if (!read_cache_file(index, "level", line) || std::sscanf(line, "%d", &one.level) != 1)
      continue;
    if (!read_cache_file(index, "size", line) || std::sscanf(line, "%luK", &kib) != 1) continue;
    one.bytes = kib << 10;
    unsigned long ways = 0;
    if (read_cache_file(index, "ways_of_associativity", line)) std::sscanf(line, "%lu", &ways);
    one.ways = ways;
    if (one.bytes != 0) caches.push_back(one);
  }
  return caches;
}

/// Of that level, or all zero.
inline reported_cache reported_data_cache(int level) {
  for (const reported_cache& each : reported_data_caches()) {
    if (each.level == level) return each;
  }
  return {};
}

} // namespace caches
