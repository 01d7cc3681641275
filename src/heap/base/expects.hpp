// Invariants that the heap's own code asserts, in two strengths. The C library's assert allocates,
// which a heap with one of its locks held cannot serve.
#pragma once

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
HEAPWISE_ALWAYS_INLINE void expects(bool holds, std::string_view invariant) noexcept {
  if constexpr (checks >= strength::cheap) {
    if (!holds) [[unlikely]]
      report_broken(invariant);
  }
}

} // namespace heapwise::detail
