// Memory for batches: arrays of the addresses of free blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/base/sharing.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// A stack of as many addresses as a batch of its class has blocks. They follow it in memory.
struct batch {
  batch* next;
  [[no_unique_address]] line_mark<shared::batch> mark;
  std::byte* bottom; ///< nullptr: the thread that takes the lowest block and one more finds it

  [[nodiscard]] std::byte** blocks() noexcept { return reinterpret_cast<std::byte**>(this + 1); }
};

/// More blocks than any batch has.
inline constexpr std::uint32_t whole_batch = ~std::uint32_t{0};

/// Returns: an empty one for blocks of the class, of the memory of a shard, or nullptr.
/// Thread safety: all. Requires: the shard is in use.
[[nodiscard]] batch* new_batch(size_class class_index, std::size_t shard = 0) noexcept;

/// Effects: takes one of the class back for reuse, into the memory that it is of. Thread safety:
/// all.
void delete_batch(batch* used, size_class class_index) noexcept;

/// Effects: gives back the memory that was not needed since the last call. Returns: the bytes given
/// back. Thread safety: all.
std::size_t trim_batches() noexcept;

/// Returns: the bytes that could be given back. Thread safety: all.
[[nodiscard]] std::size_t unused_batch_bytes() noexcept;

/// Taken around a fork. Order: after everything else. Requires: the lock of the idle caches.
void lock_batches() noexcept;
void unlock_batches() noexcept;

} // namespace heapwise::detail
