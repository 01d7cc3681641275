// Invariants that the library's own code asserts, in two strengths. The C library's assert
// allocates, which a heap with one of its locks held cannot serve.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise {

enum class strength {
  none,
  cheap,     // a few comparisons: builds for development
  expensive, // all that a bin knows is compared with its spans: -DHEAPWISE_HEAP_CHECKS=2
};

// Tests that look inside say what the library says.
#ifndef HEAPWISE_HEAP_CHECKS
#define HEAPWISE_HEAP_CHECKS 0
#endif

/// What this library was built with.
inline constexpr auto checks = static_cast<strength>(HEAPWISE_HEAP_CHECKS);

/// Effects: writes a line on standard error and ends the process.
[[noreturn]] HEAPWISE_COLD inline void report_broken(std::string_view invariant) noexcept {
  constexpr std::size_t most_bytes = 256;
  std::array<char, most_bytes> line{};
  std::size_t length = 0;
  for (const std::string_view part :
       {std::string_view{"heapwise: an invariant of the library is broken: "}, invariant,
        std::string_view{". Next: report it, with the program that shows it\n"}}) {
    const std::size_t fits = std::min(part.size(), line.size() - length);
    std::copy_n(part.data(), fits, line.data() + length);
    length += fits;
  }
  os::write_error(line.data(), length);
  std::abort();
}

/// Effects: ends the process if a condition does not hold that this build checks.
HEAPWISE_ALWAYS_INLINE constexpr void expects(bool holds, std::string_view invariant) noexcept {
  if constexpr (checks >= strength::cheap) {
    if (!holds) [[unlikely]]
      report_broken(invariant);
  }
}

/// Effects: the same for a condition that is a function, which only a build that checks calls: for
/// those that read an atomic or call a function, which others would do for nothing.
template <std::predicate Holds>
HEAPWISE_ALWAYS_INLINE constexpr void expects(Holds holds, std::string_view invariant) noexcept {
  if constexpr (checks >= strength::cheap) expects(static_cast<bool>(holds()), invariant);
}

/// Effects: ends the process if no thread holds the lock that a function requires.
template <class Lock>
HEAPWISE_ALWAYS_INLINE void expects_held(const Lock& lock) noexcept {
  if constexpr (requires { lock.is_locked(); }) { // the locks that count have no such function
    expects([&] { return lock.is_locked(); }, "the lock that the function requires is held");
  }
}

} // namespace heapwise
