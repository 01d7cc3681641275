#include "os/processor_quota.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fcntl.h>

#include "os/system_call.hpp"

namespace heapwise::os {

namespace {

using std::string_view;

/// Paths of control groups are shorter, mostly below 300 bytes. The heap may start on a small
/// stack.
constexpr std::size_t most_bytes = 1024;

/// A line or a path. Longer ones are cut off, and then found nowhere.
struct words {
  char bytes[most_bytes];
  std::size_t length = 0;

  words& add(string_view more) noexcept {
    const std::size_t count = std::min(more.size(), sizeof bytes - 1 - length);
    std::copy_n(more.data(), count, bytes + length);
    length += count;
    bytes[length] = 0;
    return *this;
  }
  [[nodiscard]] string_view view() const noexcept { return {bytes, length}; }
};

/// Effects: reads the begin of a file; nothing if that is not possible.
void read_file(const char* path, words& into) noexcept {
  into.length = 0;
  const system_answer file = system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (!file.succeeded()) return;
  while (into.length < sizeof into.bytes) {
    const system_answer got = system_call(SYS_read, file.value(), into.bytes + into.length,
                                          sizeof into.bytes - into.length);
    if (!got.succeeded() || got.value() == 0) break;
    into.length += static_cast<std::size_t>(got.value());
  }
  system_call(SYS_close, file.value());
}

/// Returns: the number that the text begins with, 0 if it begins with none. `rest` is behind it.
std::size_t number_of(string_view& rest) noexcept {
  std::size_t number = 0;
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
    number = number * 10 + static_cast<std::size_t>(rest.front() - '0');
    rest.remove_prefix(1);
  }
  return number;
}

/// Returns: how many processors that is, rounded up; SIZE_MAX if one of the two is 0.
std::size_t processors_of(std::size_t quota, std::size_t period) noexcept {
  return quota == 0 || period == 0 ? SIZE_MAX : (quota + period - 1) / period;
}

/// Returns: the processors that a file `cpu.max` allows: "QUOTA PERIOD", or "max PERIOD".
std::size_t quota_of(string_view text) noexcept {
  const std::size_t quota = number_of(text);
  if (quota == 0 || text.empty()) return SIZE_MAX;
  text.remove_prefix(1);
  return processors_of(quota, number_of(text));
}

/// Returns: whether one of the names, which have commas between them, is this one.
bool has_name(string_view names, string_view wanted) noexcept {
  while (true) {
    const std::size_t end = std::min(names.find(','), names.size());
    if (string_view{names.data(), end} == wanted) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + 1);
  }
}

/// Returns: the path of the process's control group that has this controller: "NUMBER:NAMES:PATH".
/// The line of version 2 has no names.
string_view group_of(string_view lines, string_view controller) noexcept {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    string_view line{lines.data(), end};
    lines.remove_prefix(std::min(end + 1, lines.size()));
    line.remove_prefix(std::min(line.find(':'), line.size() - 1) + 1);
    const std::size_t names_end = std::min(line.find(':'), line.size());
    if (names_end == line.size() || !has_name({line.data(), names_end}, controller)) continue;
    line.remove_prefix(names_end + 1);
    return line;
  }
  return {};
}

/// Returns: the least of what the group and those above it have, each of which `quota_in` tells:
/// each group has at most what the one above it has. The last one is "".
template <class Quota>
std::size_t least_quota(string_view group, Quota quota_in) noexcept {
  std::size_t least = SIZE_MAX;
  while (true) {
    while (group.ends_with('/')) group.remove_suffix(1);
    least = std::min(least, quota_in(group));
    if (group.empty()) return least;
    while (!group.empty() && !group.ends_with('/')) group.remove_suffix(1);
  }
}

} // namespace

std::size_t processor_quota(const char* groups, const char* mount) noexcept {
  words lines;
  words path;
  words text;
  read_file(groups, lines);
  const auto read = [&](string_view folder, string_view group, string_view name) noexcept {
    path.length = 0;
    path.add(mount).add(folder).add(group).add(name);
    read_file(path.bytes, text);
    return text.view();
  };
  const std::size_t newer = least_quota(group_of(lines.view(), ""), [&](string_view group) {
    return quota_of(read("", group, "/cpu.max"));
  });
  const std::size_t older = least_quota(group_of(lines.view(), "cpu"), [&](string_view group) {
    string_view quota = read("/cpu", group, "/cpu.cfs_quota_us"); // -1 if there is no limit
    const std::size_t allowed_us = number_of(quota);
    if (allowed_us == 0) return SIZE_MAX;
    string_view period = read("/cpu", group, "/cpu.cfs_period_us");
    return processors_of(allowed_us, number_of(period));
  });
  return std::min(newer, older);
}

} // namespace heapwise::os
