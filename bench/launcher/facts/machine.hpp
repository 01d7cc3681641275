// What the kernel says about the machine while the child runs.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// Ticks that the hypervisor gave to others (all processors), from /proc/stat; -1 if unreadable.
std::int64_t read_steal_ticks();

/// Microseconds in which some task waited for a processor, from /proc/pressure/cpu; -1 if not
/// there.
std::int64_t read_psi_cpu_us();

/// VmHWM of this process; getrusage would answer with the peak of the one that exec'd us. -1: none.
std::int64_t read_own_peak_bytes();

} // namespace heapwise::bench
