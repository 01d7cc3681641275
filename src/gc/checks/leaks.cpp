#include "gc/checks/leaks.hpp"

#include <mutex>

#include "gc/checks/guards.hpp"
#include "gc/state/blocks.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "options/text.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

void find_in(slice_index slice, kind block_kind) noexcept {
  const mark* const marks = the_gc.memory.marks_of(slice);
  mark* const uses = the_gc.memory.uses_of(slice);
  const std::size_t bytes = the_gc.memory.block_bytes(slice);
  const std::size_t blocks = blocks_of(block_kind);
  for (std::size_t block = 0; block < blocks; ++block) {
    if (uses[block].load(std::memory_order_relaxed) == 0) continue;
    if (marks[block].load(std::memory_order_relaxed) != 0) continue;
    uses[block].store(0, std::memory_order_relaxed);
    ++the_gc.counted.leaks;
    // One that there is no room to write down is counted all the same.
    if (!the_gc.leaks.add({the_gc.memory.address_of(slice) + block * bytes, bytes})) continue;
  }
}

/// Returns: the bytes of the block if it had no mark.
std::size_t hold(const leak& lost) noexcept {
  const found_block place = block_around(lost.block);
  mark& its = the_gc.memory.marks_of(place.slice)[place.number];
  return its.exchange(1, std::memory_order_relaxed) == 0 ? lost.bytes : 0;
}

/// A lost block, and how it is to be reported.
struct leak_report {
  leak lost{};
  heapwise_gc_leak_report* report = nullptr;
  void* argument = nullptr;
};

/// The reports that this thread has begun and not ended. (A report may fork.)
constinit thread_local std::size_t own_reports = 0;

/// Requires: the lock. Effects: forgets the blocks that were found if all of them are reported.
void drop_reported() noexcept {
  expects_lock();
  if (the_gc.leak_reports != 0 || the_gc.leaks_reported != the_gc.leaks.size()) return;
  the_gc.leaks.unmap();
  the_gc.leaks_reported = 0;
}

/// Returns: whether there was one.
bool begin_report(leak_report& into) noexcept {
  const std::lock_guard hold_list{the_gc.lock};
  if (the_gc.leaks_reported == the_gc.leaks.size()) return false;
  into = {the_gc.leaks.begin()[the_gc.leaks_reported], the_gc.report, the_gc.report_argument};
  ++the_gc.leaks_reported;
  ++the_gc.leak_reports;
  ++own_reports;
  return true;
}

void end_report() noexcept {
  const std::lock_guard hold_list{the_gc.lock};
  --the_gc.leak_reports; // another thread may be in the middle of one
  --own_reports;
  drop_reported();
}

} // namespace

std::size_t find_leaks() noexcept {
  expects_still_world();
  if (!the_gc.chosen.find_leaks) return 0;
  the_gc.memory.each_used(find_in);
  std::size_t held_bytes = 0;
  for (const leak& each : the_gc.leaks) held_bytes += hold(each);
  return held_bytes;
}

void report_leaks() noexcept {
  for (leak_report next; begin_report(next); end_report()) {
    const found_block lost = block_around(next.lost.block);
    if (next.report != nullptr) {
      next.report(next.lost.block, usable_bytes(lost), next.argument);
      continue;
    }
    detail::text line;
    line.add("heapwise: lost: a block of ").add(usable_bytes(lost)).add(" bytes at ");
    line.add_address(next.lost.block).add(", neither freed nor reachable");
    if (the_gc.chosen.debug) add_caller(line, lost);
    line.add("\n").write();
  }
}

void forget_other_reports() noexcept {
  expects_lock();
  the_gc.leak_reports = own_reports;
  drop_reported();
}

} // namespace heapwise::gc
