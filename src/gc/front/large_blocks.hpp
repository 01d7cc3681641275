// Blocks that have slices of their own.
#pragma once

#include <cstddef>

#include "gc/base/kinds.hpp"

namespace heapwise::gc {

/// Returns: a block of one of the large kinds, or nullptr. Requires: no lock; a registered thread.
[[nodiscard]] void* allocate_large(std::size_t size_bytes, kind block_kind);

} // namespace heapwise::gc
