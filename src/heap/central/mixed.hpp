// Spans whose holes serve every class. When sizes change, survivors of the old ones are scattered
// over spans of a class that nobody asks for any more; before the heap grows, such a span becomes a
// mixed one: its live blocks stay where they are, each remembered with its class, and the holes
// between them go to the threads that need memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "heap/base/linked.hpp"
#include "heap/base/sharing.hpp"
#include "heap/central/hole_search.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/heap_cache.hpp"

namespace heapwise::detail {

/// Thread safety: all.
class alignas(cache_line_bytes) mixed_spans {
 public:
  /// Effects: puts up to `wanted` blocks of the class, cut out of holes, onto the stack.
  /// Returns: how many.
  [[nodiscard]] std::uint32_t take(std::byte**& top, std::uint32_t wanted,
                                   size_class class_index) noexcept;

  /// Effects: makes the span, which its bin has let go, a mixed one.
  /// Requires: it has one slice and small blocks of the class.
  void adopt(span& sparse, size_class class_index) noexcept;

  /// Effects: blocks come back to their holes.
  void put_back(std::span<std::byte* const> blocks) noexcept;

  /// Returns: the class of the block that starts there, no_class if none does.
  [[nodiscard]] size_class class_of_block(const void* block) const noexcept;

  /// Effects: as bin::purge_pages.
  std::size_t purge_pages(span& of_span, bool even_if_touched) noexcept;

  [[nodiscard]] std::size_t free_bytes() const noexcept {
    return free_granules_.load(std::memory_order_relaxed) * granule_bytes;
  }
  [[nodiscard]] std::size_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

  /// Taken around a fork. Order: after all bins, before the space.
  heap_mutex<shared::mixed>& lock() noexcept { return lock_; }

 private:
  static constexpr std::uint32_t granules = block_map::bits;
  static constexpr std::uint8_t list_count = 13; // by the logarithm of the longest hole
  static constexpr std::uint8_t unlisted = list_count;

  std::uint32_t cut(span& from, std::byte**& top, std::uint32_t wanted,
                    size_class class_index) noexcept;
  /// Effects: a block comes back to its hole. If the span has no block in use any more, it goes
  /// from the mixed spans to `empty`. Returns: whether it was a block in use.
  [[nodiscard]] bool put_back_locked(std::byte* block, linked_stack<detail::span>& empty) noexcept;
  /// Effects: cuts blocks out of a part of a hole and puts them onto the stack, at most `most`.
  /// Returns: how many. Requires: the part begins where a block may, and one has room.
  std::uint32_t hand_out(span& from, hole part, std::byte**& top, std::uint32_t most,
                         size_class class_index) noexcept;
  /// Effects: a span without a block in use is not a mixed one any more.
  HEAPWISE_NOINLINE void let_go(detail::span& empty) noexcept;
  void place(span& member, std::uint32_t longest_hole) noexcept;
  void remove(span& member) noexcept;
  void count_free(span& of_span, std::ptrdiff_t more) noexcept;

  heap_mutex<shared::mixed> lock_;
  std::array<linked_list<detail::span>, list_count> lists_;
  std::atomic<std::size_t> free_granules_{0};
  std::atomic<std::size_t> count_{0};
};

static_assert(sizeof(mixed_spans) % cache_line_bytes == 0, "nothing else is on its lines");

extern mixed_spans the_mixed_spans;

} // namespace heapwise::detail
