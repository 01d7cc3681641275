#include "gc/visit.hpp"

#include "gc/allocate.hpp"
#include "gc/state.hpp"

namespace heapwise::gc {

namespace {

void show_blocks_of(slice_index slice, kind of) noexcept {
  const space& memory = the_gc.memory;
  const bool is_small = of < small_kinds;
  const std::size_t step = is_small ? kind_table[of].bytes : 0;
  const std::size_t count = is_small ? kind_table[of].blocks : 1;
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
    const kind of = the_gc.memory.kind_at(slice);
    if (of != no_kind && of != inside_large) show_blocks_of(slice, of);
  }
}

} // namespace heapwise::gc
