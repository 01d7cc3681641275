// Functions of the program that name the addresses in a block while it is marked.
#pragma once

#include "gc/state/layouts.hpp"

namespace heapwise::gc {

class marker;

/// Effects: calls the marking function of the layout, which the block has. What it names is marked
/// and noted down by `self`. Requires: a world that stands still, or a copy of it.
void call_function(const layout& its, const void* block, marker& self) noexcept;

} // namespace heapwise::gc
