// One thread's share of a pool: free blocks that only this thread takes and frees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heapwise/detail/cache_registry.hpp>
#include <heapwise/detail/chunks.hpp>
#include <heapwise/detail/config.hpp>
#include <heapwise/detail/free_list.hpp>

namespace heapwise::detail::inline v0_2 {

/// The pool's lock guards `owner`, `lost` and `next`; only the cache's thread touches the other
/// members, except in `restart` of the pool.
template <class Links>
struct alignas(cache_line_bytes) block_cache {
  block_cache(const free_list<Links>& none, const stride_divider& stride,
              std::uint32_t refusals) noexcept
      : loaded{none}, divider{stride}, refusals_seen{refusals} {}

  /// Returns: true for a block of the newest chunk that this thread has met.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool knows(const void* block) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(known);
    return divider.is_block(offset, known_bound);
  }

  /// Effects: from now on knows the blocks of the newest chunk, as far as it was cut.
  void learn(const chunk& newest, std::size_t carved) noexcept {
    if (carved <= newest.first_index) return;
    known = newest.base;
    known_bound = divider.bound_of(std::min(carved - newest.first_index, newest.blocks));
  }

  free_list<Links> loaded;
  std::byte* known = nullptr;    ///< the newest chunk that this thread has met,
  std::uint64_t known_bound = 0; ///< as much of it as was cut then, in the divider's terms
  stride_divider divider;
  std::byte* fresh = nullptr; ///< blocks cut for this thread, not handed out yet
  std::byte* fresh_end = nullptr;
  typename free_list<Links>::nodes spare{};
  std::uint32_t refusals_seen; ///< what the pool's count was when this cache gave all it had
  cache_table* owner = nullptr;
  /// The cache's thread is one of the process that forked this one. Written by the thread that
  /// forked, in the child.
  bool lost = false;
  block_cache* next = nullptr;
};

} // namespace heapwise::detail::inline v0_2
