// What the operators new need of the program's C++ runtime. A program in C has none, and must not
// have to load one for a malloc. libheapwise-malloc.so looks for it when there is no memory
// (cpp_runtime_found.cpp): it may have come later, with a plug-in. In a program that is linked with
// the archive, the operators bring it (cpp_runtime_linked.cpp).
#pragma once

#include <new>

#include "override/allocating.hpp"

namespace heapwise::detail {

/// Returns: the new handler of the runtime that the code at `caller` uses; nullptr if there is
/// none.
[[nodiscard]] std::new_handler new_handler_of(const void* caller) noexcept;

/// Throws: std::bad_alloc of the same runtime. Ends the process with a line on standard error if
/// there is no runtime.
[[noreturn]] void throw_bad_alloc(const void* caller);

/// Returns: `call(asked)`, or nullptr if it throws.
[[nodiscard]] void* call_or_null(void* (*call)(const request&), const request& asked) noexcept;

} // namespace heapwise::detail
