// A block source of huge pages.
#pragma once

#include <cstddef>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_1 {

/// Pieces of whole huge pages, aligned to them, for which the system is asked to use transparent
/// huge pages (madvise; it does unless they are switched off): fewer misses of the translation
/// buffer, for pools of many megabytes whose blocks are used in random order. A touched page takes
/// all of its memory, and `purge` splits it.
///
/// Errors: without huge pages the pieces are usual pages; nullptr if the system has no memory.
/// Thread safety: all.
class huge_blocks final : public block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;
  void purge(void* memory, std::size_t size_bytes) noexcept override;
  /// The size of a huge page: 2 MiB if usual pages have 4 KiB.
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override;
};

} // namespace heapwise::inline v0_1
