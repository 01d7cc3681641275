#include "launcher/facts/machine.hpp"

#include <cstdlib>
#include <cstring>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
std::int64_t read_steal_ticks() {
  constexpr int fields_before = 7; // user nice system idle iowait irq softirq, see proc(5)
  const small_file stat{"/proc/stat"};
  if (std::strncmp(stat.text(), "cpu ", 4) != 0) return -1;
  char* at = const_cast<char*>(stat.text()) + 4;
  for (int field = 0; field < fields_before; ++field) std::strtoll(at, &at, 10);
  return std::strtoll(at, nullptr, 10);
}

std::int64_t read_psi_cpu_us() { return small_file{"/proc/pressure/cpu"}.number_after("total="); }

std::int64_t read_own_peak_bytes() {
  const std::int64_t kibibytes = small_file{"/proc/self/status"}.number_after("VmHWM:");
  return kibibytes < 0 ? -1 : kibibytes * 1024;
}

} // namespace heapwise::bench
