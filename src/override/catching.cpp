#include "override/cpp_runtime.hpp"

void* heapwise::detail::call_or_null(void* (*call)(const request&), const request& asked) noexcept {
  try {
    return call(asked);
  } catch (...) {
    return nullptr;
  }
}
