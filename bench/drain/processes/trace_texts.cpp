#include "drain/processes/trace_texts.hpp"

#include <sys/wait.h>

#include <string_view>
#include <vector>

#include "drain/processes/module_files.hpp"
#include "line/json_line.hpp"

namespace heapwise::bench {

namespace {

constexpr std::size_t most_commands_bytes = 4500; ///< of the JSON: a summary has 8 KiB in a file

void add_arguments(json_line& line, std::string_view arguments) {
  line.open('[');
  while (!arguments.empty()) {
    const std::string_view each = arguments.substr(0, arguments.find('\0'));
    line.value(each);
    arguments.remove_prefix(std::min(each.size() + 1, arguments.size()));
  }
  line.close(']');
}

std::string arguments_json(std::string_view arguments) {
  std::string buffer(arguments.size() * 6 + 64, '\0');
  json_line line{buffer.data(), buffer.size()};
  add_arguments(line, arguments);
  return std::string{line.text()};
}

image_log::image last_of(const image_log& images) {
  image_log::image last{};
  images.visit([&](const image_log::image& each) { last = each; });
  return last;
}

} // namespace

std::string about_json(const std::string& about, const process_identity& process,
                       const image_log& images) {
  const image_log::image image = last_of(images);
  std::string buffer(about.size() + (image.program.size() + image.arguments.size()) * 6 + 512,
                     '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{');
  // Without its brackets.
  if (about.size() > 2) line.members(std::string_view{about}.substr(1, about.size() - 2));
  line.key("process").open('{').field("pid", process.id).field("parent", process.parent);
  line.field("first", process.is_first).field("forked", process.is_forked);
  line.key("program").value(image.program);
  line.key("argv");
  add_arguments(line, image.arguments);
  line.close('}').close('}');
  return std::string{line.text()};
}

std::string modules_json(const maps_text& maps, const call_sites& sites) {
  const std::uint32_t bytes = maps.bytes.load(std::memory_order_acquire);
  const std::string files = module_files_json({maps.text, bytes});
  std::string buffer(sites.addresses().size() * 24 + std::size_t{bytes} * 6 + files.size() + 4096,
                     '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{').key("maps").value(std::string_view{maps.text, bytes});
  line.key("files").members(files);
  line.key("sites").open('[');
  for (const std::uint64_t address : sites.addresses()) line.value(address);
  line.close(']').close('}');
  return std::string{line.text()};
}

std::string summary_json(const recording_totals& totals, const recording_end& end,
                         const std::string& commands) {
  std::string buffer(8192 + commands.size() + end.other_program.size(), '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{');
  line.field("events", totals.events).field("kept_events", end.kept_events);
  line.field("windows", end.windows);
  line.field("blocks", totals.blocks).field("bytes", totals.bytes);
  line.field("peak_live_bytes", totals.peak_live_bytes);
  line.field("peak_live_blocks", totals.peak_live_blocks);
  line.field("end_live_blocks", totals.end_live_blocks);
  line.field("end_live_bytes", totals.end_live_bytes);
  line.field("unknown_ends", totals.unknown_ends).field("lost_ends", totals.lost_ends);
  line.field("late_events", totals.late_events);
  line.field("threads", end.threads);
  line.field("threads_missed", end.threads_missed).field("events_missed", end.events_missed);
  line.field("other_processes", end.other_processes);
  line.field("forked_processes", end.forked_processes).field("images", end.images);
  line.key("other_program").members(end.other_program);
  line.field("pauses", end.pauses).field("paused_s", end.paused_s);
  line.field("ns_a_unit", end.ns_a_unit).field("wall_s", end.wall_s);
  line.key("exit_code");
  end.status&& WIFEXITED(*end.status) ? line.value(WEXITSTATUS(*end.status)) : line.null();
  line.key("signal");
  end.status&& WIFSIGNALED(*end.status) ? line.value(WTERMSIG(*end.status)) : line.null();
  line.key("calls").open('[');
  for (const std::uint64_t each : totals.calls) line.value(each);
  line.close(']').key("commands").members(commands).close('}');
  return std::string{line.text()};
}

std::string commands_json(const image_log& images) {
  std::vector<std::string> all;
  images.visit(
      [&](const image_log::image& each) { all.push_back(arguments_json(each.arguments)); });
  std::size_t first = all.size();
  std::size_t bytes = 0;
  while (first > 0 && bytes + all[first - 1].size() < most_commands_bytes) {
    bytes += all[--first].size() + 1;
  }
  std::string joined = "[";
  for (std::size_t i = first; i < all.size(); ++i) joined += (i > first ? "," : "") + all[i];
  return joined + "]";
}

} // namespace heapwise::bench
