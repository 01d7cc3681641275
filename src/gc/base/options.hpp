// What the program and the environment ask of the collector.
#pragma once

#include "gc/base/exported.hpp"
#include "gc/base/settings.hpp"

namespace heapwise::gc {

/// Returns: what the program asks for, except where the environment (HEAPWISE_GC_*) asks for
/// something else. An unknown option or value there is reported in one line and ignored.
[[nodiscard]] settings choose(const heapwise_gc_options* wanted) noexcept;

} // namespace heapwise::gc
