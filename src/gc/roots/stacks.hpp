// Which parts of stacks are roots: a thread may run on a stack that is not its own.
#pragma once

#include "gc/state/state.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

/// Effects: calls `visit` for the parts of stacks that the thread may still use. Stacks that were
/// added are left out. Requires: the lock, and a thread that stands still.
void each_stack_part(const thread_record& of_thread, os::range_visitor* visit,
                     void* argument) noexcept;

} // namespace heapwise::gc
