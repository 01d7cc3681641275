#include "recorder/writer.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>

namespace heapwise::bench {

__attribute__((tls_model("initial-exec"))) thread_local constinit thread_writer writer;

namespace {

constinit pthread_once_t key_made = PTHREAD_ONCE_INIT;
constinit pthread_key_t end_key = 0;
constinit bool has_key = false;
void (*at_end)(void*) noexcept = nullptr;

extern "C" void call_at_end(void* argument) { at_end(argument); }

void make_key() { has_key = pthread_key_create(&end_key, call_at_end) == 0; }

constexpr int most_frames = 48;

struct frames {
  std::uint64_t site;
  int count;
  std::uint64_t found[most_frames];
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& into = *static_cast<frames*>(argument);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  if (address == 0) return _URC_END_OF_STACK;
  // The frames of the recorder stand before the caller.
  if (into.count == 0 && address != into.site) return _URC_NO_REASON;
  into.found[into.count++] = address;
  return into.count == most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

bool thread_writer::attach() noexcept {
  if (refused_) return false;
  const int saved_errno = errno;
  inner_ = true;
  ring_ = recorded.take_ring(slot_);
  refused_ = ring_ == nullptr;
  if (!refused_) {
    written_ = 0;
    limit_ = ring_events;
    at_end = end_of_thread;
    pthread_once(&key_made, make_key);
    if (has_key) pthread_setspecific(end_key, this);
    if (recorded.take_image()) {
      write({stamp_before(), 0, event::pack(event_kind::new_image, 0), 0});
    }
    write({stamp_before(), 0, event::pack(event_kind::thread_begin, 0), 0});
  }
  inner_ = false;
  errno = saved_errno;
  return !refused_;
}

/// Waits while the ring is full; gives up if the drain has gone.
bool thread_writer::wait_for_room() noexcept {
  const int saved_errno = errno;
  shared_memory& memory = recorded.memory();
  for (int turn = 0;; ++turn) {
    // acquire: with the drain's release, so that the events it has read may be overwritten.
    limit_ = slot_->read.load(std::memory_order_acquire) + ring_events;
    if (limit_ != written_) break;
    constexpr int spins = 64;
    constexpr int turns_between_looks = 1024;
    if (turn < spins) {
      sched_yield();
      continue;
    }
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
    const pid_t drain = memory.drain.load(std::memory_order_relaxed);
    if (turn % turns_between_looks == 0 && kill(drain, 0) != 0 && errno == ESRCH) {
      memory.recording.store(0, std::memory_order_relaxed);
      memory.events_missed.fetch_add(1, std::memory_order_relaxed);
      errno = saved_errno;
      return false;
    }
  }
  errno = saved_errno;
  return true;
}

void thread_writer::write_stack(std::uint64_t stamp, const void* site) noexcept {
  until_stack_ = recorded.memory().stack_every;
  frames all{address_of(site), 0, {}};
  inner_ = true;
  recorded.note_modules();
  _Unwind_Backtrace(add_frame, &all);
  inner_ = false;
  for (int first = 0; first < all.count; first += 2) {
    const bool two = first + 1 < all.count;
    const bool last = first + 2 >= all.count;
    write({stamp, all.found[first], event::pack(event_kind::stack, two ? 2 : 1, last ? 1 : 0),
           two ? all.found[first + 1] : 0});
  }
}

void thread_writer::end_of_thread(void* argument) noexcept {
  auto& ending = *static_cast<thread_writer*>(argument);
  // Keys that other libraries made may still free blocks: the ring stays until the thread is gone.
  if (ending.ring_ != nullptr && recorded.records()) {
    ending.write({stamp_before(), 0, event::pack(event_kind::thread_end, 0), 0});
  }
}

} // namespace heapwise::bench
