#include "drain/frames/trace_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>

namespace heapwise::bench {

namespace {

/// What summary and trailer take at most. The index is charged with each frame.
constexpr std::uint64_t end_bytes = 8192;
constexpr std::uint64_t index_entry_bytes = sizeof(std::uint64_t);
/// A later window takes this part of the share of its trace; the first takes a quarter.
constexpr std::uint64_t window_parts = 32;
constexpr std::size_t fewest_windows = 3;

} // namespace

std::uint64_t trace_writer::window::bytes() const noexcept {
  return std::accumulate(
      frames.begin(), frames.end(), std::uint64_t{0},
      [](std::uint64_t sum, const frame_place& each) { return sum + each.bytes; });
}

std::uint64_t trace_writer::window::events() const noexcept {
  return std::accumulate(
      frames.begin(), frames.end(), std::uint64_t{0},
      [](std::uint64_t sum, const frame_place& each) { return sum + each.events; });
}

/// Drops the second half of the frames with events. Returns false if there is only one.
bool trace_writer::window::cut() {
  const std::size_t live = !frames.empty() && frames.front().events == 0 ? 1 : 0;
  const std::size_t with_events = frames.size() - live;
  if (with_events < 2) return false;
  frames.resize(live + with_events / 2);
  return true;
}

trace_writer::trace_writer(std::string path, size_budget& budget, frame_compressor& compressor)
    : path_{std::move(path)}, budget_{budget}, compressor_{compressor}, share_{budget.limit()} {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file_ < 0) error_ = errno;
}

trace_writer::~trace_writer() {
  close_file();
  if (has_begun_) budget_.remove(*this);
}

void trace_writer::close_file() noexcept {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

bool trace_writer::begin(const std::string& about) {
  file_header header{};
  std::memcpy(header.magic, file_magic, sizeof header.magic);
  header.version = file_version;
  header.bytes = static_cast<std::uint32_t>(about.size());
  const std::uint64_t bytes = sizeof header + about.size();
  if (!budget_.take(bytes + end_bytes)) return false;
  charged_ = bytes + end_bytes;
  store(&header, sizeof header, 0);
  store(about.data(), about.size(), sizeof header);
  size_ = first_frame_ = bytes;
  begin_window();
  budget_.add(*this);
  has_begun_ = true;
  return true;
}

void trace_writer::abandon() {
  if (file_ >= 0) unlink(path_.c_str());
  close_file();
  keeping_ = false;
  gap_events_ = UINT64_MAX;
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
  windows_.push_back({windows_begun_++, false, {}});
  keeping_ = true;
  skipped_events_ = 0;
}

/// Returns false if the budget has no room, and writes nothing then, or if the disk has none.
/// Taking may have shrunk this file.
bool trace_writer::append(frame_header about, const std::vector<unsigned char>& raw,
                          frame_place& place) {
  const std::span<const unsigned char> stored = compressor_.compressed(raw);
  const std::uint64_t charged = sizeof about + stored.size() + index_entry_bytes;
  if (!budget_.take(charged)) return false;
  charged_ += charged;
  about.window = windows_.back().number;
  about.raw_bytes = static_cast<std::uint32_t>(raw.size());
  place = put(about, stored);
  return ok(); // what could not be written is not kept
}

/// Writes a frame that the budget has room for.
trace_writer::frame_place trace_writer::put(frame_header about,
                                            std::span<const unsigned char> stored) {
  about.magic = frame_magic;
  about.columns = static_cast<std::uint16_t>(column_count);
  about.stored_bytes = static_cast<std::uint32_t>(stored.size());
  about.number = frames_written_++;
  about.hash = header_hash(&about, offsetof(frame_header, hash));
  store(&about, sizeof about, size_);
  store(stored.data(), stored.size(), size_ + sizeof about);
  const bool has_events = about.kind == static_cast<std::uint16_t>(frame_kind::events);
  const frame_place place{size_, sizeof about + stored.size(), has_events ? about.count : 0};
  size_ += place.bytes;
  return place;
}

void trace_writer::write_live(frame_header about, const std::vector<unsigned char>& raw) {
  about.kind = static_cast<std::uint16_t>(frame_kind::live);
  frame_place place{};
  wants_live_ = false;
  if (!append(about, raw, place) || !keeping_) return leave_window();
  windows_.back().frames.push_back(place);
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
  frame_place place{};
  if (!append(about, raw, place) || !keeping_) return leave_window();
  windows_.back().frames.push_back(place);
  if (has_peak) {
    for (window& each : windows_) each.has_peak = false;
    windows_.back().has_peak = true;
  }
  after_frame();
}

/// For a frame that found no room: a window has no gap, so it ends before the frame.
void trace_writer::leave_window() {
  if (keeping_) widen_gap();
  keeping_ = false;
  wants_live_ = false;
  close_gaps();
}

/// Ends the window if it is long enough.
void trace_writer::after_frame() {
  wants_live_ = false;
  const window& last = windows_.back();
  const std::uint64_t enough = last.number == 0 ? share_ / 4 : share_ / window_parts;
  if (last.bytes() < enough) return;
  if (gap_events_ == 0) {
    begin_window();
    wants_live_ = true;
  } else {
    keeping_ = false;
    skipped_events_ = 0;
  }
}

bool trace_writer::shrink() {
  const std::uint64_t before = size_;
  if (!ok() || !open_again()) return false;
  if (windows_.size() > fewest_windows) {
    drop_second_windows();
  } else if (!cut_windows() && !drop_later_windows()) {
    if (summary_) close_file();
    return false;
  }
  share_ = std::min(share_, before);
  widen_gap();
  close_gaps();
  if (summary_) write_end();
  return size_ < before && ok();
}

/// Not the first, not the last, which may still grow, and not the one with the highest live bytes.
void trace_writer::drop_second_windows() {
  bool drop = false;
  const std::uint32_t last = windows_.back().number;
  std::erase_if(windows_, [&](const window& each) {
    if (each.number == 0 || each.number == last || each.has_peak) return false;
    drop = !drop;
    return drop;
  });
}

/// Returns false if each has only one frame.
bool trace_writer::cut_windows() {
  bool any = false;
  for (window& each : windows_) {
    if (!each.cut()) continue;
    any = true;
    if (each.number == windows_.back().number) keeping_ = wants_live_ = false;
  }
  return any;
}

/// Leaves the first alone. Returns false if there are no others.
bool trace_writer::drop_later_windows() {
  if (windows_.size() < 2) return false;
  windows_.resize(1);
  keeping_ = wants_live_ = false;
  return true;
}

void trace_writer::widen_gap() noexcept {
  std::uint64_t events = windows_.back().events();
  if (events == 0) events = windows_.front().events() / 8;
  gap_events_ = std::max<std::uint64_t>({1, gap_events_ * 2, events});
}

/// Moves what is behind a dropped frame forward, and gives the bytes back.
void trace_writer::close_gaps() {
  std::uint64_t at = first_frame_;
  std::uint64_t frames = 0;
  for (window& each : windows_) {
    for (frame_place& frame : each.frames) {
      move_to(frame, at);
      at += frame.bytes;
      ++frames;
    }
  }
  for (frame_place& text : texts_) {
    move_to(text, at);
    at += text.bytes;
    ++frames;
  }
  if (at != size_) set_size(at);
  const std::uint64_t charged = at + frames * index_entry_bytes + end_bytes;
  if (charged < charged_) budget_.give_back(charged_ - charged);
  charged_ = std::min(charged, charged_);
}

void trace_writer::set_size(std::uint64_t size) {
  size_ = size;
  if (ftruncate(file_, static_cast<off_t>(size_)) != 0) error_ = errno;
}

void trace_writer::move_to(frame_place& place, std::uint64_t offset) {
  if (place.offset == offset) return;
  std::vector<unsigned char> piece(std::min<std::uint64_t>(place.bytes, 1U << 20));
  for (std::uint64_t done = 0; done < place.bytes && error_ == 0;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), place.bytes - done);
    const ssize_t got = pread(file_, piece.data(), wanted, static_cast<off_t>(place.offset + done));
    if (got <= 0) {
      error_ = got < 0 ? errno : EIO;
      return;
    }
    store(piece.data(), static_cast<std::size_t>(got), offset + done);
    done += static_cast<std::uint64_t>(got);
  }
  place.offset = offset;
}

