#include "gc/base/options.hpp"

#include <algorithm>
#include <string_view>

#include "options/environment.hpp"
#include "os/collector/world.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

using std::string_view;
using namespace detail;

constexpr std::size_t default_markers = 4; // at most; more wait for memory, and for each other

bool read_signal(string_view value, settings& into) noexcept {
  int number = 0;
  constexpr int most_signals = 64;
  if (!parse_number(value, 1, most_signals, number)) return false;
  if (!os::can_interrupt_with(number)) return false;
  into.signal = number;
  return true;
}

bool read_interior(string_view value, settings& into) noexcept {
  int number = 0;
  if (!parse_number(value, 0, 2, number)) return false;
  into.interior = number > 0;
  into.past_end = number > 1;
  return true;
}

constexpr option<settings> known[] = {
    {"MARKERS", read_number<&settings::markers, 1UL, 16UL>, "1 to 16"},
    {"FREE_SPACE_DIVISOR", read_number<&settings::free_space_divisor, 1UL, 1000UL>, "1 to 1000"},
    {"LIMIT_MIB", read_mib<&settings::limit_bytes>, "a number of MiB above 0"},
    {"CONCURRENT_MIB", read_mib<&settings::concurrent_bytes>, "a number of MiB above 0"},
    {"MARK_STACK_MIB", read_mib<&settings::mark_stack_bytes>, "a number of MiB above 0"},
    {"SIGNAL", read_signal,
     "the number of a signal that nothing else in the process uses, for example 30 for SIGPWR"},
    {"INTERIOR_POINTERS", read_interior, "0 to 2"},
    {"REGISTER_THREADS", read_switch<&settings::register_threads>, "0 or 1"},
    {"FIND_LEAKS", read_switch<&settings::find_leaks>, "0 or 1"},
    {"DEBUG", read_switch<&settings::debug>, "0 or 1"},
    {"STATS", read_switch<&settings::stats>, "0 or 1"},
};

constexpr variables<settings> of_the_collector{.prefix = "HEAPWISE_GC_", .options = known};

} // namespace

settings choose(const heapwise_gc_options* wanted) noexcept {
  settings chosen;
  if (wanted != nullptr) {
    chosen.markers = wanted->markers;
    if (wanted->free_space_divisor != 0) chosen.free_space_divisor = wanted->free_space_divisor;
    chosen.limit_bytes = wanted->limit_bytes;
    if (wanted->mark_stack_bytes != 0) chosen.mark_stack_bytes = wanted->mark_stack_bytes;
    chosen.concurrent_bytes = wanted->concurrent_bytes;
    if (wanted->signal != 0) chosen.signal = wanted->signal;
    chosen.interior = wanted->interior_pointers != 0;
    chosen.past_end = wanted->interior_pointers == 2;
    chosen.register_threads = wanted->register_threads != 0;
    chosen.find_leaks = wanted->find_leaks != 0;
    chosen.debug = wanted->debug != 0;
  }
  read_environment(of_the_collector, chosen);
  if (chosen.markers == 0) chosen.markers = std::min(os::processors(), default_markers);
  return chosen;
}

} // namespace heapwise::gc
