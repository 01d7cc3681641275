// Whether a program that is about to start gets the libraries that are preloaded here.
#pragma once

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "trace/exec_note.hpp"

namespace heapwise::bench {

/// Returns: the value of `name`; nullptr if `environment` does not have it.
inline const char* find_variable(char* const* environment, std::string_view name) noexcept {
  if (environment == nullptr) return nullptr;
  for (; *environment != nullptr; ++environment) {
    const char* entry = *environment;
    if (std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=') {
      return entry + name.size() + 1;
    }
  }
  return nullptr;
}

/// What is preloaded into this process.
class preloaded_here {
 public:
  /// Returns false if nothing is, or if it is too long.
  bool remember() noexcept {
    const char* preload = std::getenv("LD_PRELOAD");
    if (preload == nullptr || std::strlen(preload) >= sizeof text_) return false;
    std::strcpy(text_, preload);
    return true;
  }

  /// In a program with this environment. `variable` is one that the libraries need.
  [[nodiscard]] preload_fate fate_in(char* const* environment,
                                     const char* variable) const noexcept {
    const char* there = find_variable(environment, "LD_PRELOAD");
    if (there == nullptr || there[0] == '\0') return preload_fate::dropped;
    if (std::strstr(there, text_) == nullptr) return preload_fate::changed;
    return find_variable(environment, variable) != nullptr ? preload_fate::kept
                                                           : preload_fate::silent;
  }

 private:
  char text_[4 * PATH_MAX] = {};
};

[[nodiscard]] constexpr const char* name_of(preload_fate fate) noexcept {
  switch (fate) {
    case preload_fate::dropped:
      return "dropped";
    case preload_fate::changed:
      return "changed";
    case preload_fate::silent:
      return "silent";
    default:
      return "kept";
  }
}

} // namespace heapwise::bench
