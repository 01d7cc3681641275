// Invariants that the heap's own code asserts, in two strengths. The C library's assert allocates,
// which a heap with one of its locks held cannot serve.
#pragma once

#include <concepts>
#include <cstdlib>
#include <string_view>

#include "heapwise/detail/config.hpp"
#include "options/text.hpp"

namespace heapwise::detail {

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
  text line;
  line.add("heapwise: an invariant of the heap is broken: ").add(invariant);
  line.add(". Next: report it, with the program that shows it\n");
  line.write();
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

} // namespace heapwise::detail
