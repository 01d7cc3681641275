// The former name of the policy `locked`. Deprecated: if a program uses both namespaces, `mutex` is
// ambiguous beside std::mutex. So no other header includes this one.
#pragma once

#include <heapwise/thread/locked.hpp>

namespace heapwise::inline v0_2 {

/// The former name of `locked`. Deprecated.
using mutex = locked;

} // namespace heapwise::inline v0_2
