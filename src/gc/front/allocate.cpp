#include "gc/front/allocate.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "gc/attachments/attachments.hpp"
#include "gc/base/misuse.hpp"
#include "gc/checks/guards.hpp"
#include "gc/collect/slices.hpp"
#include "gc/collect/told.hpp"
#include "gc/front/large_blocks.hpp"
#include "gc/front/spans.hpp"
#include "gc/state/layouts.hpp"
#include "gc/threads/threads.hpp"
#include "heapwise/detail/config.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

namespace {

void* no_memory() noexcept {
  errno = ENOMEM;
  return nullptr;
}

/// Returns: what the program wants to be returned when there is no memory.
HEAPWISE_COLD void* ask_program(std::size_t size_bytes) {
  heapwise_gc_no_memory* call = nullptr;
  void* argument = nullptr;
  {
    const std::lock_guard hold{the_gc.lock};
    call = the_gc.without_memory;
    argument = the_gc.without_memory_argument;
  }
  return call == nullptr ? no_memory() : call(size_bytes, argument);
}

mark& use_of(const found_block& block) noexcept {
  return the_gc.memory.uses_of(block.slice)[block.number];
}

void note_freed(const found_block& block, std::string_view called) noexcept {
  if (!the_gc.memory.notes_use()) return;
  if (use_of(block).exchange(0, std::memory_order_relaxed) == 0) {
    refuse(called, " of a block that is free, or was reported as lost");
  }
  if (the_gc.chosen.debug) report_if_damaged(block);
}

void* take_from_window(thread_record& self, kind block_kind) noexcept {
  window& from = self.windows[block_kind];
  char* const block = from.at;
  char* const next = block + kind_table[block_kind].bytes;
  if (next > from.end) return nullptr;
  from.at = next;
  return block;
}

HEAPWISE_ALWAYS_INLINE void* allocate_small(thread_record& self, kind block_kind,
                                            std::size_t asked_bytes) {
  if (void* const block = take_from_window(self, block_kind); block != nullptr) return block;
  for (;;) {
    {
      const std::lock_guard hold{self.lock};
      if (next_window(self, block_kind)) break;
    }
    os::clear_unused_stack(); // a collection looks through the frames of next_span
    {
      const std::lock_guard hold{the_gc.lock};
      if (!next_span(self, block_kind, asked_bytes)) return nullptr;
    }
    keep_pace();
    tell_program();
  }
  return take_from_window(self, block_kind);
}

/// Returns: the calling thread's record; nullptr if the collector cannot be started. Effects:
/// starts it.
HEAPWISE_COLD thread_record* record_at_start() noexcept {
  // Pairs with the release in start: a collector that has started is seen whole.
  if (!the_gc.started.load(std::memory_order_acquire)) {
    return heapwise_gc_init(nullptr) == 0 ? this_thread : nullptr;
  }
  if (register_if_chosen()) return this_thread;
  refuse("a thread that is not registered wants a block",
         ". Next: call heapwise_gc_register_thread in each thread that uses the collector, or set "
         "the option register_threads");
}

/// Returns: a block, or nullptr.
HEAPWISE_ALWAYS_INLINE void* allocate_any(thread_record& self, std::size_t bytes, bool atomic) {
  return bytes <= max_small_bytes ? allocate_small(self, kind_of(bytes, atomic), bytes)
                                  : allocate_large(bytes, atomic ? large_atomic : large);
}

/// Returns: a block with room for `bytes` and the address of its layout, or nullptr.
void* allocate_any_typed(thread_record& self, std::size_t bytes, const layout& its) {
  const bool is_small = bytes <= max_small_bytes - sizeof(&its);
  const kind block_kind = is_small ? typed_kind_of(bytes + sizeof(&its)) : large_typed;
  auto* const block = static_cast<std::byte*>(
      is_small ? allocate_small(self, block_kind, bytes + sizeof(&its))
               : allocate_large(std::min(bytes, SIZE_MAX / 2) + sizeof(&its), block_kind));
  if (block == nullptr) return nullptr;
  // Before it holds an address. A collection that comes first finds no layout, and nothing.
  const found_block place = block_around(block);
  write_layout(block + place.bytes, &its);
  return block;
}

/// With leaks or damage to be found, every block is noted down when it is handed out.
HEAPWISE_COLD void note_allocated(const found_block& block, std::size_t size_bytes,
                                  const void* caller) noexcept {
  if (the_gc.chosen.debug) set_guard(block, size_bytes, caller);
  use_of(block).store(1, std::memory_order_relaxed);
}

/// Returns: what the program gets.
void* finish(void* block, std::size_t size_bytes, const void* caller) {
  if (block == nullptr) return ask_program(size_bytes);
  if (the_gc.memory.notes_use()) note_allocated(block_around(block), size_bytes, caller);
  return block;
}

/// Returns: how large a block has to be whose end is followed by the address of its layout.
std::size_t room_before_layout(std::size_t size_bytes) noexcept {
  return the_gc.chosen.debug ? with_guard(size_bytes) : size_bytes;
}

/// Returns: how large a block has to be. Where an address one past the end counts, it is in the
/// block, as in Boehm's collector.
std::size_t room_for(std::size_t size_bytes) noexcept {
  const bool longer = the_gc.chosen.past_end && size_bytes != SIZE_MAX;
  return room_before_layout(size_bytes + (longer ? 1 : 0));
}

/// As `allocate`, where blocks are handed out one by one, and in a thread that is not registered.
HEAPWISE_COLD void* allocate_noted(std::size_t size_bytes, bool atomic, const void* caller) {
  thread_record* const self = this_thread != nullptr ? this_thread : record_at_start();
  if (self == nullptr) return ask_program(size_bytes);
  return finish(allocate_any(*self, room_for(size_bytes), atomic), size_bytes, caller);
}

} // namespace

