// Makes a script of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "player/script.hpp"
#include "player/trace_reader.hpp"

namespace heapwise::bench {

/// The pools that a script has, and which call sites take their blocks from which of them.
struct pooling {
  std::vector<pooled_site> pools;
  std::unordered_map<std::uint32_t, unsigned> of_site; ///< index of `pools`
};

/// Reads the window twice: only its future says which blocks are handed over and what is touched.
/// `ns_a_unit` is the unit of the trace's times. Throws trace_error, also if `path` cannot be
/// written. No block of a site that has a pool may be resized.
void write_script(trace_reader& trace, double ns_a_unit, const std::string& path,
                  const pooling& pooled);

} // namespace heapwise::bench
