// Memory that lies on pages of a known kind: 4 KiB ones or huge ones, as the kernel confirms, not
// as it was asked.
#pragma once

#include <cstddef>

namespace heapwise::bench {

enum class page_kind { small, huge };

/// Bytes of a huge page here; 0 where the kernel has none to give on request.
[[nodiscard]] std::size_t huge_page_bytes() noexcept;

/// What /proc/self/smaps says of the mappings that lie in `[start, start + bytes)`.
struct resident_pages {
  std::size_t bytes = 0;      ///< resident, on pages of any kind
  std::size_t huge_bytes = 0; ///< of these on huge pages

  [[nodiscard]] static resident_pages of(const void* start, std::size_t bytes);
};

class paged_memory {
 public:
  /// Effects: maps this many bytes, all zero, each page present and of that kind.
  /// Throws: std::bad_alloc, and refusal (cell.hpp) where the kernel gave other pages.
  paged_memory(std::size_t bytes, page_kind kind);
  paged_memory(const paged_memory&) = delete;
  paged_memory& operator=(const paged_memory&) = delete;
  ~paged_memory();

  /// Aligned to a huge page, or to 2 MiB where there are none.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  void map(std::size_t alignment);
  void demand(page_kind kind) const;

  std::size_t bytes_;
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
};

} // namespace heapwise::bench
