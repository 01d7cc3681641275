// Pages without access behind blocks and spans, as many as the process can have mappings for.
#pragma once

#include <atomic>
#include <cstddef>

#include "os/reports/faults.hpp"

namespace heapwise::detail {

/// Counts the pages of one kind that are hidden by protection: each splits a mapping in three. A
/// process may have 65,530 mappings, and the program needs some too. Thread safety: all.
class guard_pages {
 public:
  constexpr explicit guard_pages(std::size_t most_protected) noexcept
      : most_protected_{most_protected} {}

  /// Effects: as os::hide, unless as many pages are hidden by protection as may be.
  [[nodiscard]] os::hidden_by hide(void* memory, std::size_t bytes) noexcept {
    // Relaxed: a few more or less do no harm.
    if (protected_.load(std::memory_order_relaxed) >= most_protected_) {
      return os::hidden_by::nothing;
    }
    const os::hidden_by how = os::hide(memory, bytes);
    if (how == os::hidden_by::protection) protected_.fetch_add(1, std::memory_order_relaxed);
    return how;
  }

  /// Effects: as os::reveal. Requires: `how` is what `hide` said of these bytes.
  [[nodiscard]] bool reveal(void* memory, std::size_t bytes, os::hidden_by how) noexcept {
    if (!os::reveal(memory, bytes, how)) return false;
    if (how == os::hidden_by::protection) protected_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::size_t most_protected_;
  std::atomic<std::size_t> protected_{0};
};

} // namespace heapwise::detail
