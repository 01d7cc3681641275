#include "heap/base/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "heap/base/running_options.hpp"
#include "heap/base/shards.hpp"
#include "options/environment.hpp"
#include "os/os.hpp"
#include "os/signals.hpp"

namespace heapwise::detail {

constinit options the_options;
constinit running_options the_running_options;

namespace {

using std::string_view;

bool read_invalid_free(string_view value, options& into) noexcept {
  if (value == "abort")
    into.invalid_free = when_invalid::abort;
  else if (value == "warn")
    into.invalid_free = when_invalid::warn;
  else if (value == "ignore")
    into.invalid_free = when_invalid::ignore;
  else
    return false;
  return true;
}

bool read_out_of_memory(string_view value, options& into) noexcept {
  if (value != "null" && value != "abort") return false;
  into.abort_without_memory = value == "abort";
  return true;
}

bool read_huge_pages(string_view value, options& into) noexcept {
  constexpr std::array<string_view, 4> names{"never", "0", "1", "always"}; // by huge_pages
  const auto* const name = std::ranges::find(names, value);
  if (name == names.end()) return false;
  into.huge_pages = static_cast<huge_pages>(name - names.begin());
  return true;
}

bool read_soft_limit(string_view value, options& into) noexcept {
  if (value != "auto") return read_mib<&options::soft_limit_bytes>(value, into);
  into.follows_groups = true;
  return true;
}

/// The value is copied: the program may change its environment.
template <auto member>
bool read_path(string_view value, options& into) noexcept {
  auto& path = into.*member;
  if (value.empty() || value.size() >= sizeof path) return false;
  std::copy_n(value.data(), value.size(), path);
  path[value.size()] = 0;
  return true;
}

/// Only the profiles that do not check every call sample blocks.
bool read_profile_every(string_view value, options& into) noexcept {
  constexpr std::uint64_t least = 4096;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (value == "0") return true;
  if constexpr (chosen_profile.keeps_states) return false;
  return read_number<&options::profile_every, least, most>(value, into);
}

bool read_purge_thread(string_view value, options& into) noexcept {
  if (value != "0" && value != "1") return false;
  into.purge_thread = value == "1" ? purge_threads::any : purge_threads::none;
  return true;
}

/// Only the profiles that check every call keep call sites.
bool read_call_sites(string_view value, options& into) noexcept {
  if constexpr (chosen_profile.keeps_states) return read_switch<&options::call_sites>(value, into);
  return value == "0";
}

constexpr auto longest_delay = std::numeric_limits<std::uint32_t>::max();

constexpr string_view profile_every = "PROFILE_EVERY";

constexpr option<options> known_options[] = {
    {"STATS", read_switch<&options::stats>, "0 or 1"},
    {"INVALID_FREE", read_invalid_free, "abort, warn or ignore"},
    {"PURGE_THREAD", read_purge_thread, "0 or 1"},
    {"PURGE_DELAY_MS", read_number<&options::purge_delay_ms, 0U, longest_delay>, "milliseconds"},
    {"OUT_OF_MEMORY", read_out_of_memory, "null or abort"},
    {"LIMIT_MIB", read_mib<&options::limit_bytes>, "a number of MiB above 0"},
    {.name = "SOFT_LIMIT_MIB",
     .read = read_soft_limit,
     .allowed = "auto, or a number of MiB above 0"},
    {.name = "SHARDS",
     .read = read_number<&options::shards, 1U, std::uint32_t{most_shards}>,
     .allowed = "1 to 32"},
    {.name = "REPORT", .read = read_path<&options::report>, .allowed = "a path of a file"},
    {.name = "HUGE_PAGES", .read = read_huge_pages, .allowed = "never, 0, 1 or always"},
    {.name = "GUARD_EVERY",
     .read = read_number<&options::guard_every, 0U, longest_delay>,
     .allowed = "a number of refills, or 0"},
    {.name = "DEEP_BINDING", .read = read_switch<&options::deep_binding>, .allowed = "0 or 1"},
    {.name = profile_every,
     .read = read_profile_every,
     .allowed = "0, or 4096 to 2^40 bytes in the profiles default and fast"},
    {.name = "PROFILE", .read = read_path<&options::profile>, .allowed = "the begin of a path"},
    {.name = "PROFILE_SIGNAL",
     .read = read_number<&options::profile_signal, 0U, std::uint32_t{os::last_signal}>,
     .allowed = "the number of a signal, 1 to 64, or 0"},
    {.name = "CALL_SITES",
     .read = read_call_sites,
     .allowed = "0, or 1 in the profiles guarded and hardened"},
};

constexpr variables<options> of_the_heap{.prefix = "HEAPWISE_MALLOC_", .options = known_options};

} // namespace

bool read_options() noexcept {
  if (os::environment() == nullptr) return false;
  read_environment(of_the_heap, the_options);
  return true;
}

bool asks_for_samples() noexcept {
  const char* const* entry = os::environment();
  if (entry == nullptr) return false;
  while (*entry != nullptr && variable_of(*entry, of_the_heap.prefix).option != profile_every) {
    ++entry;
  }
  return *entry != nullptr;
}

} // namespace heapwise::detail
