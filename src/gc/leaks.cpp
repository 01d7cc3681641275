#include "gc/leaks.hpp"

#include <bit>
#include <mutex>

#include "gc/state.hpp"
#include "heap/text.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

void find_in(slice_index slice, kind of) noexcept {
  slice_record& record = the_gc.memory.record(slice);
  auto* const allocated = the_gc.allocated + std::size_t{slice} * slice_record::words;
  for (std::size_t word = 0; word < slice_record::words; ++word) {
    const std::uint64_t in_use = allocated[word].load(std::memory_order_relaxed);
    std::uint64_t lost = in_use & ~record.marks[word].load(std::memory_order_relaxed);
    allocated[word].store(in_use & ~lost, std::memory_order_relaxed);
    for (; lost != 0; lost &= lost - 1) {
      const std::size_t number = word * 64 + static_cast<std::size_t>(std::countr_zero(lost));
      const std::size_t bytes = of < small_kinds ? kind_table[of].bytes : record.bytes;
      ++the_gc.counted.leaks;
      // One that there is no room to write down is counted all the same.
      if (!the_gc.leaks.add({the_gc.memory.address_of(slice) + number * bytes, bytes})) continue;
    }
  }
}

} // namespace

bool start_finding_leaks() noexcept {
  const std::size_t bytes =
      the_gc.memory.reserved_slices() * slice_record::words * sizeof(std::uint64_t);
  void* const table = os::reserve(bytes, slice_bytes);
  if (table == nullptr || !os::commit(table, bytes)) return false;
  the_gc.allocated = static_cast<std::atomic<std::uint64_t>*>(table);
  return true;
}

void find_leaks() noexcept {
  if (the_gc.allocated == nullptr) return;
  for (slice_index slice = 0; slice < the_gc.memory.top(); ++slice) {
    const kind of = the_gc.memory.kind_at(slice);
    if (of != no_kind && of != inside_large) find_in(slice, of);
  }
}

void report_leaks() noexcept {
  page_list<leak> found;
  heapwise_gc_leak_report* report = nullptr;
  void* argument = nullptr;
  {
    const std::lock_guard hold{the_gc.lock};
    found = the_gc.leaks;
    the_gc.leaks = {};
    report = the_gc.report;
    argument = the_gc.report_argument;
  }
  for (const leak& each : found) {
    if (report != nullptr) {
      report(each.block, each.bytes, argument);
      continue;
    }
    detail::text line;
    line.add("heapwise: lost: a block of ").add(each.bytes).add(" bytes at ");
    line.add_address(each.block).add(", neither freed nor reachable\n").write();
  }
  found.unmap();
}

} // namespace heapwise::gc
