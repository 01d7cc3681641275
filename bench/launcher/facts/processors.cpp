#include "launcher/facts/processors.hpp"

#include <algorithm>

#include "kernel/breadth.hpp"
#include "kernel/spin.hpp"

namespace heapwise::bench {
namespace {

constexpr int spins = 24;      // of about 80 microseconds, for all processors together
constexpr int least_spins = 3; // for each: an interrupt lengthens one of them

} // namespace

processors::processors(const cpu_list& cpus) {
  const int all = cpus.size();
  const int chosen = std::min(all, most);
  int index = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE && count_ < chosen; ++cpu) {
    if (!cpus.contains(cpu)) continue;
    if (index++ == count_ * all / chosen) places_[count_++].cpu = cpu;
  }
}

void processors::look(time spin, time breadth) {
  const cpu_list own = cpu_list::of_this_thread();
  for (int i = 0; i < count_; ++i) {
    cpu_list here;
    here.insert(places_[i].cpu);
    if (!here.apply()) continue;
    places_[i].*spin = calibrated_spin_ns(std::max(spins / count_, least_spins));
    places_[i].*breadth = quiet_core{0, 0}.look();
  }
  static_cast<void>(own.apply());
}

std::uint64_t processors::least(time which) const {
  std::uint64_t smallest = 0;
  for (int i = 0; i < count_; ++i) {
    const std::uint64_t value = places_[i].*which;
    if (value != 0 && (smallest == 0 || value < smallest)) smallest = value;
  }
  return smallest;
}

void processors::write(json_line& line) const {
  line.open('[');
  for (int i = 0; i < count_; ++i) {
    const place& each = places_[i];
    if (each.spin_before_ns == 0 || each.spin_after_ns == 0) continue;
    line.open('{').field("cpu", each.cpu);
    line.field("spin_before_ns", each.spin_before_ns).field("spin_after_ns", each.spin_after_ns);
    line.field("breadth_before_ns", each.breadth_before_ns);
    line.field("breadth_after_ns", each.breadth_after_ns).close('}');
  }
  line.close(']');
}

} // namespace heapwise::bench
