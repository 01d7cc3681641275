// What belongs to the calls of one process: call sites, stacks and threads, by number.
#pragma once

#include <cstdint>

#include "drain/calls/call.hpp"

namespace heapwise::bench {

struct call_tables {
  call_sites sites;
  call_stacks stacks;
  std::uint32_t threads = 0; ///< seen so far
};

} // namespace heapwise::bench
