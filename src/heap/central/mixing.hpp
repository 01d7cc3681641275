// When spans become mixed ones, and which.
#pragma once

#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: whether growing would waste what lies free in spans. Slices that are free are better.
[[nodiscard]] bool sparse_enough() noexcept;

/// Effects: makes a mixed span of a span with many free blocks, of the class that has most of them,
/// if it has a hole for a block of the class `wanted`. Returns: whether it did.
[[nodiscard]] bool mix_sparsest(size_class wanted) noexcept;

} // namespace heapwise::detail
