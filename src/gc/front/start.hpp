// The start of the collector, and what a fork and the end of the process ask of it.
#pragma once

#include "gc/base/exported.hpp"

namespace heapwise::gc {

/// Effects: as heapwise_gc_init.
[[nodiscard]] int start(const heapwise_gc_options* options) noexcept;

} // namespace heapwise::gc
