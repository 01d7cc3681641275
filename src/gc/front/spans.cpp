#include "gc/front/spans.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>

#include "gc/collect/budget.hpp"
#include "gc/collect/slices.hpp"
#include "gc/space/runs.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/layouts.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

bool take_freed(thread_record& self, kind block_kind) noexcept {
  std::byte* const block = self.freed[block_kind];
  if (block == nullptr) return false;
  auto* const link = reinterpret_cast<std::byte**>(block);
  self.freed[block_kind] = *link;
  *link = nullptr; // the rest was zeroed when it was freed
  if (self.marks_handed_out) note_handed_out(block);
  const std::size_t bytes = kind_table[block_kind].bytes;
  self.windows[block_kind] = {reinterpret_cast<char*>(block),
                              reinterpret_cast<char*>(block + bytes)};
  self.allocated_bytes += bytes;
  return true;
}

/// Effects: no block of a fresh span has a layout. What the span held before may look like one, and
/// an old address may lead there before the block is handed out. Requires: the lock.
void clear_layouts(slice_index slice, kind block_kind) noexcept {
  expects_lock();
  const std::size_t bytes = kind_table[block_kind].bytes;
  std::byte* end = the_gc.memory.address_of(slice);
  for (std::uint32_t block = 0; block < kind_table[block_kind].blocks; ++block) {
    end += bytes;
    write_layout(end - layout_bytes(block_kind), nullptr);
  }
}

} // namespace

bool next_span(thread_record& self, kind block_kind, std::size_t asked_bytes) noexcept {
  expects_lock();
  look_after_copy();
  give_back_part();
  slice_index slice = the_gc.unswept[block_kind];
  cursor span;
  if (slice != no_slice) {
    the_gc.unswept[block_kind] = the_gc.memory.record(slice).next;
    the_gc.handed_bytes += the_gc.memory.record(slice).bytes;
    span = {slice, 0, false};
  } else {
    slice = take_slices(1, block_kind);
    if (slice == no_slice) return false;
    auto& dirty = the_gc.memory.record(slice).dirty;
    span = {slice, 0, !dirty.load(std::memory_order_relaxed)};
    if (!span.clean && is_typed(block_kind)) clear_layouts(slice, block_kind);
    dirty.store(true, std::memory_order_relaxed);
  }
  the_gc.memory.record(slice).filled = asked_bytes == kind_table[block_kind].bytes;
  const std::lock_guard hold{self.lock};
  self.cursors[block_kind] = span;
  return true;
}

bool next_window(thread_record& self, kind block_kind) noexcept {
  expects_held(self.lock);
  if (take_freed(self, block_kind)) return true;
  cursor& at = self.cursors[block_kind];
  if (at.slice == no_slice) return false;
  const kind_facts& facts = kind_table[block_kind];
  mark* const marks = the_gc.memory.marks_of(at.slice);
  const std::uint32_t most = the_gc.one_by_one ? 1 : facts.blocks_at_once;
  const auto [first, end] = next_free_run(marks, at.next, facts.blocks, most);
  if (first == facts.blocks) {
    at = {};
    return false;
  }
  at.next = end;
  if (self.marks_handed_out) {
    std::memset(static_cast<void*>(marks + first), handed_out, end - first);
    the_gc.memory.note_handed_out(at.slice);
  }
  char* const begin = reinterpret_cast<char*>(the_gc.memory.address_of(at.slice)) +
                      std::size_t{first} * facts.bytes;
  const std::size_t bytes = std::size_t{end - first} * facts.bytes;
  if (!at.clean && !facts.atomic) std::memset(begin, 0, bytes);
  self.windows[block_kind] = {begin, begin + bytes};
  self.allocated_bytes += bytes;
  return true;
}

} // namespace heapwise::gc
