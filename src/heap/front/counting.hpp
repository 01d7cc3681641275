// How threads that count their blocks do that, where blocks come and go by slow paths.
#pragma once

#include <cstddef>

#include "heap/cache/caches.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/checks/tags.hpp"
#include "heap/front/exported.hpp"
#include "heap/front/lookup.hpp"

namespace heapwise::detail {

/// What the calling thread has allocated and freed since it began to count.
extern __thread heapwise_thread_counters own_counters;

inline void count_block(std::size_t bytes) noexcept {
  own_counters.allocated_bytes += bytes;
  ++own_counters.allocated_blocks;
}

inline void count_free(std::size_t bytes) noexcept {
  own_counters.freed_bytes += bytes;
  ++own_counters.freed_blocks;
}

/// Returns: the bytes that a block may use, as malloc_usable_size tells them; 0 for a block of a
/// heap of its own, which is not counted, and for an address that is not a block.
[[nodiscard]] inline std::size_t counted_bytes(const void* block) noexcept {
  const measured known = measure(without_tag(block));
  return known.owner == nullptr ? known.bytes : 0;
}

/// Effects: counts a block that is freed and is not a small block of a span.
inline void count_uncommon_free(const void* block) noexcept {
  if constexpr (can_sample) {
    if (the_samples.holds(block)) return; // the block for which it stands is counted
  }
  if (const std::size_t bytes = counted_bytes(block); bytes != 0) count_free(bytes);
}

/// Returns: what `resize()` returns: the block with another size, or nullptr. Effects: counts it as
/// freed and allocated if its place or its usable size is another one.
template <class Resize>
[[nodiscard]] void* count_resized(const void* block, Resize resize) noexcept {
  const std::size_t bytes = counted_bytes(block);
  const heapwise_thread_counters before = own_counters;
  void* const same = resize();
  own_counters = before; // its parts have counted what they did
  const std::size_t bytes_now = same == nullptr || bytes == 0 ? 0 : counted_bytes(same);
  if (bytes_now == 0 || (same == block && bytes_now == bytes)) return same;
  count_block(bytes_now);
  count_free(bytes);
  return same;
}

} // namespace heapwise::detail
