// All processes of one recording, from their first call to their last.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drain/frames/trace_paths.hpp"
#include "drain/processes/pauses.hpp"
#include "drain/processes/process_trace.hpp"
#include "drain/rings/tick_length.hpp"

namespace heapwise::bench {

class recording {
 public:
  recording(trace_context& context, const tick_length& tick, pauses& pausing,
            const std::string& path);

  /// Of the program that was started. `start` is a stamp before its first event.
  void begin_first(pid_t process, std::uint64_t start);

  /// Reads all rings once. Returns how many calls it has taken. Notices processes that have begun,
  /// and finishes the traces of those that have ended.
  std::uint64_t pass();

  /// The program has ended, with this status of waitpid.
  void end_first(int status) noexcept { status_ = status; }
  /// Nothing is recorded any more, but what is in the rings.
  void stop() noexcept;

  /// Takes all that is in the rings, and marks where each recording goes on.
  void resume();

  /// Takes all that is in the rings, and writes it to the files.
  void flush();

  /// Waits this time at most. It ends earlier if there is something to do that is not in `calls`
  /// of the alarm yet, or when the program ends, or the last process after it.
  void wait(std::uint32_t calls, long nanoseconds) const;

  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
  [[nodiscard]] std::size_t running() const noexcept { return live_.size(); }
  /// Of the trace of the first process, and of the others: 0 if all could be written.
  [[nodiscard]] int error() const noexcept;
  /// Path of the trace that could not be written.
  [[nodiscard]] const std::string& failed_path() const noexcept;
  [[nodiscard]] bool first_is_written() const noexcept { return traces_.front()->file().ok(); }

  /// After all have ended: the summary of the first, with a list of all processes.
  [[nodiscard]] std::string result_json() const;

 private:
  void discover();
  void begin_child(unsigned number);
  void reclaim(std::uint64_t now);
  void finish(process_trace& ended);
  [[nodiscard]] bool has_ended(const process_trace& each) const;
  [[nodiscard]] std::string failure_json() const;
  [[nodiscard]] bool had_recorder(pid_t process) const;
  [[nodiscard]] recording_end end_of(const process_trace& ended) const;
  [[nodiscard]] std::uint64_t ticks(double nanoseconds) const noexcept;

  trace_context& context_;
  const tick_length& tick_;
  pauses& pausing_;
  trace_paths paths_;
  std::vector<std::unique_ptr<process_trace>> traces_; ///< in the order of their begin
  std::vector<process_trace*> live_;
  std::array<process_trace*, most_processes> by_number_{};
  std::optional<int> status_;
  bool is_stopped_ = false;
  std::uint64_t reclaimed_at_ = 0; ///< a stamp
};

} // namespace heapwise::bench
