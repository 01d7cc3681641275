#include "gc/front/large_blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "gc/collect/budget.hpp"
#include "gc/collect/slices.hpp"
#include "gc/collect/told.hpp"
#include "gc/state/layouts.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

void* allocate_large(std::size_t size_bytes, kind block_kind) {
  expects_registered();
  if (size_bytes > static_cast<std::size_t>(PTRDIFF_MAX) - slice_bytes) return nullptr;
  const std::size_t bytes = (size_bytes + granule_bytes - 1) / granule_bytes * granule_bytes;
  const std::size_t count = (bytes + slice_bytes - 1) / slice_bytes;
  space& memory = the_gc.memory;
  std::byte* begin = nullptr;
  std::size_t zero_bytes = 0; // up to the last dirty slice
  os::clear_unused_stack();   // a collection looks through the frames of take_slices
  {
    const std::lock_guard hold{the_gc.lock};
    give_back_part();
    const slice_index first = take_slices(count, block_kind);
    if (first == no_slice) return nullptr;
    slice_record& record = memory.record(first);
    record.bytes = bytes;
    // A collection that comes before its address is known to anybody must not free it: the stack of
    // this thread holds it from here on.
    begin = memory.address_of(first);
    for (std::size_t each = 0; each < count; ++each) {
      auto& dirty = memory.record(static_cast<slice_index>(first + each)).dirty;
      if (dirty.exchange(true, std::memory_order_relaxed)) {
        zero_bytes = std::min((each + 1) * slice_bytes, bytes);
      }
    }
    the_gc.ended_allocated_bytes += bytes;
    // What was there before is not a layout.
    if (is_typed(block_kind)) write_layout(begin + bytes - layout_bytes(block_kind), nullptr);
  }
  if (block_kind != large_atomic) std::memset(begin, 0, zero_bytes);
  keep_pace();
  tell_program();
  return begin;
}

} // namespace heapwise::gc
