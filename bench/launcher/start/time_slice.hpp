// How long the kernel lets a program run before it gives the processor to another.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// Effects: asks the kernel for slices of `wanted_ns` for this thread and what it starts (Linux
/// 6.12; older kernels ignore it). Returns: the length that holds now; -1 if the kernel does not
/// say. Programs that alternate on one processor find its caches cold at each change, so rare
/// changes make their processor time more like that of a program that runs alone.
std::int64_t take_time_slices(std::uint64_t wanted_ns);

} // namespace heapwise::bench
