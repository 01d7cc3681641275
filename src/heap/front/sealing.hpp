// Making read-only what never changes once the heap has started.
#pragma once

namespace heapwise::detail {

/// Effects: the facts (sealed_facts.hpp), the options, and where the space and the guarded pages
/// are: all of it is read-only from now on, in a profile that seals. Returns: false if the system
/// refuses although it has room for more mappings: then the process must not go on. Without room
/// they stay writable, since a process that has as many mappings as it may have must live.
/// Requires: nobody writes to them any more.
[[nodiscard]] bool seal_facts() noexcept;

} // namespace heapwise::detail
