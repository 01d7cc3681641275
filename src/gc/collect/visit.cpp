#include "gc/collect/visit.hpp"

#include "gc/checks/guards.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

void show_blocks_of(slice_index slice, kind block_kind) noexcept {
  const space& memory = the_gc.memory;
  const std::size_t step = memory.block_bytes(slice);
  for (std::size_t number = 0; number < blocks_of(block_kind); ++number) {
    if (memory.marks_of(slice)[number].load(std::memory_order_relaxed) == 0) continue;
    const found_block block = block_around(memory.address_of(slice) + number * step);
    the_gc.visitor(block.begin, usable_bytes(block), the_gc.visitor_argument);
  }
}

} // namespace

void show_marked_blocks() noexcept {
  expects_still_world();
  if (the_gc.visitor != nullptr) the_gc.memory.each_used(show_blocks_of);
}

} // namespace heapwise::gc
