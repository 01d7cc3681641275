// Spans in the hands of a thread: it sweeps one while it uses it up, a window at a time.
#pragma once

#include <cstddef>

#include "gc/base/kinds.hpp"
#include "gc/state/thread_record.hpp"

namespace heapwise::gc {

/// Effects: gets a span of the kind with free blocks in it, or one that is free altogether, for a
/// block of `asked_bytes`. Returns: whether there is one. Requires: the lock.
[[nodiscard]] bool next_span(thread_record& self, kind block_kind,
                             std::size_t asked_bytes) noexcept;

/// What the calling thread's window has for blocks of a kind; one block more is gone after it.
/// Effects: the thread gets a window with a block in it. Returns: whether there was one.
[[nodiscard]] bool next_window(thread_record& self, kind block_kind) noexcept;

} // namespace heapwise::gc
