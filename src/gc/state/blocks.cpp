#include "gc/state/blocks.hpp"

#include "gc/base/misuse.hpp"
#include "gc/state/state.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

found_block block_around(const void* address) noexcept {
  const space& memory = the_gc.memory;
  if (!memory.holds(address)) return {};
  slice_index slice = memory.slice_of(address);
  kind block_kind = memory.kind_at(slice);
  if (block_kind == no_kind) return {};
  if (block_kind == inside_large) {
    slice -= memory.record(slice).slices;
    block_kind = memory.kind_at(slice);
  }
  std::byte* const begin = memory.address_of(slice);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
  if (block_kind >= small_kinds) {
    const std::size_t bytes = memory.record(slice).bytes - layout_bytes(block_kind);
    if (offset >= bytes) return {};
    return {begin, bytes, slice, 0, block_kind == large_atomic};
  }
  const kind_facts& facts = kind_table[block_kind];
  const std::uint32_t number = block_at(facts, offset);
  if (number >= facts.blocks) return {};
  return {begin + std::size_t{number} * facts.bytes, facts.bytes - layout_bytes(block_kind), slice,
          number, facts.atomic};
}

bool is_block(const void* address) noexcept {
  return address != nullptr && block_around(address).begin == address;
}

const layout* layout_of(const found_block& block) noexcept {
  const bool has_one = is_typed(the_gc.memory.kind_at(block.slice));
  return has_one ? layout_at(block.begin + block.bytes) : nullptr;
}

found_block block_at(const void* begin, std::string_view called) noexcept {
  const found_block block = block_around(begin);
  if (block.begin == nullptr || block.begin != begin) {
    refuse(called, " of an address where no block begins");
  }
  return block;
}

namespace {

mark& mark_of(const void* block) noexcept {
  const found_block place = block_around(block);
  expects(place.begin == block && block != nullptr, "a block begins there");
  return the_gc.memory.marks_of(place.slice)[place.number];
}

} // namespace

bool is_marked(const void* block) noexcept {
  return mark_of(block).load(std::memory_order_relaxed) != 0;
}

void set_mark(const void* block) noexcept {
  mark_of(block).store(reached, std::memory_order_relaxed);
}

void note_handed_out(const void* block) noexcept {
  mark_of(block).store(handed_out, std::memory_order_relaxed);
  the_gc.memory.note_handed_out(the_gc.memory.slice_of(block));
}

} // namespace heapwise::gc
