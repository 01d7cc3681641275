#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/linux/group_files.hpp"
#include "os/memory_groups.hpp"

namespace heapwise::os {

namespace {

using std::string_view;

constexpr std::size_t free_part = 8;         // of the limit: less is short
constexpr std::size_t most_percent_wait = 9; // of the last ten seconds: more is short

/// Returns: the number behind the name, which begins a line or a word; 0 if it is not there.
std::size_t number_behind(string_view text, string_view name) noexcept {
  const std::size_t at = text.find(name);
  if (at == string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  return number_of(text);
}

/// The files of one control group.
class group_folder {
 public:
  group_folder(string_view mount, string_view controller, string_view group) noexcept
      : mount_{mount}, controller_{controller}, group_{group} {}

  [[nodiscard]] string_view read(string_view name) noexcept {
    path_.length = 0;
    path_.add(mount_).add(controller_).add(group_).add(name);
    read_file(path_.bytes, text_);
    return text_.view();
  }
  /// Returns: the number in the file; 0 if there is no file, or no number, such as "max".
  [[nodiscard]] std::size_t number_in(string_view name) noexcept {
    string_view text = read(name);
    return number_of(text);
  }

 private:
  string_view mount_;
  string_view controller_;
  string_view group_;
  group_words path_;
  group_words text_;
};

/// Returns: whether nearly all of the limit is used; false without a limit.
bool is_nearly_used(std::size_t limit, std::size_t used, std::size_t unused_files) noexcept {
  return limit != 0 && used - std::min(used, unused_files) > limit - limit / free_part;
}

std::size_t least_limit(std::size_t one, std::size_t other) noexcept {
  return std::min(one - 1, other - 1) + 1; // 0 is none: the largest
}

bool is_short(group_folder folder) noexcept {
  if (number_behind(folder.read("/memory.pressure"), "some avg10=") > most_percent_wait)
    return true;
  const std::size_t limit =
      least_limit(folder.number_in("/memory.high"), folder.number_in("/memory.max"));
  if (limit == 0) return false;
  const std::size_t used = folder.number_in("/memory.current");
  return is_nearly_used(limit, used,
                        number_behind(folder.read("/memory.stat"), "\ninactive_file "));
}

bool is_short_in_older(group_folder folder) noexcept {
  const std::size_t limit = folder.number_in("/memory.limit_in_bytes");
  const std::size_t used = folder.number_in("/memory.usage_in_bytes");
  return is_nearly_used(limit, used,
                        number_behind(folder.read("/memory.stat"), "\ninactive_file "));
}

} // namespace

bool memory_is_short(const char* groups, const char* mount) noexcept {
  group_words lines;
  read_file(groups, lines);
  return any_group(group_of(lines.view(), ""),
                   [&](string_view group) { return is_short({mount, "", group}); }) ||
         any_group(group_of(lines.view(), "memory"),
                   [&](string_view group) { return is_short_in_older({mount, "/memory", group}); });
}

} // namespace heapwise::os
