// Where marking starts from.
#pragma once

#include "os/collector/world.hpp"

namespace heapwise::gc {

/// Words to be looked through. On stacks, an address inside of a block counts as well, and so does
/// one past its end.
struct root {
  os::memory_range range;
  bool on_stack;
};

} // namespace heapwise::gc
