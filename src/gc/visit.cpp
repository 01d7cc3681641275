#include "gc/visit.hpp"

#include "gc/allocate.hpp"
#include "gc/state.hpp"

namespace heapwise::gc {

namespace {

void show_blocks_of(slice_index slice, kind block_kind) noexcept {
  const space& memory = the_gc.memory;
  const bool is_small = block_kind < small_kinds;
  const std::size_t step = is_small ? kind_table[block_kind].bytes : 0;
  const std::size_t count = is_small ? kind_table[block_kind].blocks : 1;
  for (std::size_t number = 0; number < count; ++number) {
    if (memory.marks_of(slice)[number].load(std::memory_order_relaxed) == 0) continue;
    const found_block block = block_around(memory.address_of(slice) + number * step);
    the_gc.visitor(block.begin, usable_bytes(block), the_gc.visitor_argument);
  }
}

} // namespace

void show_marked_blocks() noexcept {
  if (the_gc.visitor == nullptr) return;
  for (slice_index slice = space::first_slice; slice < the_gc.memory.top(); ++slice) {
    const kind block_kind = the_gc.memory.kind_at(slice);
    if (block_kind != no_kind && block_kind != inside_large) show_blocks_of(slice, block_kind);
  }
}

} // namespace heapwise::gc
