// What only the end of a block says about it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "player/trace_reader.hpp"

namespace heapwise::bench {

/// What the first reading of a trace finds out of each block.
struct future {
  std::unordered_set<std::uint64_t> handed_over;          ///< another thread ends them
  std::unordered_map<std::uint64_t, std::uint32_t> pages; ///< resident ones, of large blocks
  std::unordered_map<std::uint64_t, event_kind> ends;     ///< of blocks that live at the begin
};

/// Reads the trace once. Throws trace_error.
future read_future(trace_reader& trace);

} // namespace heapwise::bench
