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

/// Returns: the processors that a file `cpu.max` allows: "QUOTA PERIOD", or "max PERIOD".
std::size_t quota_of(string_view text) noexcept {
  const std::size_t quota = number_of(text);
  if (quota == 0 || text.empty()) return SIZE_MAX;
  text.remove_prefix(1);
  const std::size_t period = number_of(text);
  return period == 0 ? SIZE_MAX : (quota + period - 1) / period;
}

/// Returns: the path of the process's control group of version 2, which the line "0::PATH" has.
string_view group_of(string_view lines) noexcept {
  constexpr string_view prefix = "0::";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const string_view line{lines.data(), end};
    if (line.starts_with(prefix)) return {line.data() + prefix.size(), end - prefix.size()};
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return {};
}

} // namespace

std::size_t processor_quota(const char* groups, const char* mount) noexcept {
  words lines;
  read_file(groups, lines);
  string_view group = group_of(lines.view());
  std::size_t least = SIZE_MAX;
  words path;
  words text;
  while (true) { // each group has at most what the one above it has
    while (group.ends_with('/')) group.remove_suffix(1);
    path.length = 0;
    path.add(mount).add(group).add("/cpu.max");
    read_file(path.bytes, text);
    least = std::min(least, quota_of(text.view()));
    if (group.empty()) return least;
    while (!group.empty() && !group.ends_with('/')) group.remove_suffix(1);
  }
}

} // namespace heapwise::os