trace_writer::frame_place trace_writer::put_text(frame_kind kind,
                                                 const std::vector<unsigned char>& stored,
                                                 std::size_t raw_bytes) {
  frame_header about{};
  about.kind = static_cast<std::uint16_t>(kind);
  about.window = windows_.back().number;
  about.raw_bytes = static_cast<std::uint32_t>(raw_bytes);
  return put(about, stored);
}

std::uint64_t trace_writer::kept_events() const noexcept {
  std::uint64_t all = 0;
  for (const window& each : windows_) all += each.events();
  return all;
}

void trace_writer::finish(const std::string& modules, std::function<std::string()> summary) {
  if (!open_again()) return;
  // A full disk has room for the end once enough frames are cut off: first the one that it had no
  // room for, then the last ones.
  int refused = std::exchange(error_, 0);
  // A window that was begun and got no event says nothing.
  std::erase_if(windows_,
                [](const window& each) { return each.number != 0 && each.events() == 0; });
  close_gaps();
  const std::vector<unsigned char> stored = compressor_.compressed_text(modules);
  const std::uint64_t charged = sizeof(frame_header) + stored.size() + index_entry_bytes;
  const bool has_modules = budget_.take(charged);
  if (has_modules) charged_ += charged;
  summary_ = std::move(summary);
  do {
    error_ = 0;
    texts_.clear();
    if (!open_again()) break;
    close_gaps();
    if (has_modules) texts_.push_back(put_text(frame_kind::modules, stored, modules.size()));
    modules_frames_ = texts_.size();
    write_end();
    if (refused == 0) refused = error_;
  } while (error_ != 0 && drop_last_frame());
  if (refused != 0) error_ = refused;
}

/// Returns false if there is none.
bool trace_writer::drop_last_frame() {
  window& last = windows_.back();
  if (last.frames.empty()) return false;
  last.frames.pop_back();
  if (last.number != 0 && last.events() == 0) windows_.pop_back();
  return true;
}

/// Summary, index and trailer, whose room was charged from the begin on. Closes the file.
void trace_writer::write_end() {
  texts_.resize(modules_frames_);
  close_gaps();
  const std::string text = summary_();
  texts_.push_back(put_text(frame_kind::summary, compressor_.compressed_text(text), text.size()));
  std::vector<std::uint64_t> offsets;
  for (const window& each : windows_) {
    for (const frame_place& frame : each.frames) offsets.push_back(frame.offset);
  }
  for (const frame_place& frame : texts_) offsets.push_back(frame.offset);
  const std::size_t bytes = offsets.size() * sizeof(std::uint64_t);
  store(offsets.data(), bytes, size_);
  const file_trailer end{size_, offsets.size(), header_hash(offsets.data(), bytes), file_version,
                         trailer_magic};
  store(&end, sizeof end, size_ + bytes);
  set_size(size_ + bytes + sizeof end);
  budget_.settle(charged_, size_);
  charged_ = size_;
  close_file();
}

bool trace_writer::open_again() {
  if (file_ < 0) file_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  return file_ >= 0;
}

} // namespace heapwise::bench
