#include "gc/threads/results.hpp"

#include <algorithm>
#include <mutex>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

/// Returns: the cell, nullptr if there is none. Requires: the lock.
thread_result* cell_of(os::thread_id thread) noexcept {
  expects_lock();
  page_list<thread_result>& cells = the_gc.results;
  thread_result* const cell = std::find_if(
      cells.begin(), cells.end(),
      [=](const thread_result& each) { return each.is_named && each.thread == thread; });
  return cell == cells.end() ? nullptr : cell;
}

/// Returns: the cell, nullptr if there is none any more. Requires: the lock.
thread_result* cell_with(std::size_t number) noexcept {
  expects_lock();
  page_list<thread_result>& cells = the_gc.results;
  thread_result* const cell = std::find_if(
      cells.begin(), cells.end(), [=](const thread_result& each) { return each.number == number; });
  return cell == cells.end() ? nullptr : cell;
}

/// Effects: does nothing for nullptr. Another cell moves. Requires: the lock.
void remove(thread_result* cell) noexcept {
  expects_lock();
  if (cell == nullptr) return;
  *cell = the_gc.results.last();
  the_gc.results.remove_last();
}

} // namespace

std::size_t add_result(bool is_detached) noexcept {
  const std::lock_guard hold{the_gc.lock};
  thread_result cell{};
  cell.number = the_gc.last_result + 1;
  cell.is_detached = is_detached;
  if (!the_gc.results.add(cell)) return 0;
  return ++the_gc.last_result;
}

void name_result(std::size_t number, os::thread_id thread) noexcept {
  const std::lock_guard hold{the_gc.lock};
  const thread_result* const named = cell_with(number);
  if (named == nullptr || named->is_named) return;
  remove(cell_of(thread)); // of a thread that is gone: its number is in use again
  thread_result* const cell = cell_with(number);
  cell->thread = thread;
  cell->is_named = true;
}

void set_result(os::thread_id thread, void* result) noexcept {
  const std::lock_guard hold{the_gc.lock};
  thread_result* const cell = cell_of(thread);
  if (cell == nullptr) return;
  if (cell->is_detached) return remove(cell);
  cell->result = result;
  cell->has_ended = true;
}

std::size_t find_result(os::thread_id thread) noexcept {
  const std::lock_guard hold{the_gc.lock};
  const thread_result* const cell = cell_of(thread);
  return cell == nullptr ? 0 : cell->number;
}

void detach_result(os::thread_id thread) noexcept {
  const std::lock_guard hold{the_gc.lock};
  thread_result* const cell = cell_of(thread);
  if (cell == nullptr) return;
  if (cell->has_ended) return remove(cell);
  cell->is_detached = true;
}

void remove_result(std::size_t number) noexcept {
  const std::lock_guard hold{the_gc.lock};
  remove(cell_with(number));
}

void forget_other_results() noexcept {
  expects_lock();
  const thread_result* const own = cell_of(os::this_thread());
  const thread_result kept = own == nullptr ? thread_result{} : *own;
  the_gc.results.clear();
  // There is room: it was in the list.
  if (own != nullptr) static_cast<void>(the_gc.results.add(kept));
}

} // namespace heapwise::gc
