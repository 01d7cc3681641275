#include "gc/leaks.hpp"

#include <mutex>

#include "gc/state.hpp"
#include "heap/text.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

void find_in(slice_index slice, kind of) noexcept {
  const mark* const marks = the_gc.memory.marks_of(slice);
  mark* const uses = the_gc.memory.uses_of(slice);
  const bool small = of < small_kinds;
  const std::size_t bytes = small ? kind_table[of].bytes : the_gc.memory.record(slice).bytes;
  const std::size_t blocks = small ? kind_table[of].blocks : 1;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (uses[block].load(std::memory_order_relaxed) == 0) continue;
    if (marks[block].load(std::memory_order_relaxed) != 0) continue;
    uses[block].store(0, std::memory_order_relaxed);
    ++the_gc.counted.leaks;
    // One that there is no room to write down is counted all the same.
    if (!the_gc.leaks.add({the_gc.memory.address_of(slice) + block * bytes, bytes})) continue;
  }
}

} // namespace

void find_leaks() noexcept {
  if (!the_gc.memory.notes_use()) return;
  for (slice_index slice = space::first_slice; slice < the_gc.memory.top(); ++slice) {
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
