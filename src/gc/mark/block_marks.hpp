// What a marker asks of a word: whether it is an address of the heap, and of a large block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/mark/displacements.hpp"
#include "gc/mark/mark_stack.hpp"
#include "gc/space/space.hpp"
#include "heapwise/detail/config.hpp"

namespace heapwise::gc {

inline constexpr std::ptrdiff_t words_at_once = 8;

/// Returns: whether one of the words at `words` may be an address of the heap. One branch for
/// eight words: most words of large blocks and of static variables are not addresses.
HEAPWISE_ALWAYS_INLINE HEAPWISE_READS_ANYTHING bool any_in_heap(
    const map& where, const std::uintptr_t* words) noexcept {
  bool any = false;
  for (std::ptrdiff_t each = 0; each < words_at_once; ++each) {
    any |= words[each] - where.base < where.extent;
  }
  return any;
}

/// Effects: marks it. Two markers may both be told that it was not: then both look through it.
HEAPWISE_ALWAYS_INLINE bool was_marked(mark& block_mark) noexcept {
  // Relaxed: marks say nothing of other memory, and all of it stands still.
  if (block_mark.load(std::memory_order_relaxed) != 0) return true;
  block_mark.store(1, std::memory_order_relaxed);
  return false;
}

/// Returns: how large the large block is, the address of a layout included.
[[nodiscard]] inline std::size_t bytes_of_large(const map& where, const void* block) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(block) - where.base;
  return where.records[offset / slice_bytes].bytes;
}

/// Returns: the block if it was not marked and has to be looked through.
HEAPWISE_NOINLINE inline grey consider_large(const map& where, std::uintptr_t word,
                                             bool interior) noexcept {
  std::uintptr_t slice = (word - where.base) / slice_bytes;
  if (where.kinds[slice].load(std::memory_order_relaxed) == inside_large) {
    slice -= where.records[slice].slices;
  }
  const std::uintptr_t behind_first = word - where.base - slice * slice_bytes;
  if (behind_first >= where.records[slice].bytes) return {};
  if (!interior && behind_first != 0 && !the_displacements.has(behind_first)) return {};
  const kind block_kind = where.kinds[slice].load(std::memory_order_relaxed);
  if (was_marked(where.marks[slice * marks_of_slice])) return {};
  return block_kind == large_atomic ? grey{} : grey{word - behind_first, block_kind};
}

} // namespace heapwise::gc
