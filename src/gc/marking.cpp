#include "gc/marking.hpp"

#include "gc/allocate.hpp"
#include "gc/blocks.hpp"
#include "gc/marker.hpp"

namespace heapwise::gc {

void call_function(const layout& its, const void* block, marker& self) noexcept {
  const found_block found = block_around(block);
  heapwise_gc_marking marking{self, reinterpret_cast<std::uintptr_t>(found.begin), found.bytes};
  its.function(&marking, block, usable_bytes(found), its.argument);
}

} // namespace heapwise::gc

void heapwise_gc_marking::name(const void* address) const noexcept {
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  // A block that is looked through is marked, but for one whose finalizer must not wait for itself.
  if (word - block < bytes) return;
  self.mark_address(word);
}
