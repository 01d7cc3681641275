// Makes a script of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "player/script.hpp"
#include "player/trace_reader.hpp"

namespace heapwise::bench {

/// Reads the trace twice: only its future says which blocks are handed over and what is touched.
/// `ns_a_unit` is the unit of the trace's times. Throws trace_error, also if `path` cannot be
/// written.
///
/// `pooled`: the call sites whose blocks come from a pool. None of their blocks may be resized.
void write_script(trace_reader& trace, double ns_a_unit, const std::string& path,
                  const std::map<std::uint32_t, pooled_site>& pooled);

} // namespace heapwise::bench
