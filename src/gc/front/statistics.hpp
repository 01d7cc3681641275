// The collector's numbers.
#pragma once

#include "gc/state/state.hpp"

namespace heapwise::gc {

[[nodiscard]] heapwise_gc_statistics statistics() noexcept;

/// Effects: writes them to standard error, for people.
void print_statistics() noexcept;

} // namespace heapwise::gc
