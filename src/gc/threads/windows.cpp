#include "gc/threads/windows.hpp"
#include "gc/state/required.hpp"

namespace heapwise::gc {

namespace {

/// Returns: whether it had none.
bool set_mark(const space& memory, const char* block, const kind_facts& facts,
              std::uint8_t with_mark) noexcept {
  const slice_index slice = memory.slice_of(block);
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(block) -
                                               memory.address_of(slice));
  if (with_mark == handed_out) memory.note_handed_out(slice);
  mark& of_block = memory.marks_of(slice)[block_at(facts, offset)];
  return of_block.exchange(with_mark, std::memory_order_relaxed) == 0;
}

/// Effects: the block before the window is marked, too: its thread may have its address as that of
/// its end alone, between two instructions.
std::size_t keep_windows(const thread_record& of_thread, std::uint8_t with_mark) noexcept {
  std::size_t kept_bytes = 0;
  const space& memory = the_gc.memory;
  for (kind block_kind = 1; block_kind < small_kinds; ++block_kind) {
    const window& from = of_thread.windows[block_kind];
    if (!memory.holds(from.end - 1)) continue;
    const std::size_t bytes = kind_table[block_kind].bytes;
    const auto* const begin =
        reinterpret_cast<const char*>(memory.address_of(memory.slice_of(from.end - 1)));
    const char* block = from.at == begin ? from.at : from.at - bytes;
    for (; block < from.end; block += bytes) {
      if (set_mark(memory, block, kind_table[block_kind], with_mark)) kept_bytes += bytes;
    }
  }
  return kept_bytes;
}

template <class Visit>
void each_record(Visit visit) noexcept {
  for (thread_record* list : {the_gc.threads, the_gc.idle}) {
    for (thread_record* each = list; each != nullptr; each = each->next) visit(*each);
  }
}

} // namespace

std::size_t keep_all_windows(std::uint8_t with_mark) noexcept {
  expects_still_world();
  std::size_t kept_bytes = 0;
  for (const thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    kept_bytes += keep_windows(*each, with_mark);
  }
  return kept_bytes;
}

void forget_idle_blocks() noexcept {
  expects_lock();
  for (thread_record* each = the_gc.idle; each != nullptr; each = each->next) {
    each->windows.fill(no_window);
    each->cursors.fill({});
    each->freed.fill(nullptr);
  }
}

void leave_spans() noexcept {
  expects_lock();
  each_record([](thread_record& each) {
    each.cursors.fill({});
    each.freed.fill(nullptr);
  });
}

void mark_handed_out(bool yes) noexcept {
  expects_lock();
  each_record([=](thread_record& each) { each.marks_handed_out = yes; });
}

traffic count_traffic() noexcept {
  expects_lock();
  traffic sum{the_gc.ended_allocated_bytes, the_gc.ended_freed_bytes};
  each_record([&](const thread_record& each) {
    sum.allocated_bytes += each.allocated_bytes;
    sum.freed_bytes += each.freed_bytes;
  });
  return sum;
}

} // namespace heapwise::gc
