#include "gc/collect/sweep.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

/// By how much more the heap may grow for each block that uses all of its bytes, times the divisor:
/// see budget_of.
constexpr std::size_t spare_of_pair = granule_bytes;
constexpr std::size_t spare_of_larger = 4 * granule_bytes;

/// Returns: how many of the blocks have a mark.
std::uint32_t count_marks(const mark* marks, std::size_t blocks) noexcept {
  // Eight at a time: each byte of the sum is at most the 255 rounds that it is used for.
  constexpr std::size_t lanes = sizeof(std::uint64_t);
  constexpr std::size_t most_rounds = 255;
  std::uint32_t count = 0;
  std::size_t block = 0;
  while (block + lanes <= blocks) {
    const std::size_t end = std::min(blocks / lanes * lanes, block + lanes * most_rounds);
    std::uint64_t sum = 0;
    for (; block < end; block += lanes) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, static_cast<const void*>(marks + block), lanes);
      sum += eight;
    }
    for (; sum != 0; sum >>= 8) count += static_cast<std::uint32_t>(sum & 255);
  }
  for (; block < blocks; ++block) count += marks[block].load(std::memory_order_relaxed);
  return count;
}

} // namespace

void clear_marks() noexcept {
  expects_lock();
  the_gc.memory.each_used([](slice_index slice, kind block_kind) {
    std::memset(static_cast<void*>(the_gc.memory.marks_of(slice)), 0, blocks_of(block_kind));
  });
}

live_sizes list_spans(bool counted) noexcept {
  expects_lock();
  live_sizes live;
  the_gc.unswept.fill(no_slice);
  std::array<slice_index, small_kinds> last;
  last.fill(no_slice);
  the_gc.memory.each_used([&](slice_index slice, kind block_kind) {
    slice_record& record = the_gc.memory.record(slice);
    if (!counted) {
      record.marked = count_marks(the_gc.memory.marks_of(slice), blocks_of(block_kind));
    }
    const std::size_t marked = record.marked;
    const bool is_small = block_kind < small_kinds;
    const std::size_t bytes = marked * (is_small ? kind_table[block_kind].bytes : record.bytes);
    live.all_bytes += bytes;
    const bool is_atomic = is_small ? kind_table[block_kind].atomic : block_kind == large_atomic;
    if (is_atomic) live.atomic_bytes += bytes;
    if (is_small && !is_atomic && record.filled) {
      live.spare_bytes += marked * (block_kind == pair_kind ? spare_of_pair : spare_of_larger);
    }
    if (marked == 0) {
      the_gc.memory.give(slice, is_small ? 1 : record.slices);
    } else if (is_small && marked < kind_table[block_kind].blocks) {
      record.next = no_slice;
      record.bytes = (kind_table[block_kind].blocks - marked) * kind_table[block_kind].bytes;
      (last[block_kind] == no_slice ? the_gc.unswept[block_kind]
                                    : the_gc.memory.record(last[block_kind]).next) = slice;
      last[block_kind] = slice;
    }
  });
  the_gc.memory.restart();
  return live;
}

} // namespace heapwise::gc
