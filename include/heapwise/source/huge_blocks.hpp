// A block source of huge pages.
#pragma once

#include <cstddef>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_2 {

/// A source of pieces of whole huge pages, aligned to huge pages. It asks the system to use
/// transparent huge pages for them (madvise). The system does so unless transparent huge pages are
/// switched off. Huge pages cause fewer misses of the translation buffer. This helps pools of many
/// megabytes whose blocks are used in random order. A huge page that is touched takes all of its
/// memory, and `purge` splits it.
///
/// Errors: without huge pages, the pieces consist of usual pages. allocate returns nullptr if the
/// system has no memory. Thread safety: all threads at once.
class huge_blocks final : public block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;
  void purge(void* memory, std::size_t size_bytes) noexcept override;
  /// Returns: the size of a huge page, which is 2 MiB if usual pages have 4 KiB.
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override;
};

} // namespace heapwise::inline v0_2
