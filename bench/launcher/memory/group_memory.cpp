#include "launcher/memory/group_memory.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t growth_part = 16; // the parts are read again after that part of growth
constexpr std::uint64_t microsecond_ns = 1000;
constexpr std::uint64_t millisecond_ns = 1'000'000;

small_file file_of(const char* folder, const char* name) {
  char path[PATH_MAX + 64];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  return small_file{path};
}

/// Of a file that holds one number of bytes; -1 without one, which a limit that is not set has.
std::int64_t read_kib(const char* folder, const char* name) {
  const small_file file = file_of(folder, name);
  const bool number = std::isdigit(static_cast<unsigned char>(file.text()[0])) != 0;
  return number ? std::strtoll(file.text(), nullptr, 10) / kib : -1;
}

/// A line "label number" of a file that has one a line; -1 if there is none.
std::int64_t number_at(const small_file& file, const char* label) {
  const std::size_t length = std::strlen(label);
  for (const char* line = file.text(); line != nullptr && *line != '\0';) {
    if (std::strncmp(line, label, length) == 0 && line[length] == ' ') {
      return std::strtoll(line + length + 1, nullptr, 10);
    }
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return -1;
}

std::int64_t kib_at(const small_file& file, const char* label) {
  const std::int64_t bytes = number_at(file, label);
  return bytes < 0 ? -1 : bytes / kib;
}

/// The least of the group and of those around it; -1 without any.
std::int64_t least_limit_kib(const char* group) {
  char folder[PATH_MAX + 32];
  std::snprintf(folder, sizeof folder, "%s", group);
  std::int64_t least = -1;
  while (true) { // folders above the mount have no such file
    const std::int64_t limit = read_kib(folder, "memory.max");
    if (limit >= 0 && (least < 0 || limit < least)) least = limit;
    char* const last = std::strrchr(folder, '/');
    if (last == nullptr) return least;
    *last = '\0';
  }
}

std::int64_t read_kills(const char* folder) {
  return number_at(file_of(folder, "memory.events"), "oom_kill");
}

} // namespace

void group_memory::begin(std::uint64_t entering_ns) {
  if (group_.folder()[0] == '\0') return;
  begun_ = true;
  own_ = group_.is_own();
  entering_ns_ = entering_ns;
  kills_before_ = read_kills(group_.folder());
  if (!own_) before_kib_ = read_kib(group_.folder(), "memory.current");
}

void group_memory::look(std::uint64_t at_ns) {
  if (!begun_) return;
  const std::int64_t whole_kib = read_kib(group_.folder(), "memory.current");
  most_kib_ = std::max(most_kib_, whole_kib);
  const std::int64_t known_kib = parts_.whole_kib;
  if (whole_kib > known_kib + known_kib / growth_part) parts_ = read_parts(at_ns, whole_kib);
}

group_parts group_memory::read_parts(std::uint64_t at_ns, std::int64_t whole_kib) const {
  const small_file stat = file_of(group_.folder(), "memory.stat");
  return {.at_ns = at_ns,
          .whole_kib = whole_kib,
          .swap_kib = read_kib(group_.folder(), "memory.swap.current"),
          .anonymous_kib = kib_at(stat, "anon"),
          .file_kib = kib_at(stat, "file"),
          .shared_memory_kib = kib_at(stat, "shmem"),
          .inactive_file_kib = kib_at(stat, "inactive_file"),
          .kernel_kib = kib_at(stat, "kernel"),
          .socket_kib = kib_at(stat, "sock")};
}

void group_memory::end() {
  if (!begun_) return;
  peak_kib_ = read_kib(group_.folder(), "memory.peak");
  limit_kib_ = least_limit_kib(group_.folder());
  const std::int64_t kills = read_kills(group_.folder());
  kills_ = kills < 0 || kills_before_ < 0 ? -1 : kills - kills_before_;
}

void group_memory::write(json_line& line) const {
  if (!begun_) {
    line.null();
    return;
  }
  const auto number = [&line](const char* name, std::int64_t value) {
    line.key(name);
    value < 0 ? line.null() : line.value(value);
  };
  const auto at_ms = static_cast<std::int64_t>(parts_.at_ns / millisecond_ns);
  line.open('{').field("own", own_).field("entering_us", entering_ns_ / microsecond_ns);
  number("before_kib", before_kib_);
  number("peak_kib", peak_kib_);
  number("most_kib", most_kib_);
  number("parts_at_ms", parts_.whole_kib < 0 ? -1 : at_ms);
  number("parts_kib", parts_.whole_kib);
  number("swap_kib", parts_.swap_kib);
  number("anonymous_kib", parts_.anonymous_kib);
  number("file_kib", parts_.file_kib);
  number("shared_memory_kib", parts_.shared_memory_kib);
  number("inactive_file_kib", parts_.inactive_file_kib);
  number("kernel_kib", parts_.kernel_kib);
  number("socket_kib", parts_.socket_kib);
  number("limit_kib", limit_kib_);
  number("kills", kills_);
  line.close('}');
}

} // namespace heapwise::bench
