// What the recorded functions of C and C++ share.
#pragma once

#include "recorder/writer.hpp"

namespace heapwise::bench {

/// Resident pages of a block that is about to end, if it is large; else 0.
[[nodiscard]] std::uint64_t resident_pages(const void* block) noexcept;

[[gnu::always_inline]] inline void write_free(event_kind kind, void* block,
                                              const void* site) noexcept {
  if (block == nullptr || !writer.records()) return;
  const std::uint64_t pages = recorded.may_be_large(block) ? resident_pages(block) : 0;
  writer.write_end(kind, block, pages, stamp_before(), site);
}

} // namespace heapwise::bench
