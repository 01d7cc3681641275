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
/// that are empty, then one of blocks whose finalizers are ready, then the marks, a bit for each,
/// and how many of them are set in each slice.
struct copy_report {
  std::atomic<bool> complete;
  bool overflowed;
  std::uint64_t mark_ns;
  weak_target** empty; // room for all
  std::size_t empty_count;
  void** ready;
  std::size_t ready_count;
  std::uint8_t* reached; // reached_of_slice for each slice
  std::uint16_t* marked; // how many blocks of each slice are reached
};

namespace {

constexpr std::size_t most_failures = 3;
constexpr std::size_t reached_of_slice = marks_of_slice / 8;
constexpr std::uint64_t ones = 0x0101'0101'0101'0101; // one in each byte

/// Returns: a bit for each of eight bytes, which are 0 or 1.
std::uint8_t pack(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t to_the_top = 0x0102'0408'1020'4080; // bit 8i to bit 56 + i
  return static_cast<std::uint8_t>(bytes * to_the_top >> 56);
}

/// Returns: eight bytes, 0 or 1, from a bit for each.
std::uint64_t unpack(std::uint8_t bits) noexcept {
  constexpr std::uint64_t bit_of_byte = 0x8040'2010'0804'0201; // bit i in byte i
  constexpr std::uint64_t to_the_highest = 0x7F7F'7F7F'7F7F'7F7F;
  return (((bits * ones) & bit_of_byte) + to_the_highest) >> 7 & ones;
}

/// Returns: how many of eight bytes are 1. Requires: the others are 0.
std::uint32_t sum_of_bytes(std::uint64_t eight) noexcept {
  return static_cast<std::uint32_t>(eight * ones >> 56);
}

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
  auto* const reached = parts.cut<std::uint8_t>(the_gc.memory.top() * reached_of_slice);
  auto* const marked = parts.cut<std::uint16_t>(the_gc.memory.top());
  if (report == nullptr) return nullptr;
  return ::new (static_cast<void*>(report))
      copy_report{false, false, 0, empty, 0, ready, 0, reached, marked};
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

/// Returns: marks that nothing else writes, all zero; nullptr without memory.
mark* make_marks() noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = the_gc.memory.top() * marks_of_slice;
  return static_cast<mark*>(os::map((bytes + page - 1) / page * page, page));
}

/// Effects: what the copy has reached, from its marks into the report. Pages of slices in which it
/// has reached nothing stay untouched.
void write_reached(const mark* marks, copy_report& into) noexcept {
  for (slice_index slice = space::first_slice; slice < the_gc.memory.top(); ++slice) {
    const mark* const there = marks + std::size_t{slice} * marks_of_slice;
    std::uint8_t* const reached_there = into.reached + slice * reached_of_slice;
    std::uint32_t marked = 0;
    for (std::size_t group = 0; group < reached_of_slice; ++group) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, static_cast<const void*>(there + 8 * group), sizeof eight);
      if (eight == 0) continue;
      reached_there[group] = pack(eight);
      marked += sum_of_bytes(eight);
    }
    if (marked != 0) into.marked[slice] = static_cast<std::uint16_t>(marked);
  }
}

/// The work of the copy. Its memory is its own, except for the report.
[[noreturn]] void mark_in_copy(page_list<root>& roots, copy_report& report) noexcept {
  forget_helpers();
  release_helpers();
  const std::uint64_t begin = os::now_ns();
  mark* const marks = make_marks();
  if (marks == nullptr) os::end_copy();
  the_gc.memory.use_marks(marks);
  const std::size_t ready_before = the_gc.attached.ready.size();
  report.overflowed = mark_from(roots, the_gc.memory.what_is_where(), false);
  settle_attachments(roots, false);
  report.empty_count = list_empty_targets(report.empty);
  page_list<ready_finalizer>& ready = the_gc.attached.ready;
  std::for_each(ready.begin() + ready_before, ready.end(), [&](const ready_finalizer& each) {
    report.ready[report.ready_count++] = each.block;
  });
  write_reached(marks, report);
  report.mark_ns = os::now_ns() - begin;
  // Release: pairs with copy_is_ready.
  report.complete.store(true, std::memory_order_release);
  os::end_copy();
}

/// Returns: whether the copy had reached the block, or it was handed out since.
bool is_kept(const void* address) noexcept {
  const found_block place = block_around(address);
  const space& memory = the_gc.memory;
  if (place.begin == nullptr || memory.is_new(place.slice)) return true; // freed by hand
  if (memory.marks_of(place.slice)[place.number].load(std::memory_order_relaxed) == handed_out) {
    return true;
  }
  const std::uint8_t* const reached = the_gc.copy.report->reached + place.slice * reached_of_slice;
  return (reached[place.number / 8] >> place.number % 8 & 1) != 0;
}

bool program_got_what_is_lost() noexcept {
  marking_copy& copy = the_gc.copy;
  const copy_report& report = *copy.report;
  return copy.read_more || somebody_read(report.empty, report.empty_count) ||
         !std::all_of(copy.read.begin(), copy.read.end(), is_kept);
}

// Nobody else writes marks while those of the copy are taken over. What is behind the last block of
// a slice has none, here and there.

