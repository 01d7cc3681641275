// The content of a frame of a trace file: decompressed, and its columns put together to rows.
#pragma once

#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "trace/file.hpp"

namespace heapwise::bench {

struct trace_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether all of it was read.
inline bool read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  return pread(file, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

/// Reads frames one after the other into the same memory.
class frame_content {
 public:
  /// The header at this place of the file. Throws trace_error if it is not one.
  [[nodiscard]] static frame_header header_at(int file, std::uint64_t offset) {
    frame_header frame{};
    if (!read_at(file, &frame, sizeof frame, offset)) throw trace_error{"it is cut off"};
    if (frame.magic != frame_magic ||
        frame.hash != header_hash(&frame, offsetof(frame_header, hash))) {
      throw trace_error{"its header is damaged"};
    }
    return frame;
  }

  /// The content of the frame with this header, until the next call. Throws trace_error.
  const std::vector<unsigned char>& read(int file, const frame_header& frame,
                                         std::uint64_t offset) {
    stored_.resize(frame.stored_bytes);
    if (!read_at(file, stored_.data(), stored_.size(), offset + sizeof frame)) {
      throw trace_error{"it is cut off"};
    }
    // Looked at first: memory of that size is asked for, however large a damaged one is.
    const auto told = ZSTD_getFrameContentSize(stored_.data(), stored_.size());
    if (told != ZSTD_CONTENTSIZE_UNKNOWN && told != frame.raw_bytes) {
      throw trace_error{"it is not as long as it says"};
    }
    raw_.resize(frame.raw_bytes);
    const std::size_t bytes = ZSTD_decompressDCtx(decompressor_.get(), raw_.data(), raw_.size(),
                                                  stored_.data(), stored_.size());
    if (ZSTD_isError(bytes) != 0) throw trace_error{ZSTD_getErrorName(bytes)};
    if (bytes != raw_.size()) throw trace_error{"it is shorter than it says"};
    return raw_;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> decompressor_{ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx};
  std::vector<unsigned char> stored_;
  std::vector<unsigned char> raw_;
};

/// Rows of a frame, some at a time: few enough that they stay in the first cache.
class frame_rows {
 public:
  static constexpr std::size_t most = 256;

  frame_rows(const std::vector<unsigned char>& raw, std::uint32_t count) : count_{count} {
    for (stored& column : columns_) {
      if (end_ >= raw.size()) throw trace_error{"a column is missing"};
      column.width = raw[end_++];
      if (column.width > 8 || raw.size() - end_ < std::size_t{column.width} * count) {
        throw trace_error{"a column is cut off"};
      }
      column.planes = raw.data() + end_;
      end_ += std::size_t{column.width} * count;
    }
  }

  /// How many bytes of the content the columns take.
  [[nodiscard]] std::size_t bytes() const noexcept { return end_; }

  /// Puts the rows from `first` on together. Returns how many; 0 behind the last one.
  std::size_t read(std::size_t first) noexcept {
    const std::size_t rows = count_ - first < most ? count_ - first : most;
    for (unsigned i = 0; i < column_count; ++i) join(columns_[i], first, rows, numbers_[i]);
    return rows;
  }

  [[nodiscard]] std::uint64_t at(column which, std::size_t row) const noexcept {
    return numbers_[static_cast<unsigned>(which)][row];
  }

 private:
  struct stored {
    const unsigned char* planes = nullptr; ///< the lowest bytes of all numbers, then the next ones
    unsigned width = 0;
  };

  void join(const stored& from, std::size_t first, std::size_t rows, std::uint64_t* to) const {
    for (std::size_t row = 0; row < rows; ++row) to[row] = 0;
    for (unsigned byte = 0; byte < from.width; ++byte) {
      const unsigned char* plane = from.planes + std::size_t{byte} * count_ + first;
      for (std::size_t row = 0; row < rows; ++row) {
        to[row] |= std::uint64_t{plane[row]} << 8 * byte;
      }
    }
  }

  stored columns_[column_count];
  std::size_t count_;
  std::size_t end_ = 0;
  std::uint64_t numbers_[column_count][most];
};

} // namespace heapwise::bench
