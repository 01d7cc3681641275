// What the heap says when there is no memory.
#pragma once

namespace heapwise::detail {

/// Effects: sets errno to ENOMEM. If the option HEAPWISE_MALLOC_OUT_OF_MEMORY is "abort", writes a
/// line on standard error and aborts.
/// Returns: nullptr.
[[gnu::cold]] void* no_memory() noexcept;

} // namespace heapwise::detail
