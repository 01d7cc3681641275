// What the heap does before a request fails for lack of memory, and before it gives all free pages
// back.
#pragma once

namespace heapwise::detail {

/// Effects: brings the free blocks of the calling thread, of threads that have ended and between
/// threads back to their spans, and frees the spans without a block in use. Gives no pages back:
/// neither a limit of addresses nor the heap's own counts pages.
/// Requires: the caller holds no lock of the heap. Thread safety: all.
[[gnu::cold]] void free_what_waits() noexcept;

} // namespace heapwise::detail
