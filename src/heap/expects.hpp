// Invariants of the heap, checked in builds without NDEBUG (the presets dev, asan and tsan).
//
// HEAPWISE_EXPECTS checks a few values that are at hand. What looks at whole tables is a function
// `is_sound` of its class; the tests call it after each step of a random history.
#pragma once

namespace heapwise::detail {

/// Effects: says which invariant does not hold, and ends the process. It allocates nothing, since
/// the caller may hold a lock of the heap (the C library's `assert` allocates).
[[noreturn]] void fail_expectation(const char* condition, const char* file, int line) noexcept;

} // namespace heapwise::detail

#if defined(NDEBUG)
#define HEAPWISE_EXPECTS(condition) static_cast<void>(sizeof(!(condition)))
#else
#define HEAPWISE_EXPECTS(condition) \
  ((condition) ? static_cast<void>(0) \
               : ::heapwise::detail::fail_expectation(#condition, __FILE__, __LINE__))
#endif
