#include "drain/trace_writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY // for ZSTD_c_literalCompressionMode
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace heapwise::bench {

namespace {

/// The search for repeats skips ahead where it finds none, as in the lowest bytes of sizes and
/// ages. What it leaves is Huffman-coded, which zstd does not do at negative levels unless told so.
constexpr int compression_level = -20;
/// For a zstd that does not know that: its fastest level that codes literals.
constexpr int compression_level_of_old = 1;

/// What index, trailer, and the frames of text at the end may take.
constexpr std::uint64_t reserve_bytes = 1U << 20;

} // namespace

trace_writer::trace_writer(const std::string& path, std::uint64_t limit, const std::string& about)
    : compressor_{ZSTD_createCCtx(), ZSTD_freeCCtx},
      limit_{std::max(limit, 4 * reserve_bytes) - reserve_bytes} {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file_ < 0) {
    error_ = errno;
    return;
  }
  const std::size_t codes =
      ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
  ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel,
                         ZSTD_isError(codes) != 0 ? compression_level_of_old : compression_level);
  ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_checksumFlag, 1);
  file_header header{};
  std::memcpy(header.magic, file_magic, sizeof header.magic);
  header.version = file_version;
  header.bytes = static_cast<std::uint32_t>(about.size());
  store(&header, sizeof header, 0);
  store(about.data(), about.size(), sizeof header);
  size_ = sizeof header + about.size();
  first_frame_ = size_;
  begin_window();
}

trace_writer::~trace_writer() {
  if (file_ >= 0) close(file_);
}

void trace_writer::store(const void* bytes, std::size_t size, std::uint64_t at) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (size > 0 && error_ == 0) {
    const ssize_t written = pwrite(file_, from, size, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error_ = written < 0 ? errno : ENOSPC;
      return;
    }
    from += written;
    size -= static_cast<std::size_t>(written);
    at += static_cast<std::uint64_t>(written);
  }
}

void trace_writer::begin_window() {
  windows_.push_back({windows_begun_++, 0, 0, false, {}});
  keeping_ = true;
  skipped_events_ = 0;
}

void trace_writer::append(frame_header about, const std::vector<unsigned char>& raw) {
  stored_.resize(ZSTD_compressBound(raw.size()));
  const std::size_t stored =
      ZSTD_compress2(compressor_.get(), stored_.data(), stored_.size(), raw.data(), raw.size());
  about.magic = frame_magic;
  about.columns = static_cast<std::uint16_t>(column_count);
  about.window = windows_.back().number;
  about.raw_bytes = static_cast<std::uint32_t>(raw.size());
  about.stored_bytes = static_cast<std::uint32_t>(stored);
  about.number = frames_written_++;
  about.hash = header_hash(&about, offsetof(frame_header, hash));
  store(&about, sizeof about, size_);
  store(stored_.data(), stored, size_ + sizeof about);
  windows_.back().frames.push_back(size_);
  windows_.back().bytes += sizeof about + stored;
  size_ += sizeof about + stored;
}

void trace_writer::write_live(frame_header about, const std::vector<unsigned char>& raw) {
  about.kind = static_cast<std::uint16_t>(frame_kind::live);
  append(about, raw);
  wants_live_ = false;
}

void trace_writer::write_events(frame_header about, const std::vector<unsigned char>& raw,
                                bool has_peak) {
  if (!keeping_) {
    skipped_events_ += about.count;
    if (skipped_events_ >= gap_events_) {
      begin_window();
      wants_live_ = true;
    }
    return;
  }
  about.kind = static_cast<std::uint16_t>(frame_kind::events);
  append(about, raw);
  windows_.back().events += about.count;
  if (has_peak) {
    for (window& each : windows_) each.has_peak = false;
    windows_.back().has_peak = true;
  }
  after_frame();
}

/// Ends the window if it is long enough, and makes room.
void trace_writer::after_frame() {
  wants_live_ = false;
  const window& last = windows_.back();
  constexpr std::uint64_t window_share = 32;
  const std::uint64_t enough = last.number == 0 ? limit_ / 4 : limit_ / window_share;
  if (last.bytes >= enough) {
    if (gap_events_ == 0) {
      begin_window();
      wants_live_ = true;
    } else {
      keeping_ = false;
      skipped_events_ = 0;
    }
  }
  constexpr std::uint64_t frame_room = 1U << 20;
  while (size_ + limit_ / window_share + frame_room > limit_ && windows_.size() > 3) thin();
}

/// Drops every second of the later windows, and moves what is behind them forward.
void trace_writer::thin() {
  std::uint64_t at = first_frame_;
  std::vector<window> kept;
  bool drop = false;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    window& next = windows_[i];
    const bool last = i + 1 == windows_.size();
    if (i != 0 && !last && !next.has_peak) {
      drop = !drop;
      if (drop) continue;
    }
    const std::uint64_t bytes = next.bytes;
    move_to(next, at);
    at += bytes;
    kept.push_back(std::move(next));
  }
  windows_ = std::move(kept);
  size_ = at;
  if (ftruncate(file_, static_cast<off_t>(size_)) != 0) error_ = errno;
  const std::uint64_t events =
      windows_.back().events != 0 ? windows_.back().events : windows_.front().events / 8;
  gap_events_ = std::max<std::uint64_t>({1, gap_events_ * 2, events});
}

void trace_writer::move_to(window& moved, std::uint64_t offset) {
  if (moved.frames.empty() || moved.frames.front() == offset) return;
  const std::uint64_t from = moved.frames.front();
  std::vector<unsigned char> piece(1U << 20);
  for (std::uint64_t done = 0; done < moved.bytes && error_ == 0;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), moved.bytes - done);
    const ssize_t got = pread(file_, piece.data(), wanted, static_cast<off_t>(from + done));
    if (got <= 0) {
      error_ = got < 0 ? errno : EIO;
      return;
    }
    store(piece.data(), static_cast<std::size_t>(got), offset + done);
    done += static_cast<std::uint64_t>(got);
  }
  for (std::uint64_t& frame : moved.frames) frame -= from - offset;
}

void trace_writer::write_text(frame_kind kind, const std::string& json) {
  frame_header about{};
  about.kind = static_cast<std::uint16_t>(kind);
  append(about, {json.begin(), json.end()});
}

std::uint64_t trace_writer::kept_events() const noexcept {
  std::uint64_t all = 0;
  for (const window& each : windows_) all += each.events;
  return all;
}

void trace_writer::finish() {
  std::vector<std::uint64_t> offsets;
  for (const window& each : windows_) {
    offsets.insert(offsets.end(), each.frames.begin(), each.frames.end());
  }
  const std::size_t bytes = offsets.size() * sizeof(std::uint64_t);
  store(offsets.data(), bytes, size_);
  const file_trailer end{size_, offsets.size(), header_hash(offsets.data(), bytes), file_version,
                         trailer_magic};
  store(&end, sizeof end, size_ + bytes);
  size_ += bytes + sizeof end;
}

} // namespace heapwise::bench
