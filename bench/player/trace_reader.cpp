#include "player/trace_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstring>

namespace heapwise::bench {

namespace {

bool read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  return pread(file, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

/// The columns of a frame, taken apart.
class columns {
 public:
  columns(const std::vector<unsigned char>& raw, std::uint32_t count) {
    std::size_t at = 0;
    for (auto& column : numbers_) {
      if (at >= raw.size()) throw trace_error{"a column is missing"};
      const unsigned width = raw[at++];
      if (width > 8 || raw.size() - at < std::size_t{width} * count) {
        throw trace_error{"a column is cut off"};
      }
      column.assign(count, 0);
      for (unsigned byte = 0; byte < width; ++byte) {
        for (std::uint64_t& number : column) number |= std::uint64_t{raw[at++]} << 8 * byte;
      }
    }
  }

  [[nodiscard]] std::uint64_t at(column which, std::size_t row) const noexcept {
    return numbers_[static_cast<unsigned>(which)][row];
  }

 private:
  std::vector<std::uint64_t> numbers_[column_count];
};

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

std::vector<unsigned char> trace_reader::content(const frame_header& frame,
                                                 std::uint64_t offset) const {
  std::vector<unsigned char> stored(frame.stored_bytes);
  std::vector<unsigned char> raw(frame.raw_bytes);
  if (!read_at(file_, stored.data(), stored.size(), offset + sizeof frame)) {
    throw trace_error{"it is cut off"};
  }
  const std::size_t bytes = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(bytes) != 0 || bytes != raw.size()) throw trace_error{"a frame is damaged"};
  return raw;
}

void trace_reader::each_live(const std::function<void(const traced_event&)>& take) {
  if (!live_) return;
  frame_header frame{};
  if (!read_at(file_, &frame, sizeof frame, *live_)) throw trace_error{"it is cut off"};
  const columns all{content(frame, *live_), frame.count};
  traced_event block{};
  block.time = frame.first_time;
  for (std::size_t row = 0; row < frame.count; ++row) {
    block.alignment_log = static_cast<std::uint8_t>(all.at(column::alignment, row) & 63);
    block.thread = static_cast<std::uint32_t>(all.at(column::thread, row));
    block.site = static_cast<std::uint32_t>(all.at(column::site, row));
    block.size = all.at(column::size, row);
    block.block += all.at(column::block, row);
    take(block);
  }
}

void trace_reader::each(const std::function<void(const traced_event&)>& take) {
  for (const std::uint64_t offset : frames_) {
    frame_header frame{};
    if (!read_at(file_, &frame, sizeof frame, offset)) throw trace_error{"it is cut off"};
    const columns all{content(frame, offset), frame.count};
    std::uint64_t time = frame.first_time;
    std::uint64_t next_block = frame.first_block;
    for (std::size_t row = 0; row < frame.count; ++row) {
      traced_event next{};
      next.kind = static_cast<event_kind>(all.at(column::kind, row));
      next.alignment_log = static_cast<std::uint8_t>(all.at(column::alignment, row) & 63);
      next.thread = static_cast<std::uint32_t>(all.at(column::thread, row));
      next.site = static_cast<std::uint32_t>(all.at(column::site, row));
      time += all.at(column::time, row);
      next.time = time;
      next.size = all.at(column::size, row);
      if (makes_block(next.kind)) {
        next.block = next_block++;
      } else {
        const std::uint64_t age = all.at(column::block, row);
        if (age > next_block) throw trace_error{"it ends a block that it does not have"};
        next.block = next_block - age;
        if (ends_block(next.kind) && age == 0) throw trace_error{"it ends a block to come"};
      }
      take(next);
    }
  }
}

} // namespace heapwise::bench
