#include "drain/processes/other_program.hpp"

#include <unistd.h>

#include <climits>
#include <string_view>

#include "line/json_line.hpp"
#include "probe/preload_fate.hpp"

namespace heapwise::bench {

namespace {

/// Without what the kernel appends when the file is gone.
std::string_view bare(std::string_view path) {
  constexpr std::string_view mark = " (deleted)";
  if (path.ends_with(mark)) path.remove_suffix(mark.size());
  return path;
}

std::string written(std::string_view program, std::string_view preload) {
  constexpr std::size_t most_bytes = 256; // a summary has 8 KiB in a file
  if (program.size() > most_bytes) program.remove_prefix(program.size() - most_bytes);
  std::string buffer((program.size() + preload.size()) * 6 + 64, '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{').key("program").value(program).key("preload").value(preload).close('}');
  return std::string{line.text()};
}

} // namespace

void other_program::look(pid_t process, std::uint32_t images) {
  const std::string link = "/proc/" + std::to_string(process) + "/exe";
  char path[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  if (length <= 0) return;
  running_.assign(path, static_cast<std::size_t>(length));
  images_then_ = images;
}

void other_program::decide(const image_log& images, const exec_note& next) {
  std::uint32_t count = 0;
  bool was_recorded = false;
  images.visit([&](const image_log::image& each) {
    ++count;
    was_recorded |= bare(each.program) == bare(running_);
  });
  const bool is_noted = next.process.load(std::memory_order_acquire) != 0;
  const bool differs = !running_.empty() && !was_recorded && images_then_ == count;
  if (!is_noted && !differs) return;
  was_seen_ = true;
  program_ = differs ? std::string{bare(running_)} : std::string{next.target};
  if (is_noted) preload_ = name_of(next.fate.load(std::memory_order_acquire));
}

std::string other_program::json() const { return was_seen_ ? written(program_, preload_) : "null"; }

std::string other_program_json(const exec_note& note) {
  return written(note.target, name_of(note.fate.load(std::memory_order_acquire)));
}

} // namespace heapwise::bench
