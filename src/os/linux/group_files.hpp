// The control groups of the process, as the system shows them in files. Nothing here allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fcntl.h>

#include "os/linux/system_call.hpp"

namespace heapwise::os {

/// Paths of control groups are shorter, mostly below 300 bytes. The heap may start on a small
/// stack.
inline constexpr std::size_t most_group_bytes = 1024;

/// A line or a path. Longer ones are cut off, and then found nowhere.
struct group_words {
  char bytes[most_group_bytes];
  std::size_t length = 0;

  group_words& add(std::string_view more) noexcept {
    const std::size_t count = std::min(more.size(), sizeof bytes - 1 - length);
    std::copy_n(more.data(), count, bytes + length);
    length += count;
    bytes[length] = 0;
    return *this;
  }
  [[nodiscard]] std::string_view view() const noexcept { return {bytes, length}; }
};

/// Effects: reads the begin of a file; nothing if that is not possible.
inline void read_file(const char* path, group_words& into) noexcept {
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
inline std::size_t number_of(std::string_view& rest) noexcept {
  std::size_t number = 0;
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
    number = number * 10 + static_cast<std::size_t>(rest.front() - '0');
    rest.remove_prefix(1);
  }
  return number;
}

/// Returns: whether one of the names, which have commas between them, is this one.
inline bool has_name(std::string_view names, std::string_view wanted) noexcept {
  while (true) {
    const std::size_t end = std::min(names.find(','), names.size());
    if (std::string_view{names.data(), end} == wanted) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + 1);
  }
}

/// Returns: the path of the process's control group that has this controller: "NUMBER:NAMES:PATH".
/// The line of version 2 has no names.
inline std::string_view group_of(std::string_view lines, std::string_view controller) noexcept {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line{lines.data(), end};
    lines.remove_prefix(std::min(end + 1, lines.size()));
    line.remove_prefix(std::min(line.find(':'), line.size() - 1) + 1);
    const std::size_t names_end = std::min(line.find(':'), line.size());
    if (names_end == line.size() || !has_name({line.data(), names_end}, controller)) continue;
    line.remove_prefix(names_end + 1);
    return line;
  }
  return {};
}

/// Returns: whether `holds` is true of the group or of one of those above it. The last one is "".
template <class Test>
bool any_group(std::string_view group, Test holds) noexcept {
  while (true) {
    while (group.ends_with('/')) group.remove_suffix(1);
    if (holds(group)) return true;
    if (group.empty()) return false;
    while (!group.empty() && !group.ends_with('/')) group.remove_suffix(1);
  }
}

/// Returns: the least of what the group and those above it have, each of which `quota_in` tells:
/// each group has at most what the one above it has.
template <class Quota>
std::size_t least_quota(std::string_view group, Quota quota_in) noexcept {
  std::size_t least = SIZE_MAX;
  any_group(group, [&](std::string_view each) {
    least = std::min(least, quota_in(each));
    return false;
  });
  return least;
}

} // namespace heapwise::os
