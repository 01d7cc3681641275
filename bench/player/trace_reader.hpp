// Reads a window of a trace file, event by event, with absolute block numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/event.hpp"
#include "trace/file.hpp"
#include "trace/frame_rows.hpp"

namespace heapwise::bench {

/// An event with numbers that hold in the whole trace.
struct traced_event {
  event_kind kind;
  std::uint8_t alignment_log;
  std::uint32_t thread;
  std::uint32_t site;
  std::uint64_t time;  ///< in units of the trace
  std::uint64_t block; ///< that it makes or ends
  std::uint64_t size;  ///< in bytes; of an end: resident pages, 0 if they were not counted
};

/// A trace that was not cut to windows has one window, 0.
class trace_reader {
 public:
  /// Throws trace_error for a file that is not a trace, is damaged, or does not have this window.
  trace_reader(const std::string& path, std::uint32_t window);
  ~trace_reader();
  trace_reader(const trace_reader&) = delete;
  trace_reader& operator=(const trace_reader&) = delete;

  /// Calls `take` with each block that lives where the window begins, oldest first. Its kind is
  /// `none`, and its time that of the begin.
  void each_live(const std::function<void(const traced_event&)>& take);

  /// Calls `take` with each event, in the order of time. May be called again.
  void each(const std::function<void(const traced_event&)>& take);

 private:
  void read_frames(std::uint32_t window);

  int file_ = -1;
  std::uint32_t version_ = 0;
  std::optional<std::uint64_t> live_; ///< offset of the header of the live blocks
  std::vector<std::uint64_t> frames_; ///< offsets of the headers of events
  frame_content content_;
};

} // namespace heapwise::bench
