// Which faults of the program are the heap's: an access to memory that it has hidden.
#pragma once

namespace heapwise::detail {

/// Effects: faults that the program has no handler of are looked at from now on. Those of guarded
/// pages, behind a span or a large block, or in a block that was freed, are reported.
void watch_faults() noexcept;

} // namespace heapwise::detail
