// What the system tells of a mapping of this process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace smaps {

/// Returns: the line of this kind for the mapping that holds an address, in /proc/self/smaps; empty
/// if there is none.
inline std::string line(const void* address, const std::string& kind) {
  std::ifstream mappings{"/proc/self/smaps"};
  std::string line;
  bool within = false;
  while (std::getline(mappings, line)) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      const auto number = reinterpret_cast<std::uintptr_t>(address);
      within = begin <= number && number < end;
    }
    if (within && line.rfind(kind, 0) == 0) return line;
  }
  return "";
}

/// Returns: whether the mapping has the flag of VmFlags, for example "hg": huge pages are wanted.
inline bool has_flag(const void* address, const std::string& flag) {
  return line(address, "VmFlags:").find(' ' + flag) != std::string::npos;
}

/// Returns: whether the system knows transparent huge pages and tells the flags of mappings.
inline bool tells_huge_pages() {
  static const int here = 0;
  return std::ifstream{"/sys/kernel/mm/transparent_hugepage/enabled"}.good() &&
         !line(&here, "VmFlags:").empty();
}

} // namespace smaps
