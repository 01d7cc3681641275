// The trace of one process: from its rings to its file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "drain/calls/resolver.hpp"
#include "drain/frames/trace_writer.hpp"
#include "drain/processes/other_program.hpp"
#include "drain/processes/process_end.hpp"
#include "drain/processes/trace_texts.hpp"
#include "drain/rings/rings.hpp"

namespace heapwise::bench {

/// What all traces of a recording share.
struct trace_context {
  rings& all;
  size_budget& budget;
  frame_compressor& compressor;
  std::string about; ///< an object in JSON
  unsigned time_shift = 0;
};

class process_trace {
 public:
  /// Opens the file. Check file().ok() after it.
  process_trace(trace_context& context, std::string path);

  /// Of the process that has the entry of this number. Requires that its texts can be mapped, else
  /// nothing is kept of it. `start` is a stamp.
  void begin(unsigned number, const process_identity& process, std::uint64_t start);

  /// Looks which program the process is now.
  void look_at_program() {
    const process_entry& entry = context_.all.memory().processes[number_];
    other_.look(process_.id, entry.images.load(std::memory_order_acquire));
  }

  /// Takes what is in the rings of the process, up to this stamp. Returns how many calls.
  std::uint64_t drain(std::uint64_t horizon);
  void give_up_waiting(std::uint64_t stamp) { resolver_->give_up_waiting(stamp); }
  void resume();
  /// Writes what was taken to the file, for readers that do not wait for the end; and what
  /// addresses mean to a file beside it, which is there until the end.
  void flush();

  /// Writes the rest, and lets go of all that only a living process needs.
  void finish(recording_end end);

  [[nodiscard]] const trace_writer& file() const noexcept { return file_; }
  [[nodiscard]] const process_identity& process() const noexcept { return process_; }
  [[nodiscard]] unsigned number() const noexcept { return number_; }
  [[nodiscard]] const process_end& end() const noexcept { return *end_; }
  /// Whether the budget had room for a trace.
  [[nodiscard]] bool is_kept() const noexcept { return is_kept_; }

  /// Since it began.
  [[nodiscard]] std::uint64_t start() const noexcept { return start_; }

  /// After finish(): the totals, and the path, as JSON.
  [[nodiscard]] std::string result_json() const;
  [[nodiscard]] std::string summary() const { return summary_(); }

 private:
  trace_context& context_;
  trace_writer file_;
  process_identity process_;
  unsigned number_ = 0;
  std::uint64_t start_ = 0;
  bool is_kept_ = false;
  bool has_names_ = false; ///< whether flush() has written them
  const process_texts* texts_ = nullptr;
  std::unique_ptr<process_end> end_;
  std::unique_ptr<call_tables> tables_;
  std::unique_ptr<resolver> resolver_;
  recording_totals totals_;
  std::string commands_ = "[]";
  std::string program_; ///< the path of the last one that was recorded
  other_program other_;
  std::function<std::string()> summary_;
};

} // namespace heapwise::bench
