// Compresses the content of frames.
#pragma once

#include <zstd.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace heapwise::bench {

class frame_compressor {
 public:
  frame_compressor();

  /// Of a frame with many numbers. Valid until the next call of this function.
  [[nodiscard]] std::span<const unsigned char> compressed(const std::vector<unsigned char>& raw);
  /// Of a short frame.
  [[nodiscard]] std::vector<unsigned char> compressed_text(std::string_view text);

 private:
  std::size_t compress(std::vector<unsigned char>& stored, std::span<const unsigned char> raw);

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::vector<unsigned char> stored_;
};

} // namespace heapwise::bench
