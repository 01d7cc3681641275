// Paper on which batches are written down: the addresses of free blocks that wait for a thread.
#pragma once

#include <array>
#include <cstddef>

#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// As many blocks as a batch of their class has.
struct batch {
  batch* next;
  std::array<std::byte*, max_batch> blocks;
};

/// Returns: one whose contents are anything, or nullptr. Thread safety: all.
[[nodiscard]] batch* new_batch() noexcept;

/// Effects: takes one back for reuse. Thread safety: all.
void delete_batch(batch* used) noexcept;

/// Taken around a fork. Order: after everything else.
void lock_batches() noexcept;
void unlock_batches() noexcept;

} // namespace heapwise::detail
