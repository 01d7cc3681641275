// How the pools' headers throw: by a call, so that they compile without exceptions too.
#pragma once

#include <heapwise/detail/config.hpp>

namespace heapwise::detail::inline v0_2 {

/// Throws: std::bad_alloc, from the library, which is compiled with exceptions. In a program
/// without them nothing catches it, so the program ends in std::terminate.
[[noreturn]] HEAPWISE_COLD void throw_bad_alloc();

/// Throws: std::bad_array_new_length, likewise.
[[noreturn]] HEAPWISE_COLD void throw_bad_array_new_length();

} // namespace heapwise::detail::inline v0_2
