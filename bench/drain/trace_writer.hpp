// Writes a trace file that never grows beyond its limit.
//
// The file is a sequence of windows. The first begins where the recording does and takes a quarter
// of the limit; each later one begins with the blocks that live there. If the limit would be
// passed, every second window is dropped, but not the first and not the one with the highest live
// bytes, and windows are twice as far apart from then on. So what is kept is spread over the whole
// recording.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/file.hpp"

namespace heapwise::bench {

class trace_writer {
 public:
  /// Makes `path` anew. `limit` is of the whole file, in bytes. Check ok() after it.
  trace_writer(const std::string& path, std::uint64_t limit, const std::string& about);
  ~trace_writer();
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  [[nodiscard]] bool ok() const noexcept { return error_ == 0; }
  [[nodiscard]] int error() const noexcept { return error_; }

  /// Whether the frame that comes next is to be kept; if not, its events are only counted.
  [[nodiscard]] bool keeps_next() const noexcept { return keeping_; }
  /// Whether the next frame begins a window that needs the live blocks first.
  [[nodiscard]] bool wants_live() const noexcept { return wants_live_; }

  void write_live(frame_header about, const std::vector<unsigned char>& raw);
  /// Also to be called for a frame that is not kept, with the count of its events.
  void write_events(frame_header about, const std::vector<unsigned char>& raw, bool has_peak);
  void write_text(frame_kind kind, const std::string& json);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t kept_events() const noexcept;
  [[nodiscard]] std::size_t windows() const noexcept { return windows_.size(); }

  /// Writes index and trailer.
  void finish();

 private:
  struct window {
    std::uint32_t number;
    std::uint64_t bytes;
    std::uint64_t events;
    bool has_peak;
    std::vector<std::uint64_t> frames; ///< offsets
  };

  void append(frame_header about, const std::vector<unsigned char>& raw);
  void thin();
  void move_to(window& moved, std::uint64_t offset);
  void store(const void* bytes, std::size_t size, std::uint64_t at);
  void begin_window();
  void after_frame();

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor_;
  int file_ = -1;
  int error_ = 0;
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  std::uint64_t first_frame_ = 0;
  std::uint64_t frames_written_ = 0;
  std::vector<window> windows_;
  std::uint32_t windows_begun_ = 0;
  std::uint64_t gap_events_ = 0;     ///< not kept between two windows
  std::uint64_t skipped_events_ = 0; ///< since the last window
  bool keeping_ = true;
  bool wants_live_ = false;
  std::vector<unsigned char> stored_;
};

} // namespace heapwise::bench
