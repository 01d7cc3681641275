#include "gc/marking_copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

#include "gc/attachments.hpp"
#include "gc/blocks.hpp"
#include "gc/finalizers.hpp"
#include "gc/mark.hpp"
#include "gc/state.hpp"
#include "gc/warning.hpp"
#include "gc/weak.hpp"
#include "os/os.hpp"
#include "os/world.hpp"

namespace heapwise::gc {

/// What a copy finds, in memory that it shares with the process: this, then a list of weak targets
/// that are empty, then one of blocks whose finalizers are ready, then the marks.
struct copy_report {
  std::atomic<bool> complete;
  bool overflowed;
  std::uint64_t mark_ns;
  weak_target** empty; // room for all
  std::size_t empty_count;
  void** ready;
  std::size_t ready_count;
  mark* marks;
};

namespace {

constexpr std::size_t most_failures = 3;

/// Cuts one range of memory into parts.
class cutter {
 public:
  template <class Item>
  Item* cut(std::size_t count) noexcept {
    constexpr std::size_t line = 64;
    auto* const part = reinterpret_cast<Item*>(begin_ + used_bytes_);
    used_bytes_ += (count * sizeof(Item) + line - 1) / line * line;
    return part;
  }
  void begin_at(void* memory) noexcept {
    begin_ = reinterpret_cast<std::uintptr_t>(memory);
    used_bytes_ = 0;
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  std::uintptr_t begin_ = 0; // 0: it is only measured how much is needed
  std::size_t used_bytes_ = 0;
};

std::size_t most_ready() noexcept { return the_gc.attached.of_blocks.size(); }

copy_report* lay_out(cutter& parts) noexcept {
  auto* const report = parts.cut<copy_report>(1);
  auto** const empty = parts.cut<weak_target*>(most_targets());
  void** const ready = parts.cut<void*>(most_ready());
  mark* const marks = parts.cut<mark>(the_gc.memory.top() * marks_of_slice);
  if (report == nullptr) return nullptr;
  return ::new (static_cast<void*>(report))
      copy_report{false, false, 0, empty, 0, ready, 0, marks};
}

/// Returns: a report that is empty, in shared memory; nullptr without memory.
copy_report* make_report(std::size_t& shared_bytes) noexcept {
  cutter parts;
  static_cast<void>(lay_out(parts));
  const std::size_t page = os::page_bytes();
  shared_bytes = (parts.used_bytes() + page - 1) / page * page;
  void* const memory = os::map_shared(shared_bytes);
  if (memory == nullptr) return nullptr;
  parts.begin_at(memory);
  return lay_out(parts);
}

/// What the copy does. Its memory is its own, but for the report.
[[noreturn]] void mark_in_copy(page_list<root>& roots, copy_report& report) noexcept {
  forget_helpers();
  release_helpers();
  const std::uint64_t begin = os::now_ns();
  the_gc.memory.use_marks(report.marks);
  const std::size_t ready_before = the_gc.attached.ready.size();
  report.overflowed = mark_from(roots, the_gc.memory.what_is_where(), false);
  settle_attachments(roots, false);
  report.empty_count = list_empty_targets(report.empty);
  page_list<ready_finalizer>& ready = the_gc.attached.ready;
  std::for_each(ready.begin() + ready_before, ready.end(), [&](const ready_finalizer& each) {
    report.ready[report.ready_count++] = each.block;
  });
  report.mark_ns = os::now_ns() - begin;
  // Release: pairs with copy_is_ready.
  report.complete.store(true, std::memory_order_release);
  os::end_copy();
}

/// Returns: whether the copy had reached the block, or it was handed out since.
bool is_kept(const void* address) noexcept {
  const found_block found = block_around(address);
  const space& memory = the_gc.memory;
  if (found.begin == nullptr || memory.is_new(found.slice)) return true; // freed by hand
  if (memory.marks_of(found.slice)[found.number].load(std::memory_order_relaxed) == handed_out) {
    return true;
  }
  const mark* const marks = the_gc.copy.report->marks + found.slice * marks_of_slice;
  return marks[found.number].load(std::memory_order_relaxed) != 0;
}

bool program_got_what_is_lost() noexcept {
  marking_copy& copy = the_gc.copy;
  const copy_report& report = *copy.report;
  return copy.read_more || somebody_read(report.empty, report.empty_count) ||
         !std::all_of(copy.read.begin(), copy.read.end(), is_kept);
}

/// Effects: the marks of a slice that was there before the copy.
void merge(mark* own, const mark* found, std::size_t blocks) noexcept {
  static_assert(handed_out >> 1 == reached);
  constexpr std::size_t lanes = sizeof(std::uint64_t);
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::size_t block = 0;
  for (; block + lanes <= blocks; block += lanes) { // nobody else writes marks now
    std::uint64_t eight = 0;
    std::uint64_t eight_found = 0;
    std::memcpy(&eight, static_cast<const void*>(own + block), lanes);
    std::memcpy(&eight_found, static_cast<const void*>(found + block), lanes);
    eight = (eight >> 1 & ones) | eight_found;
    std::memcpy(static_cast<void*>(own + block), &eight, lanes);
  }
  for (; block < blocks; ++block) {
    const auto mine = static_cast<std::uint8_t>(own[block].load(std::memory_order_relaxed) >> 1);
    const std::uint8_t theirs = found[block].load(std::memory_order_relaxed);
    own[block].store(mine | theirs, std::memory_order_relaxed);
  }
}

void take_marks_of(slice_index slice, kind of) noexcept {
  const space& memory = the_gc.memory;
  mark* const own = memory.marks_of(slice);
  const bool is_large = of >= small_kinds;
  if (is_large && memory.is_new(slice)) return own[0].store(reached, std::memory_order_relaxed);
  static constinit mark none[marks_of_slice]{};
  const mark* const found =
      memory.is_new(slice) ? none : the_gc.copy.report->marks + slice * marks_of_slice;
  merge(own, found, is_large ? 1 : kind_table[of].blocks);
}

void unmap_report() noexcept {
  marking_copy& copy = the_gc.copy;
  os::unmap(copy.report, copy.shared_bytes);
  copy.report = nullptr;
  copy.number = os::no_copy;
  copy.read.clear();
  copy.read_more = false;
}

void count_failure() noexcept {
  constexpr std::string_view text =
      "heapwise: copies of the process that mark beside it end early (no memory?). The program "
      "waits for marking from now on\n";
  ++the_gc.counted.lost_copies;
  if (++the_gc.copy.failures == most_failures) warn(detail::text{}.add(text));
}

} // namespace

bool copy_marks() noexcept { return the_gc.copy.number != os::no_copy; }

bool start_copy(page_list<root>& roots) noexcept {
  marking_copy& copy = the_gc.copy;
  if (copy.failures >= most_failures) return false;
  copy.report = make_report(copy.shared_bytes);
  if (copy.report == nullptr) return false;
  hold_helpers(); // in the copy, nobody could release their lock
  copy.number = os::copy_process();
  if (copy.number == os::this_is_the_copy) mark_in_copy(roots, *copy.report);
  release_helpers();
  if (!copy_marks()) {
    unmap_report();
    return false;
  }
  the_gc.memory.begin_age();
  return true;
}

bool copy_is_ready() noexcept {
  // Acquire: what the copy wrote before is seen.
  return the_gc.copy.report->complete.load(std::memory_order_acquire);
}

bool wait_for_copy() noexcept {
  os::wait_for_copy(the_gc.copy.number);
  the_gc.copy.number = os::no_copy; // nobody to be killed
  if (!copy_is_ready()) {
    count_failure();
    return false;
  }
  return !program_got_what_is_lost();
}

void take_marks_of_copy() noexcept {
  const copy_report& report = *the_gc.copy.report;
  empty_targets(report.empty, report.empty_count);
  std::for_each(report.ready, report.ready + report.ready_count, [](void* block) {
    // Freed meanwhile, it may be another block, to which something else is attached.
    const found_block found = block_around(block);
    if (found.begin == nullptr || the_gc.memory.is_new(found.slice)) return;
    const mark& own = the_gc.memory.marks_of(found.slice)[found.number];
    if (own.load(std::memory_order_relaxed) != handed_out) make_ready(block);
  });
  const space& memory = the_gc.memory;
  for (slice_index slice = space::first_slice; slice < memory.top(); ++slice) {
    const kind of = memory.kind_at(slice);
    if (of != no_kind && of != inside_large) take_marks_of(slice, of);
  }
  forget_lost_attachments();
  the_gc.counted.concurrent_mark_ns += report.mark_ns;
  the_gc.counted.mark_stack_overflows += report.overflowed ? 1 : 0;
  ++the_gc.counted.concurrent_collections;
}

void end_copy() noexcept {
  if (the_gc.copy.report == nullptr) return;
  if (copy_marks()) os::kill_copy(the_gc.copy.number);
  unmap_report();
}

void forget_copy() noexcept {
  if (the_gc.copy.report != nullptr) unmap_report();
}

void note_read(const void* block) noexcept {
  if (!the_gc.copy.read.add(block)) the_gc.copy.read_more = true;
}

} // namespace heapwise::gc
