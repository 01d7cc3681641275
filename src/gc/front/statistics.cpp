#include "gc/front/statistics.hpp"

#include <mutex>

#include "gc/attachments/finalizers.hpp"
#include "gc/attachments/weak.hpp"
#include "options/text.hpp"

namespace heapwise::gc {

heapwise_gc_statistics statistics() noexcept {
  const std::lock_guard hold{the_gc.lock};
  heapwise_gc_statistics told = the_gc.counted;
  told.heap_bytes = the_gc.memory.used_bytes();
  told.target_heap_bytes = the_gc.target_bytes;
  told.threads = the_gc.thread_count;
  told.markers = the_gc.chosen.markers;
  told.metadata_bytes = the_gc.memory.metadata_bytes();
  told.allocated_bytes = the_gc.ended_allocated_bytes;
  told.freed_bytes += the_gc.ended_freed_bytes;
  the_gc.attached.of_blocks.each([&](const attachment& each) {
    told.finalizers += each.call != nullptr ? 1 : 0;
    told.kept_blocks += each.keepers > 0 ? 1 : 0;
  });
  told.finalizers_ready = ready_count();
  told.weak_references = weak_count();
  for (thread_record* list : {the_gc.threads, the_gc.idle}) {
    for (thread_record* each = list; each != nullptr; each = each->next) {
      const std::lock_guard hold_windows{each->lock};
      told.allocated_bytes += each->allocated_bytes;
      told.freed_bytes += each->freed_bytes;
    }
  }
  return told;
}

void print_statistics() noexcept {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t us = 1000; // in ns
  const heapwise_gc_statistics told = statistics();
  detail::text page;
  page.add("heapwise: collector: ").add(told.collections).add(" collections, heap ");
  page.add(told.heap_bytes / kib).add(" KiB (at most ").add(told.peak_heap_bytes / kib);
  page.add("), live ").add(told.live_bytes / kib).add(" KiB, allocated ");
  page.add(told.allocated_bytes / kib).add(" KiB, pauses ").add(told.total_pause_ns / us);
  page.add(" us (longest ").add(told.longest_pause_ns / us);
  page.add(", until all stood still at most ").add(told.longest_stop_ns / us);
  page.add("), of them marking ");
  page.add(told.mark_ns / us).add(", sweeping beside them ").add(told.sweep_ns / us);
  page.add(", markers ").add(told.markers);
  if (the_gc.chosen.concurrent_bytes != 0) {
    page.add("; marked beside the program: ").add(told.concurrent_collections).add(" in ");
    page.add(told.concurrent_mark_ns / us).add(" us, longest wait for it ");
    page.add(told.longest_wait_ns / us);
  }
  page.add("\n").write();
}

} // namespace heapwise::gc