void* allocate(std::size_t size_bytes, bool atomic, const void* caller) {
  thread_record* const self = this_thread;
  if (self == nullptr || the_gc.one_by_one) [[unlikely]] {
    return allocate_noted(size_bytes, atomic, caller);
  }
  void* const block = allocate_any(*self, size_bytes, atomic);
  return block != nullptr ? block : ask_program(size_bytes);
}

void* allocate_kept(std::size_t size_bytes, bool atomic, const void* caller) {
  void* const block = allocate(size_bytes, atomic, caller);
  // Memory that the program gives because there is no other may not be a block.
  if (!is_block(block) || keep(block) == 0) return block;
  release(block_around(block), "heapwise_gc_malloc_uncollectable");
  return ask_program(size_bytes);
}

void* allocate_aligned(std::size_t alignment, std::size_t size_bytes, const void* caller) {
  if (!std::has_single_bit(alignment) || alignment > slice_bytes) {
    errno = EINVAL;
    return nullptr;
  }
  thread_record* const self = this_thread != nullptr ? this_thread : record_at_start();
  if (self == nullptr) return ask_program(size_bytes);
  // A slice is aligned to its size. So all blocks of a kind are aligned if their size is a
  // multiple.
  std::size_t bytes = std::max<std::size_t>(room_for(size_bytes), 1);
  while (bytes <= max_small_bytes) {
    const std::size_t block_bytes = kind_table[kind_of(bytes, false)].bytes;
    if (block_bytes % alignment == 0) break;
    bytes = block_bytes + 1;
  }
  return finish(allocate_any(*self, bytes, false), size_bytes, caller);
}

void* allocate_typed(const layout& its, std::size_t size_bytes, const void* caller) {
  thread_record* const self = this_thread != nullptr ? this_thread : record_at_start();
  if (self == nullptr) return ask_program(size_bytes);
  const std::size_t bytes = room_before_layout(size_bytes);
  // Markers take pieces of a large block if nothing says what is in it.
  if (its.function == nullptr && bytes > max_small_bytes - sizeof(&its)) {
    return allocate(size_bytes, false, caller);
  }
  return finish(allocate_any_typed(*self, bytes, its), size_bytes, caller);
}

void* allocate_like(const found_block& block, std::size_t size_bytes, const void* caller) {
  const layout* const its = layout_of(block);
  return its == nullptr ? allocate(size_bytes, block.atomic, caller)
                        : allocate_typed(*its, size_bytes, caller);
}

void release(const found_block& block, std::string_view called) noexcept {
  if (this_thread == nullptr && !register_if_chosen()) [[unlikely]] {
    refuse(called, " in a thread that is not registered");
  }
  thread_record* const self = this_thread;
  note_freed(block, called);
  // Relaxed: who attached something gave this thread the address afterwards.
  if (the_gc.memory.record(block.slice).attached.load(std::memory_order_relaxed)) {
    forget_attachments(block.begin);
  }
  const kind block_kind = the_gc.memory.kind_at(block.slice);
  const std::size_t bytes = block.bytes + layout_bytes(block_kind);
  if (block_kind >= small_kinds) {
    const std::lock_guard hold{the_gc.lock};
    the_gc.ended_freed_bytes += bytes;
    the_gc.memory.give(block.slice, the_gc.memory.record(block.slice).slices);
    return;
  }
  // First of all: a marking function is not to meet a block that is half cleared.
  if (is_typed(block_kind)) write_layout(block.begin + block.bytes, nullptr);
  if (!block.atomic) std::memset(block.begin, 0, block.bytes);
  const std::lock_guard hold{self->lock};
  *reinterpret_cast<std::byte**>(block.begin) = self->freed[block_kind];
  self->freed[block_kind] = block.begin;
  self->freed_bytes += bytes;
}

} // namespace heapwise::gc
