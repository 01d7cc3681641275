// What the program and the environment ask of the collector.
#pragma once

#include "gc/state.hpp"

namespace heapwise::gc {

/// Returns: what the program asks for, with what the environment says instead. What is unknown
/// there is reported with one line each.
[[nodiscard]] settings choose(const heapwise_gc_options* wanted) noexcept;

} // namespace heapwise::gc
