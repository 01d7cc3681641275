#include "gc/collect/copied_marks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "gc/attachments/attachments.hpp"
#include "gc/attachments/finalizers.hpp"
#include "gc/attachments/weak.hpp"
#include "gc/collect/copy_report.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

/// Returns: whether the copy had reached the block, or it was handed out since.
bool is_kept(const void* address) noexcept {
  const found_block place = block_around(address);
  const space& memory = the_gc.memory;
  if (place.begin == nullptr || memory.is_new(place.slice)) return true; // freed by hand
  if (memory.marks_of(place.slice)[place.number].load(std::memory_order_relaxed) == handed_out) {
    return true;
  }
  const std::uint8_t* const reached = the_gc.copy.report->reached + place.slice * reached_of_slice;
  return (reached[place.number / 8] >> place.number % 8 & 1) != 0;
}

// Nobody else writes marks while those of the copy are taken over. What is behind the last block of
// a slice has none, here and there.

/// Effects: the marks of a slice: what the copy has reached, and what was handed out since.
/// Returns: how many there are.
std::uint32_t merge(mark* own, const std::uint8_t* reached_there, std::size_t blocks) noexcept {
  static_assert(handed_out >> 1 == reached);
  std::uint32_t marked = 0;
  for (std::size_t group = 0; group * 8 < blocks; ++group) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, static_cast<const void*>(own + 8 * group), sizeof eight);
    eight = (eight >> 1 & ones_of_bytes) | unpack(reached_there[group]);
    std::memcpy(static_cast<void*>(own + 8 * group), &eight, sizeof eight);
    marked += sum_of_bytes(eight);
  }
  return marked;
}

/// Effects: the marks of a slice: what the copy has reached.
void write_marks(mark* own, const std::uint8_t* reached_there, std::size_t blocks) noexcept {
  for (std::size_t group = 0; group * 8 < blocks; ++group) {
    const std::uint64_t eight = unpack(reached_there[group]);
    std::memcpy(static_cast<void*>(own + 8 * group), &eight, sizeof eight);
  }
}

/// Effects: as `merge`, for a slice of which nothing was handed out since. Marks are eight times as
/// large as what the copy tells, so those that nobody reads are not written: of a slice without
/// any, and of one that is full, as it was.
std::uint32_t take_reached(slice_index slice, const std::uint8_t* reached_there,
                           std::size_t blocks) noexcept {
  const slice_record& record = the_gc.memory.record(slice);
  const std::uint32_t marked = the_gc.copy.report->marked[slice];
  const bool stays_full = marked == blocks && record.marked == blocks;
  // Relaxed: it is written under the collector's lock. What is attached to a lost block, and weak
  // references in one, are recognized by its mark.
  const bool is_free = marked == 0 && !record.attached.load(std::memory_order_relaxed);
  if (!stays_full && !is_free) {
    write_marks(the_gc.memory.marks_of(slice), reached_there, blocks);
  }
  return marked;
}

/// Returns: how many blocks of the slice are marked now.
std::uint32_t take_marks_of(slice_index slice, kind block_kind) noexcept {
  const space& memory = the_gc.memory;
  mark* const own = memory.marks_of(slice);
  const bool is_large = block_kind >= small_kinds;
  const bool is_new = memory.is_new(slice);
  if (is_large && is_new) {
    own[0].store(reached, std::memory_order_relaxed);
    return 1;
  }
  static constexpr std::uint8_t none[reached_of_slice]{};
  const std::uint8_t* const there =
      is_new ? none : the_gc.copy.report->reached + slice * reached_of_slice;
  const std::size_t blocks = blocks_of(block_kind);
  if (is_new || memory.has_handed_out(slice)) return merge(own, there, blocks);
  return take_reached(slice, there, blocks);
}

} // namespace

bool program_got_what_is_lost() noexcept {
  expects_lock();
  expects(the_gc.copy.report != nullptr, "there is a copy");
  marking_copy& copy = the_gc.copy;
  const copy_report& report = *copy.report;
  return copy.read_more || somebody_read(report.empty, report.empty_count) ||
         !std::all_of(copy.read.begin(), copy.read.end(), is_kept);
}

void take_marks_of_copy() noexcept {
  expects_lock();
  expects(the_gc.copy.report != nullptr, "there is a copy");
  const copy_report& report = *the_gc.copy.report;
  empty_targets(report.empty, report.empty_count);
  std::for_each(report.ready, report.ready + report.ready_count, [](void* block) {
    // Freed meanwhile, it may be another block, to which something else is attached.
    const found_block place = block_around(block);
    if (place.begin == nullptr || the_gc.memory.is_new(place.slice)) return;
    const mark& own = the_gc.memory.marks_of(place.slice)[place.number];
    if (own.load(std::memory_order_relaxed) != handed_out) make_ready(block);
  });
  const space& memory = the_gc.memory;
  memory.each_used([&](slice_index slice, kind block_kind) {
    memory.record(slice).marked = take_marks_of(slice, block_kind);
  });
  forget_lost_attachments();
  the_gc.copy.mark_ns = report.mark_ns;
  the_gc.counted.concurrent_mark_ns += report.mark_ns;
  the_gc.counted.mark_stack_overflows += report.overflowed ? 1 : 0;
  ++the_gc.counted.concurrent_collections;
}

} // namespace heapwise::gc
