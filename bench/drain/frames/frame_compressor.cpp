#include "drain/frames/frame_compressor.hpp"
#define ZSTD_STATIC_LINKING_ONLY // for ZSTD_c_literalCompressionMode
#include <zstd.h>

namespace heapwise::bench {

namespace {

/// The search for repeats skips ahead where it finds none, as in the lowest bytes of sizes and
/// ages. What it leaves is Huffman-coded, which zstd does not do at negative levels unless told so.
constexpr int compression_level = -20;
/// For a zstd that does not know that: its fastest level that codes literals.
constexpr int compression_level_of_old = 1;

} // namespace

frame_compressor::frame_compressor() : context_{ZSTD_createCCtx(), ZSTD_freeCCtx} {
  const std::size_t codes =
      ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel,
                         ZSTD_isError(codes) != 0 ? compression_level_of_old : compression_level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

std::size_t frame_compressor::compress(std::vector<unsigned char>& stored,
                                       std::span<const unsigned char> raw) {
  if (const std::size_t bound = ZSTD_compressBound(raw.size()); stored.size() < bound)
    stored.resize(bound);
  return ZSTD_compress2(context_.get(), stored.data(), stored.size(), raw.data(), raw.size());
}

std::span<const unsigned char> frame_compressor::compressed(const std::vector<unsigned char>& raw) {
  const std::size_t bytes = compress(stored_, raw);
  return {stored_.data(), bytes};
}

std::vector<unsigned char> frame_compressor::compressed_text(std::string_view text) {
  std::vector<unsigned char> stored;
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  stored.resize(compress(stored, {from, text.size()}));
  return stored;
}

} // namespace heapwise::bench
