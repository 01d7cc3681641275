#include "gc/collect/copies.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "gc/attachments/attachments.hpp"
#include "gc/attachments/weak.hpp"
#include "gc/collect/copied_marks.hpp"
#include "gc/collect/copy_report.hpp"
#include "gc/mark/mark.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "gc/state/warning.hpp"
#include "os/collector/copies.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

constexpr std::size_t most_failures = 3;

/// Returns: marks that nothing else writes, all zero; nullptr without memory.
mark* make_marks() noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = the_gc.memory.top() * marks_of_slice;
  return static_cast<mark*>(os::map((bytes + page - 1) / page * page, page));
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

void count_failure() noexcept {
  constexpr std::string_view text =
      "heapwise: copies of the process that mark beside it end early (no memory?). The program "
      "waits for marking from now on\n";
  ++the_gc.counted.lost_copies;
  if (++the_gc.copy.failures == most_failures) warn(detail::text{}.add(text));
}

} // namespace

bool start_copy(page_list<root>& roots) noexcept {
  expects_lock();
  expects_still_world();
  expects(the_gc.copy.report == nullptr, "there is no other copy");
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
  if (!copy.marks()) {
    unmap_report();
    return false;
  }
  the_gc.memory.begin_age();
  return true;
}

bool copy_is_ready() noexcept {
  expects(the_gc.copy.report != nullptr, "there is a copy");
  // Acquire: what the copy wrote before is seen.
  return the_gc.copy.report->complete.load(std::memory_order_acquire);
}

bool wait_for_copy() noexcept {
  expects_lock();
  expects(the_gc.copy.marks(), "a copy marks");
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
  expects_lock();
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

void end_copy() noexcept {
  expects_lock();
  if (the_gc.copy.report == nullptr) return;
  if (the_gc.copy.marks()) os::kill_copy(the_gc.copy.number);
  unmap_report();
}

void forget_copy() noexcept {
  expects_lock();
  the_gc.copy.leaving.fill(os::no_copy);
  if (the_gc.copy.report != nullptr) unmap_report();
}

} // namespace heapwise::gc
