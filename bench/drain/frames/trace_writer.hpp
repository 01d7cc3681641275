// Writes a trace file, whose bytes come from a budget that it shares with other traces.
//
// The file is a sequence of windows. The first begins where the recording does and takes a quarter
// of the limit; each later one begins with the blocks that live there. If the budget is used up,
// the largest trace drops every second window, but not the first and not the one with the highest
// live bytes, and its windows are twice as far apart from then on. So what is kept is spread over
// the whole run. A trace with few windows drops the end of each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drain/frames/frame_compressor.hpp"
#include "drain/frames/size_budget.hpp"
#include "trace/file.hpp"

namespace heapwise::bench {

class trace_writer final : public budgeted_file {
 public:
  /// Makes a new file `path`. Check ok() after it. All references must outlive the writer.
  trace_writer(std::string path, size_budget& budget, frame_compressor& compressor);
  ~trace_writer() override;
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  /// Writes the header, with what `about` says in JSON. Returns false if the budget has no room for
  /// a trace: then nothing may be written.
  [[nodiscard]] bool begin(const std::string& about);

  /// Removes the file, which has no room. Events may still be handed over; they are counted.
  void abandon();

  [[nodiscard]] bool ok() const noexcept { return error_ == 0; }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the frame that comes next is to be kept; if not, its events are only counted.
  [[nodiscard]] bool keeps_next() const noexcept { return keeping_; }
  /// Whether the next frame begins a window that needs the live blocks first.
  [[nodiscard]] bool wants_live() const noexcept { return wants_live_; }

  void write_live(frame_header about, const std::vector<unsigned char>& raw);
  /// Also to be called for a frame that is not kept, with the count of its events.
  void write_events(frame_header about, const std::vector<unsigned char>& raw, bool has_peak);

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return size_; }
  [[nodiscard]] std::uint64_t kept_events() const noexcept;
  [[nodiscard]] std::size_t windows() const noexcept { return windows_.size(); }

  /// Writes modules (left out if the budget has no room for them), summary, index and trailer, and
  /// closes the file. After a failure, too: then the file holds what came before it and still fits
  /// the disk, and ok() stays false. `summary` is called again if the file shrinks later: less was
  /// kept then.
  void finish(const std::string& modules, std::function<std::string()> summary);

  bool shrink() override;

 private:
  struct frame_place {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t events; ///< 0 of live blocks and of text
  };

  struct window {
    std::uint32_t number = 0;
    bool has_peak = false;
    std::vector<frame_place> frames;

    [[nodiscard]] std::uint64_t bytes() const noexcept;
    [[nodiscard]] std::uint64_t events() const noexcept;
    [[nodiscard]] bool cut();
  };

  [[nodiscard]] bool append(frame_header about, const std::vector<unsigned char>& raw,
                            frame_place& place);
  frame_place put(frame_header about, std::span<const unsigned char> stored);
  frame_place put_text(frame_kind kind, const std::vector<unsigned char>& stored,
                       std::size_t raw_bytes);
  void write_end();
  void drop_second_windows();
  bool cut_windows();
  bool drop_later_windows();
  bool drop_last_frame();
  void leave_window();
  void close_gaps();
  void widen_gap() noexcept;
  void move_to(frame_place& place, std::uint64_t offset);
  void store(const void* bytes, std::size_t size, std::uint64_t at);
  [[nodiscard]] bool open_again();
  void close_file() noexcept;
  void set_size(std::uint64_t size);
  void begin_window();
  void after_frame();

  std::string path_;
  size_budget& budget_;
  frame_compressor& compressor_;
  int file_ = -1;
  int error_ = 0;
  std::uint64_t share_; ///< what the windows are a part of: the limit, less after it has shrunk
  std::uint64_t size_ = 0;
  std::uint64_t charged_ = 0; ///< of the budget: the size, and what the end will take
  std::uint64_t first_frame_ = 0;
  std::uint64_t frames_written_ = 0;
  std::vector<window> windows_;
  std::vector<frame_place> texts_; ///< frames of text, behind all windows
  std::function<std::string()> summary_;
  std::size_t modules_frames_ = 0; ///< of the frames of text: 1, or 0 if there was no room
  std::uint32_t windows_begun_ = 0;
  std::uint64_t gap_events_ = 0;     ///< not kept between two windows
  std::uint64_t skipped_events_ = 0; ///< since the last window
  bool has_begun_ = false;
  bool keeping_ = true;
  bool wants_live_ = false;
};

} // namespace heapwise::bench
