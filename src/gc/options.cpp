#include "gc/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "options/text.hpp"
#include "os/os.hpp"
#include "os/world.hpp"

namespace heapwise::gc {

namespace {

using std::string_view;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t default_markers = 4; // at most; more wait for memory, and for each other

bool read_number(string_view value, std::size_t& into, std::size_t least,
                 std::size_t most) noexcept {
  std::size_t read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc{} || end != value.data() + value.size()) return false;
  if (read < least || read > most) return false;
  into = read;
  return true;
}

bool read_mib(string_view value, std::size_t& into) noexcept {
  std::size_t in_mib = 0;
  if (!read_number(value, in_mib, 1, static_cast<std::size_t>(-1) / mib)) return false;
  into = in_mib * mib;
  return true;
}

bool read_switch(string_view value, bool& into) noexcept {
  std::size_t number = 0;
  if (!read_number(value, number, 0, 1)) return false;
  into = number == 1;
  return true;
}

bool read_signal(string_view value, int& into) noexcept {
  std::size_t number = 0;
  constexpr std::size_t most_signals = 64;
  if (!read_number(value, number, 1, most_signals)) return false;
  if (!os::can_interrupt_with(static_cast<int>(number))) return false;
  into = static_cast<int>(number);
  return true;
}

struct option {
  string_view name;
  bool (*read)(string_view value, settings& into) noexcept;
  string_view allowed;
};

constexpr string_view prefix = "HEAPWISE_GC_";

constexpr std::array known = std::to_array<option>({
    {"MARKERS",
     [](string_view value, settings& into) noexcept {
       return read_number(value, into.markers, 1, 16);
     },
     "1 to 16"},
    {"FREE_SPACE_DIVISOR",
     [](string_view value, settings& into) noexcept {
       return read_number(value, into.free_space_divisor, 1, 1000);
     },
     "1 to 1000"},
    {"LIMIT_MIB",
     [](string_view value, settings& into) noexcept { return read_mib(value, into.limit_bytes); },
     "a number of MiB above 0"},
    {"MARK_STACK_MIB",
     [](string_view value, settings& into) noexcept {
       return read_mib(value, into.mark_stack_bytes);
     },
     "a number of MiB above 0"},
    {"SIGNAL",
     [](string_view value, settings& into) noexcept { return read_signal(value, into.signal); },
     "the number of a signal that nothing else in the process uses, for example 30 for SIGPWR"},
    {"INTERIOR_POINTERS",
     [](string_view value, settings& into) noexcept { return read_switch(value, into.interior); },
     "0 or 1"},
    {"FIND_LEAKS",
     [](string_view value, settings& into) noexcept { return read_switch(value, into.find_leaks); },
     "0 or 1"},
    {"STATS",
     [](string_view value, settings& into) noexcept { return read_switch(value, into.stats); },
     "0 or 1"},
});

// The end of the line matters more. (substr would need the C++ runtime, which a program in C has
// not.)
string_view shortened(string_view word) noexcept {
  return {word.data(), std::min(word.size(), std::size_t{100})};
}

void refuse(string_view name, string_view value, string_view why, string_view allowed) noexcept {
  detail::text line;
  line.add("heapwise: ").add(prefix).add(shortened(name)).add("=").add(shortened(value));
  line.add(": ").add(why).add("; it is ignored. Next: ").add(allowed).add("\n").write();
}

void read(string_view name, string_view value, settings& into) noexcept {
  for (const option& each : known) {
    if (each.name != name) continue;
    if (!each.read(value, into)) refuse(name, value, "no such value", each.allowed);
    return;
  }
  refuse(name, value, "no such option",
         "MARKERS, FREE_SPACE_DIVISOR, LIMIT_MIB, MARK_STACK_MIB, SIGNAL, INTERIOR_POINTERS, "
         "FIND_LEAKS, STATS");
}

void read_environment(settings& into) noexcept {
  const char* const* entry = os::environment();
  if (entry == nullptr) return;
  for (; *entry != nullptr; ++entry) {
    const string_view line{*entry};
    const std::size_t equals = line.find('=');
    if (!line.starts_with(prefix) || equals == string_view::npos || equals < prefix.size())
      continue;
    read({line.data() + prefix.size(), equals - prefix.size()},
         string_view{line.data() + equals + 1}, into);
  }
}

} // namespace

settings choose(const heapwise_gc_options* wanted) noexcept {
  settings chosen;
  if (wanted != nullptr) {
    chosen.markers = wanted->markers;
    chosen.free_space_divisor = std::max<std::size_t>(wanted->free_space_divisor, 1);
    chosen.limit_bytes = wanted->limit_bytes;
    if (wanted->mark_stack_bytes != 0) chosen.mark_stack_bytes = wanted->mark_stack_bytes;
    if (wanted->signal != 0) chosen.signal = wanted->signal;
    chosen.interior = wanted->interior_pointers != 0;
    chosen.find_leaks = wanted->find_leaks != 0;
  }
  read_environment(chosen);
  if (chosen.markers == 0) chosen.markers = std::min(os::processors(), default_markers);
  return chosen;
}

} // namespace heapwise::gc
