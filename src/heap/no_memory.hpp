// What the heap says when there is no memory.
#pragma once

namespace heapwise::detail {

/// Effects: sets errno to ENOMEM; by the option HEAPWISE_OUT_OF_MEMORY=abort says so and aborts.
/// Returns: nullptr.
[[gnu::cold]] void* no_memory() noexcept;

} // namespace heapwise::detail
