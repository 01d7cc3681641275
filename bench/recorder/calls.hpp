// What the recorded functions of C and C++ share.
#pragma once

#include "recorder/writer.hpp"

namespace heapwise::bench {

/// Resident pages of a block that is about to end, if it has at least this many bytes; else 0. Also
/// 0 if the kernel cannot be asked, as under a filter of system calls that the program installed.
[[nodiscard]] std::uint64_t resident_pages(const void* block, std::size_t least) noexcept;

/// Resident pages of a block that this thread is about to end, if they are to be counted: of each
/// large block, and of one medium block in 64, because the kernel has to be asked.
[[nodiscard, gnu::always_inline]] inline std::uint64_t counted_pages(const void* block) noexcept {
  if (session::may_be_marked(block)) [[unlikely]]
    return resident_pages(block, session::large_bytes);
  if (writer.looks_closer()) [[unlikely]]
    return resident_pages(block, session::medium_bytes);
  return 0;
}

/// Writes the end of a block down if that is all that has to be done for it, without a call: see
/// thread_writer::write_made. If not, nothing is written, and write_free() is to be called.
[[nodiscard, gnu::always_inline]] inline bool write_plain_free(event_kind kind, void* block,
                                                               const void* site) noexcept {
  return block != nullptr && writer.is_ready() && !session::may_be_marked(block) &&
         !writer.looks_closer() && writer.write_plain(kind, block, 0, stamp_now(), site);
}

/// of_malloc: whether malloc may be asked about the block.
inline void write_free(event_kind kind, void* block, const void* site, const call_frame* frame,
                       bool of_malloc = true) noexcept {
  if (block == nullptr || !writer.records(frame)) return;
  const std::uint64_t pages = of_malloc ? counted_pages(block) : 0;
  writer.write_end(kind, block, pages, stamp_now(), site);
}

} // namespace heapwise::bench
