// operator new, which calls malloc: in a profile its caller is the site.
#pragma once

#include "recorder/stack_trace.hpp"
#include "trace/event.hpp"

namespace heapwise::bench {

/// Removes operator new from the begin of the stack. Returns the kind of the call: `kind` if there
/// was none. The loader's lock is taken once for each process.
[[nodiscard]] event_kind remove_operator_new(stack_trace& stack, event_kind kind) noexcept;

/// In a forked child: forgets what another thread was about to find when it was forked.
void leave_operators_new() noexcept;

} // namespace heapwise::bench
