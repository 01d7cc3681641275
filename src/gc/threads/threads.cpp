#include "gc/threads/threads.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "gc/state/events.hpp"
#include "gc/state/required.hpp"
#include "gc/threads/stop.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

// Of a thread without a record: every window is at its end.
constinit std::array<window, small_kinds> no_windows = [] {
  std::array<window, small_kinds> windows{};
  for (window& each : windows) each = no_window;
  return windows;
}();

} // namespace

} // namespace heapwise::gc

constinit __thread heapwise_gc_window* heapwise_gc_windows = heapwise::gc::no_windows.data();

namespace heapwise::gc {

namespace {

/// Called in a thread that was interrupted, anywhere.
/// Returns: whether the collector had asked for it.
bool stand_still(void* lowest) noexcept {
  thread_record* const self = this_thread;
  if (self == nullptr) return false;
  // Sequentially consistent, both: see interrupt_others.
  const bool expected = self->interrupted.exchange(false, std::memory_order_seq_cst);
  const std::uint32_t epoch = the_gc.epoch.load(std::memory_order_seq_cst);
  if (!expected || epoch % 2 == 0) return expected;
  const map where = the_gc.memory.what_is_where();
  self->values = os::thread_values({reinterpret_cast<const void*>(where.base),
                                    reinterpret_cast<const void*>(where.base + where.extent)},
                                   self->value.data(), self->value.size());
  self->stack_lowest = lowest;
  self->signal_stack_end = os::signal_stack_end();
  // Release: pairs with stands_still. The collecting thread sees the above, and what this thread
  // wrote before.
  self->stopped_in.store(epoch, std::memory_order_release);
  the_gc.stopped.fetch_add(1, std::memory_order_release);
  os::wake_one(the_gc.stopped);
  while (the_gc.epoch.load(std::memory_order_acquire) == epoch) os::wait(the_gc.epoch, epoch, 0);
  return true;
}

/// Requires: the lock.
thread_record* take_record() noexcept {
  expects_lock();
  if (thread_record* const idle = the_gc.idle; idle != nullptr) {
    the_gc.idle = idle->next;
    return idle;
  }
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = (sizeof(thread_record) + page - 1) / page * page;
  auto* const record = static_cast<thread_record*>(os::map(bytes, page)); // zeros
  if (record == nullptr) return nullptr;
  record->windows.fill(no_window);
  record->cursors.fill({});
  return record;
}

} // namespace

bool watch_threads(int signal) noexcept {
  // The handler comes last: it cannot be installed twice.
  return os::on_thread_end(unregister_this_thread) && os::on_interrupt(signal, stand_still);
}

bool register_this_thread() noexcept {
  if (this_thread != nullptr) return true;
  const os::memory_range stack = os::own_stack(); // may allocate
  if (stack.end == nullptr) return false;
  if (!os::watch_this_thread(true)) return false;
  os::accept_interrupts(); // a mask is inherited
  // A record has windows that an earlier thread left: a collection has to see it among the idle or
  // among the threads at any time, or it gives those blocks to others.
  const std::lock_guard hold{the_gc.lock};
  thread_record* const record = take_record();
  if (record == nullptr) return false;
  record->stack = stack;
  record->id = os::this_thread();
  record->number = os::this_thread_number();
  record->stopped_in.store(0, std::memory_order_relaxed);
  record->interrupted.store(false, std::memory_order_relaxed);
  record->values = 0;
  record->marks_handed_out = the_gc.copy.marks();
  heapwise_gc_windows = record->windows.data();
  this_thread = record;
  record->next = the_gc.threads;
  the_gc.threads = record;
  ++the_gc.thread_count;
  return true;
}

bool register_if_chosen() noexcept {
  expects(this_thread == nullptr, "the thread is not registered yet");
  // Acquire: pairs with the release of the thread that started the collector.
  return the_gc.started.load(std::memory_order_acquire) && the_gc.chosen.register_threads &&
         register_this_thread();
}

void unregister_this_thread() noexcept {
  thread_record* const self = this_thread;
  if (self == nullptr) return;
  os::watch_this_thread(false);
  // A collection that holds the lock waits for this thread. A thread that ends may have blocked all
  // signals.
  const os::signal_mask mask = os::accept_interrupts();
  the_gc.lock.lock();
  thread_record** link = &the_gc.threads;
  while (*link != self) link = &(*link)->next;
  *link = self->next;
  --the_gc.thread_count;
  heapwise_gc_windows = no_windows.data();
  this_thread = nullptr;
  self->next = the_gc.idle;
  the_gc.idle = self;
  the_gc.lock.unlock();
  os::restore_signals(mask);
}

namespace {

void go_on() noexcept {
  // Release: pairs with stand_still.
  the_gc.epoch.fetch_add(1, std::memory_order_release);
  os::wake_all(the_gc.epoch);
  os::restore_signals(the_gc.signals);
}

} // namespace

void lock_threads() noexcept {
  expects_lock();
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each != this_thread) each->lock.lock();
  }
}

void stop_world() noexcept {
  expects_lock();
  constexpr std::uint32_t most_patience_ms = 250;
  constexpr std::uint64_t report_after_ns = 1'000'000'000;
  const std::uint64_t begin = os::now_ns();
  bool is_reported = false;
  tell(HEAPWISE_GC_WORLD_STOPS);
  for (std::uint32_t patience_ms = 10;; patience_ms = std::min(2 * patience_ms, most_patience_ms)) {
    the_gc.signals = os::hold_signals();
    // Pairs with stand_still, see interrupt_others.
    the_gc.epoch.fetch_add(1, std::memory_order_seq_cst);
    interrupt_others();
    if (others_stop(patience_ms)) break;
    if (!is_reported && os::now_ns() - begin > report_after_ns) {
      report_running_threads();
      is_reported = true;
    }
    // Another collector may have suspended the thread that is missing, and wait for this thread or
    // for one that stands still here. It gets the time to finish.
    go_on();
    os::wait(the_gc.stopped, the_gc.stopped.load(std::memory_order_relaxed), 1);
  }
  tell_of_threads(true);
  tell(HEAPWISE_GC_WORLD_STOPPED);
}

void resume_world() noexcept {
  expects_still_world();
  tell(HEAPWISE_GC_WORLD_RESUMES);
  tell_of_threads(false);
  go_on();
  tell(HEAPWISE_GC_WORLD_RESUMED);
}

void unlock_threads() noexcept {
  expects_lock();
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each != this_thread) each->lock.unlock();
  }
}

void forget_other_threads() noexcept {
  expects_lock();
  thread_record* record = the_gc.threads;
  the_gc.threads = nullptr;
  the_gc.thread_count = 0;
  while (record != nullptr) {
    thread_record* const next = record->next;
    thread_record*& into = record == this_thread ? the_gc.threads : the_gc.idle;
    record->next = into;
    into = record;
    if (record != this_thread) ::new (&record->lock) os::mutex; // its holder is not here
    if (record == this_thread) the_gc.thread_count = 1;
    record = next;
  }
}

} // namespace heapwise::gc
