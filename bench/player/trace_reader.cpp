#include "player/trace_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace heapwise::bench {

namespace {

/// The block that the event makes or ends. `next_block` is the number of the next one to be made.
std::uint64_t number_of(const traced_event& event, std::uint64_t age, std::uint64_t& next_block) {
  if (makes_block(event.kind)) return next_block++;
  if (age > next_block) throw trace_error{"it ends a block that it does not have"};
  if (age == 0 && ends_block(event.kind)) throw trace_error{"it ends a block to come"};
  return next_block - age;
}

} // namespace

trace_reader::trace_reader(const std::string& path, std::uint32_t window) {
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw trace_error{path + ": " + std::strerror(errno)};
  read_frames(window);
  if (frames_.empty()) throw trace_error{"it has no events in window " + std::to_string(window)};
}

trace_reader::~trace_reader() {
  if (file_ >= 0) close(file_);
}

void trace_reader::read_frames(std::uint32_t window) {
  file_header header{};
  if (!read_at(file_, &header, sizeof header, 0) ||
      std::memcmp(header.magic, file_magic, sizeof header.magic) != 0) {
    throw trace_error{"it is not a trace"};
  }
  if (header.version > file_version) throw trace_error{"it was written by a newer version"};
  version_ = header.version;
  struct stat about{};
  fstat(file_, &about);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  std::uint64_t at = sizeof header + header.bytes;
  frame_header frame{};
  while (at + sizeof frame <= size && read_at(file_, &frame, sizeof frame, at) &&
         frame.magic == frame_magic &&
         frame.hash == header_hash(&frame, offsetof(frame_header, hash))) {
    const auto kind = static_cast<frame_kind>(frame.kind);
    if (kind == frame_kind::live && frame.window == window) live_ = at;
    if (kind == frame_kind::events && frame.window == window) frames_.push_back(at);
    at += sizeof frame + frame.stored_bytes;
  }
}

void trace_reader::each_live(const std::function<void(const traced_event&)>& take) {
  if (!live_) return;
  frame_header frame{};
  if (!read_at(file_, &frame, sizeof frame, *live_)) throw trace_error{"it is cut off"};
  frame_rows all{content_.read(file_, frame, *live_), frame.count};
  traced_event block{};
  block.time = frame.first_time;
  for (std::size_t first = 0, rows = 0; (rows = all.read(first)) != 0; first += rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      block.alignment_log = static_cast<std::uint8_t>(all.at(column::alignment, row) & 63);
      block.thread = static_cast<std::uint32_t>(all.at(column::thread, row));
      block.site = static_cast<std::uint32_t>(all.at(column::site, row));
      block.size = all.at(column::more, row);
      block.block += all.at(column::number, row);
      take(block);
    }
  }
}

void trace_reader::each(const std::function<void(const traced_event&)>& take) {
  // Of an event that makes a block.
  const column size_column = version_ >= version_of_joint_column ? column::number : column::more;
  for (const std::uint64_t offset : frames_) {
    frame_header frame{};
    if (!read_at(file_, &frame, sizeof frame, offset)) throw trace_error{"it is cut off"};
    frame_rows all{content_.read(file_, frame, offset), frame.count};
    std::uint64_t time = frame.first_time;
    std::uint64_t next_block = frame.first_block;
    for (std::size_t first = 0, rows = 0; (rows = all.read(first)) != 0; first += rows) {
      for (std::size_t row = 0; row < rows; ++row) {
        traced_event next{};
        next.kind = static_cast<event_kind>(all.at(column::kind, row));
        next.alignment_log = static_cast<std::uint8_t>(all.at(column::alignment, row) & 63);
        next.thread = static_cast<std::uint32_t>(all.at(column::thread, row));
        next.site = static_cast<std::uint32_t>(all.at(column::site, row));
        time += all.at(column::time, row);
        next.time = time;
        next.size = all.at(makes_block(next.kind) ? size_column : column::more, row);
        next.block = number_of(next, all.at(column::number, row), next_block);
        take(next);
      }
    }
  }
}

} // namespace heapwise::bench
