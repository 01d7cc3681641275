#include "heap/mixing.hpp"

#include <cstddef>

#include "heap/bin.hpp"
#include "heap/mixed.hpp"
#include "heap/space.hpp"

namespace heapwise::detail {

namespace {

// Holes are worth the trouble when they are many: this many bytes, and this part of what is used.
// With half, memory is at most about twice what is live; less costs more time
// (docs/decisions/0022).
constexpr std::size_t many_free_bytes = std::size_t{16} << 20;
constexpr std::size_t few_dirty_bytes = std::size_t{4} << 20;
constexpr std::size_t many_free_percent = 50;

} // namespace

bool sparse_enough() noexcept {
  const std::size_t free_bytes =
      the_free_bytes.load(std::memory_order_relaxed) + the_mixed_spans.free_bytes();
  return free_bytes > many_free_bytes &&
         free_bytes > the_space.used_bytes() / 100 * many_free_percent &&
         the_space.dirty_bytes() < few_dirty_bytes;
}

bool mix_sparsest(size_class wanted) noexcept {
  size_class most = no_class;
  std::size_t most_bytes = 0;
  for (size_class each = 1; each <= class_count; ++each) {
    const std::size_t bytes = each == wanted || class_table[each].slices > 1
                                  ? 0
                                  : the_bins[each].free_blocks() * class_table[each].bytes;
    if (bytes > most_bytes) {
      most = each;
      most_bytes = bytes;
    }
  }
  return most != no_class && the_bins[most].let_go_sparsest(most, class_table[wanted].bytes);
}

} // namespace heapwise::detail
