// What marking starts from.
#pragma once

#include "gc/base/page_list.hpp"
#include "gc/base/root.hpp"

namespace heapwise::gc {

/// Effects: stops the world at a moment in which no thread replaces the table of its thread-local
/// variables. A thread does that when it uses a library for the first time, with a few
/// instructions; then it is given time to go on. Requires: as stop_world; nothing is loaded or
/// unloaded.
void stop_world_with_tables() noexcept;

/// Effects: writes down everything that is looked through for addresses of blocks. The frames of
/// the calling thread begin at `lowest`. Returns: whether there was memory for all of it. Requires:
/// the world was stopped by stop_world_with_tables.
[[nodiscard]] bool gather_roots(page_list<root>& into, const void* lowest) noexcept;

} // namespace heapwise::gc
