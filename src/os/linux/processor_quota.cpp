#include "os/processor_quota.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "os/linux/group_files.hpp"

namespace heapwise::os {

namespace {

using std::string_view;

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

} // namespace

std::size_t processor_quota(const char* groups, const char* mount) noexcept {
  group_words lines;
  group_words path;
  group_words text;
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
