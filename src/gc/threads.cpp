#include "gc/threads.hpp"

#include <mutex>
#include <new>

#include "os/os.hpp"

namespace heapwise::gc {

constinit thread_local thread_record* this_thread = nullptr;

namespace {
char nowhere;
constexpr window at_its_end{&nowhere, &nowhere};
} // namespace

constinit const window no_window = at_its_end;

namespace {

// Of a thread without a record: every window is at its end.
constinit std::array<window, small_kinds> no_windows = [] {
  std::array<window, small_kinds> made{};
  for (window& each : made) each = at_its_end;
  return made;
}();

} // namespace

} // namespace heapwise::gc

constinit __thread heapwise_gc_window* heapwise_gc_windows = heapwise::gc::no_windows.data();

namespace heapwise::gc {

namespace {

/// Called in a thread that was interrupted, anywhere.
void stand_still(void* lowest) noexcept {
  thread_record* const self = this_thread;
  // Acquire: pairs with stop_world, which wrote down who has to stop.
  const std::uint32_t epoch = the_gc.epoch.load(std::memory_order_acquire);
  if (self == nullptr || epoch % 2 == 0 || self->stopped_in == epoch) return; // somebody else's
  const map where = the_gc.memory.what_is_where();
  self->values = os::thread_values({reinterpret_cast<const void*>(where.base),
                                    reinterpret_cast<const void*>(where.base + where.extent)},
                                   self->value.data(), self->value.size());
  self->stack_lowest = lowest;
  self->stopped_in = epoch;
  // Release: who stops us sees the above, and what this thread wrote before.
  the_gc.stopped.fetch_add(1, std::memory_order_release);
  os::wake_one(the_gc.stopped);
  while (the_gc.epoch.load(std::memory_order_acquire) == epoch) os::wait(the_gc.epoch, epoch, 0);
}

/// Requires: the lock.
thread_record* take_record() noexcept {
  if (thread_record* const idle = the_gc.idle; idle != nullptr) {
    the_gc.idle = idle->next;
    return idle;
  }
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = (sizeof(thread_record) + page - 1) / page * page;
  auto* const made = static_cast<thread_record*>(os::map(bytes, page)); // zeros
  if (made == nullptr) return nullptr;
  made->windows.fill(no_window);
  made->cursors.fill({});
  return made;
}

} // namespace

bool watch_threads() noexcept {
  return os::on_interrupt(stand_still) && os::on_thread_end(unregister_this_thread);
}

bool register_this_thread() noexcept {
  if (this_thread != nullptr) return true;
  const void* const stack_end = os::stack_end(); // may allocate
  if (stack_end == nullptr) return false;
  os::watch_this_thread(true);
  // A record has windows that an earlier thread left: a collection has to see it among the idle or
  // among the threads at any time, or it gives those blocks to others.
  const std::lock_guard hold{the_gc.lock};
  thread_record* const made = take_record();
  if (made == nullptr) return false;
  made->stack_end = stack_end;
  made->id = os::this_thread();
  made->stopped_in = 0;
  made->values = 0;
  heapwise_gc_windows = made->windows.data();
  this_thread = made;
  made->next = the_gc.threads;
  the_gc.threads = made;
  ++the_gc.thread_count;
  return true;
}

void unregister_this_thread() noexcept {
  thread_record* const self = this_thread;
  if (self == nullptr) return;
  os::watch_this_thread(false);
  const std::lock_guard hold{the_gc.lock};
  thread_record** link = &the_gc.threads;
  while (*link != self) link = &(*link)->next;
  *link = self->next;
  --the_gc.thread_count;
  heapwise_gc_windows = no_windows.data();
  this_thread = nullptr;
  self->next = the_gc.idle;
  the_gc.idle = self;
}

void lock_threads() noexcept {
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each != this_thread) each->lock.lock();
  }
}

void stop_world() noexcept {
  the_gc.stopped.store(0, std::memory_order_relaxed);
  the_gc.epoch.fetch_add(1, std::memory_order_release);
  std::uint32_t expected = 0;
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each != this_thread && os::interrupt(each->id)) ++expected;
  }
  for (;;) {
    const std::uint32_t stopped = the_gc.stopped.load(std::memory_order_acquire);
    if (stopped == expected) return;
    os::wait(the_gc.stopped, stopped, 0);
  }
}

void resume_world() noexcept {
  the_gc.epoch.fetch_add(1, std::memory_order_release);
  os::wake_all(the_gc.epoch);
}

void unlock_threads() noexcept {
  for (thread_record* each = the_gc.threads; each != nullptr; each = each->next) {
    if (each != this_thread) each->lock.unlock();
  }
}

void forget_other_threads() noexcept {
  thread_record* gone = the_gc.threads;
  the_gc.threads = nullptr;
  the_gc.thread_count = 0;
  while (gone != nullptr) {
    thread_record* const next = gone->next;
    thread_record*& into = gone == this_thread ? the_gc.threads : the_gc.idle;
    gone->next = into;
    into = gone;
    if (gone != this_thread) ::new (&gone->lock) os::mutex; // its holder is not here
    if (gone == this_thread) the_gc.thread_count = 1;
    gone = next;
  }
}

} // namespace heapwise::gc
