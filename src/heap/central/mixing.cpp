#include "heap/central/mixing.hpp"

#include <cstddef>
#include <span>

#include "heap/base/shards.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/space/space.hpp"

namespace heapwise::detail {

namespace {

// Holes are worth the trouble when they are many: this many bytes, and this part of what is used.
// The threads share one lock of mixed spans, so several of them mix later than one alone: memory is
// at most about 1.4 times what is live with one thread, and 1.8 times with more; still less gains
// nothing (docs/design/heap.md#mixed-spans).
constexpr std::size_t many_free_bytes = std::size_t{16} << 20;
constexpr std::size_t few_dirty_bytes = std::size_t{4} << 20;
constexpr std::size_t many_free_percent_of_one_thread = 12;
constexpr std::size_t many_free_percent = 36;

} // namespace

bool sparse_enough() noexcept {
  const std::size_t free_bytes = free_bytes_in_spans() + the_mixed_spans.free_bytes();
  const std::size_t percent =
      has_several_threads() ? many_free_percent : many_free_percent_of_one_thread;
  return free_bytes > many_free_bytes && free_bytes > the_space.used_bytes() / 100 * percent &&
         the_space.dirty_bytes() < few_dirty_bytes;
}

bool mix_sparsest(size_class wanted) noexcept {
  bin* sparsest = nullptr;
  size_class its_class = no_class;
  std::size_t most_bytes = 0;
  for (bins& shard : std::span{all_bins}.first(shard_count())) {
    for (size_class each = 1; each <= class_count; ++each) {
      if (each == wanted || class_table[each].slices > 1) continue;
      const std::size_t bytes = shard[each].free_blocks() * class_table[each].bytes;
      if (bytes <= most_bytes) continue;
      sparsest = &shard[each];
      its_class = each;
      most_bytes = bytes;
    }
  }
  return sparsest != nullptr && sparsest->let_go_sparsest(its_class, class_table[wanted].bytes);
}

} // namespace heapwise::detail