/// Effects: the marks of a slice: what the copy has reached, and what was handed out since.
/// Returns: how many there are.
std::uint32_t merge(mark* own, const std::uint8_t* reached_there, std::size_t blocks) noexcept {
  static_assert(handed_out >> 1 == reached);
  std::uint32_t marked = 0;
  for (std::size_t group = 0; group * 8 < blocks; ++group) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, static_cast<const void*>(own + 8 * group), sizeof eight);
    eight = (eight >> 1 & ones) | unpack(reached_there[group]);
    std::memcpy(static_cast<void*>(own + 8 * group), &eight, sizeof eight);
    marked += sum_of_bytes(eight);
  }
  return marked;
}

/// Effects: the marks of a slice: what the copy has reached.
void write_marks(mark* own, const std::uint8_t* reached_there, std::size_t blocks) noexcept {
  for (std::size_t group = 0; group * 8 < blocks; ++group) {
    const std::uint64_t eight = unpack(reached_there[group]);
    std::memcpy(static_cast<void*>(own + 8 * group), &eight, sizeof eight);
  }
}

/// Effects: as `merge`, for a slice of which nothing was handed out since. Marks are eight times as
/// large as what the copy tells, so those that nobody reads are not written: of a slice without
/// any, and of one that is full, as it was.
std::uint32_t take_reached(slice_index slice, const std::uint8_t* reached_there,
                           std::size_t blocks) noexcept {
  const slice_record& record = the_gc.memory.record(slice);
  const std::uint32_t marked = the_gc.copy.report->marked[slice];
  const bool stays_full = marked == blocks && record.marked == blocks;
  // Relaxed: it is written under the collector's lock. What is attached to a lost block, and weak
  // references in one, are recognized by its mark.
  const bool is_free = marked == 0 && !record.attached.load(std::memory_order_relaxed);
  if (!stays_full && !is_free) {
    write_marks(the_gc.memory.marks_of(slice), reached_there, blocks);
  }
  return marked;
}

/// Returns: how many blocks of the slice are marked now.
std::uint32_t take_marks_of(slice_index slice, kind block_kind) noexcept {
  const space& memory = the_gc.memory;
  mark* const own = memory.marks_of(slice);
  const bool is_large = block_kind >= small_kinds;
  const bool is_new = memory.is_new(slice);
  if (is_large && is_new) {
    own[0].store(reached, std::memory_order_relaxed);
    return 1;
  }
  static constexpr std::uint8_t none[reached_of_slice]{};
  const std::uint8_t* const there =
      is_new ? none : the_gc.copy.report->reached + slice * reached_of_slice;
  const std::size_t blocks = is_large ? 1 : kind_table[block_kind].blocks;
  if (is_new || memory.has_handed_out(slice)) return merge(own, there, blocks);
  return take_reached(slice, there, blocks);
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
  the_gc.memory.leave_marks_out_of_copies(true);
  hold_helpers(); // in the copy, nobody could release their lock
  copy.number = os::copy_process();
  if (copy.number == os::this_is_the_copy) mark_in_copy(roots, *copy.report);
  release_helpers();
  the_gc.memory.leave_marks_out_of_copies(false); // a child of fork has them
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
  constexpr unsigned polls_a_look = 64; // some 10 ms
  marking_copy& copy = the_gc.copy;
  bool ended = false;
  for (unsigned polls = 1; !ended && !copy_is_ready(); ++polls) {
    ended = os::copy_ends_soon(copy.number);
    // It may stand for ever, and all threads that allocate with it.
    if (!ended && polls % polls_a_look == 0 && os::is_stopped(copy.number)) return false;
  }
  if (!ended) {
    settle_leaving_copies();
    *std::find(copy.leaving.begin(), copy.leaving.end(), os::no_copy) = copy.number;
  }
  copy.number = os::no_copy; // nobody to be killed
  if (!copy_is_ready()) {
    count_failure();
    return false;
  }
  return !program_got_what_is_lost();
}

bool settle_leaving_copies() noexcept {
  auto& leaving = the_gc.copy.leaving;
  const auto last = std::remove_if(leaving.begin(), leaving.end(), [](os::copy_number each) {
    return each == os::no_copy || os::copy_has_ended(each);
  });
  std::fill(last, leaving.end(), os::no_copy);
  if (leaving.back() == os::no_copy) return false;
  os::wait_for_copy(leaving.front());
  std::rotate(leaving.begin(), leaving.begin() + 1, leaving.end());
  leaving.back() = os::no_copy;
  return true;
}

void take_marks_of_copy() noexcept {
  const copy_report& report = *the_gc.copy.report;
  empty_targets(report.empty, report.empty_count);
  std::for_each(report.ready, report.ready + report.ready_count, [](void* block) {
    // Freed meanwhile, it may be another block, to which something else is attached.
    const found_block place = block_around(block);
    if (place.begin == nullptr || the_gc.memory.is_new(place.slice)) return;
    const mark& own = the_gc.memory.marks_of(place.slice)[place.number];
    if (own.load(std::memory_order_relaxed) != handed_out) make_ready(block);
  });
  const space& memory = the_gc.memory;
  for (slice_index slice = space::first_slice; slice < memory.top(); ++slice) {
    const kind block_kind = memory.kind_at(slice);
    if (block_kind != no_kind && block_kind != inside_large) {
      memory.record(slice).marked = take_marks_of(slice, block_kind);
    }
  }
  forget_lost_attachments();
  the_gc.copy.mark_ns = report.mark_ns;
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
  the_gc.copy.leaving.fill(os::no_copy);
  if (the_gc.copy.report != nullptr) unmap_report();
}

void note_read(const void* block) noexcept {
  if (!the_gc.copy.read.add(block)) the_gc.copy.read_more = true;
}

} // namespace heapwise::gc
