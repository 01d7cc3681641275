#include "heap/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "options/text.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit options the_options;

namespace {

using std::string_view;

bool read_switch(string_view value, bool& into) noexcept {
  if (value != "0" && value != "1") return false;
  into = value == "1";
  return true;
}

template <class Number>
bool read_number(string_view value, Number& into) noexcept {
  Number read{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc{} || end != value.data() + value.size()) return false;
  into = read;
  return true;
}

bool read_invalid_free(string_view value) noexcept {
  if (value == "abort")
    the_options.invalid_free = when_invalid::abort;
  else if (value == "warn")
    the_options.invalid_free = when_invalid::warn;
  else if (value == "ignore")
    the_options.invalid_free = when_invalid::ignore;
  else
    return false;
  return true;
}

bool read_limit(string_view value) noexcept {
  constexpr std::size_t mib = std::size_t{1} << 20;
  std::size_t in_mib = 0;
  if (!read_number(value, in_mib) || in_mib == 0 || in_mib > static_cast<std::size_t>(-1) / mib) {
    return false;
  }
  the_options.limit_bytes = in_mib * mib;
  return true;
}

bool read_out_of_memory(string_view value) noexcept {
  if (value != "null" && value != "abort") return false;
  the_options.abort_without_memory = value == "abort";
  return true;
}

struct option {
  string_view name;
  bool (*read)(string_view value) noexcept;
  string_view allowed;
};

constexpr string_view prefix = "HEAPWISE_";

constexpr std::array known = std::to_array<option>({
    {"STATS", [](string_view value) noexcept { return read_switch(value, the_options.stats); },
     "0 or 1"},
    {"INVALID_FREE", read_invalid_free, "abort, warn or ignore"},
    {"PURGE_THREAD",
     [](string_view value) noexcept { return read_switch(value, the_options.purge_thread); },
     "0 or 1"},
    {"PURGE_DELAY_MS",
     [](string_view value) noexcept { return read_number(value, the_options.purge_delay_ms); },
     "milliseconds"},
    {"OUT_OF_MEMORY", read_out_of_memory, "null or abort"},
    {"LIMIT_MIB", read_limit, "a number of MiB above 0"},
});

// What the laboratory, the pools and the collector call theirs.
constexpr std::array others = std::to_array<string_view>(
    {"PROBE_", "COUNT_", "GC_", "NATIVE", "HOME", "DATA", "RESULTS", "PEERS", "TEST", "MALLOC"});

void refuse(string_view name, string_view value, string_view why, string_view allowed) noexcept {
  constexpr std::size_t most = 100; // of a name or value; the end of the line matters more
  name = {name.data(), std::min(name.size(), most)};
  value = {value.data(), std::min(value.size(), most)};
  text line;
  line.add("heapwise: ").add(prefix).add(name).add("=").add(value).add(": ").add(why);
  line.add("; it is ignored. Next: ").add(allowed).add("\n");
  line.write();
}

void read(string_view name, string_view value) noexcept {
  const auto* const found = std::find_if(known.begin(), known.end(),
                                         [&](const option& each) { return each.name == name; });
  if (found != known.end()) {
    if (!found->read(value)) refuse(name, value, "no such value", found->allowed);
    return;
  }
  const bool of_others = std::any_of(others.begin(), others.end(),
                                     [&](string_view each) { return name.starts_with(each); });
  if (of_others) return;
  refuse(name, value, "no such option",
         "STATS, INVALID_FREE, PURGE_THREAD, PURGE_DELAY_MS, OUT_OF_MEMORY, LIMIT_MIB");
}

} // namespace

void read_options() noexcept {
  const char* const* entry = os::environment();
  if (entry == nullptr) return;
  for (; *entry != nullptr; ++entry) {
    const string_view line{*entry};
    const std::size_t equals = line.find('=');
    if (!line.starts_with(prefix) || equals == string_view::npos) continue;
    const char* const name = line.data() + prefix.size();
    read({name, equals - prefix.size()}, string_view{line.data() + equals + 1});
  }
}

} // namespace heapwise::detail
