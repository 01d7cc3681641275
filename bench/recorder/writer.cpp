#include "recorder/writer.hpp"

#include <pthread.h>

#include <cerrno>

#include "recorder/own_filter.hpp"
#include "recorder/python_frames.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

__attribute__((tls_model("initial-exec"))) thread_local constinit thread_writer writer;

namespace {

constinit pthread_once_t key_made = PTHREAD_ONCE_INIT;
constinit pthread_key_t end_key = 0;
constinit bool has_key = false;
void (*at_end)(void*) noexcept = nullptr;

extern "C" void call_at_end(void* argument) { at_end(argument); }

/// Whether the process that reads the rings lives, as far as this one may ask. `waits`: how often
/// the caller has waited for it in vain, some 20 ms each time.
bool has_drain(unsigned waits) noexcept {
  constexpr unsigned most_waits = 500;
  if (has_own_filter()) return waits < most_waits; // kill may end this process
  return kernel::may_live(recorded.memory().drain.load(std::memory_order_relaxed));
}

void make_key() { has_key = pthread_key_create(&end_key, call_at_end) == 0; }

} // namespace

/// A call that is part of another one stands below it, not far away, on the same stack.
bool thread_writer::outer_call_goes_on(const call_frame* frame) noexcept {
  constexpr std::uintptr_t most_bytes = 8192;
  if (outer_ == &recorder_itself) return true;
  const auto here = reinterpret_cast<std::uintptr_t>(frame);
  const auto outer = reinterpret_cast<std::uintptr_t>(outer_);
  if (here < outer && outer - here < most_bytes && outer_->return_address == outer_return_) {
    return true;
  }
  outer_ = nullptr;
  return false;
}

bool thread_writer::attach() noexcept {
  if (refused_) return false;
  if (!recorded.is_in_own_process()) {
    // The thread of the parent has this writer, too, and would be left with a slot of the child.
    recorded.process().events_missed.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const int saved_errno = errno;
  const own_work own{*this};
  void* places = recorded.take_slot(slot_);
  refused_ = places == nullptr;
  if (!refused_) {
    sites_ = static_cast<std::uint64_t*>(places);
    // A thread that had the slot before may have left its own.
    for (std::uint64_t place = 0; place < site_places; ++place) sites_[place] = 0;
    ring_ = reinterpret_cast<event*>(static_cast<char*>(places) + page_bytes);
    here_ = recorded.in_this_process();
    written_ = 0;
    last_stamp_ = 0; // the drain knows of none; in a forked child it is the parent's
    limit_ = events_to_alarm;
    until_stack_ = next_gap();
    at_end = end_of_thread;
    pthread_once(&key_made, make_key);
    if (has_key) pthread_setspecific(end_key, this);
    recorded.note_modules(); // a thread may only free, and its sites are to have names
    if (recorded.take_image()) {
      write_call(event_kind::new_image, nullptr, 0, stamp_now(), nullptr);
    }
    write_call(event_kind::thread_begin, nullptr, 0, stamp_now(), nullptr);
  }
  errno = saved_errno;
  return !refused_;
}

/// Calls the drain if there is much for it to read. Returns false if the ring is full.
bool thread_writer::find_room() noexcept {
  // acquire: with the drain's release, so that the events it has read may be overwritten.
  const std::uint64_t read = slot_->read.load(std::memory_order_acquire);
  if (written_ - read >= events_to_alarm) recorded.memory().alarm.call();
  const std::uint64_t end = read + ring_events;
  limit_ = written_ + events_to_alarm < end ? written_ + events_to_alarm : end;
  return written_ < limit_;
}

/// Waits while the ring is full; gives up if the drain has gone.
bool thread_writer::wait_for_room() noexcept {
  if (find_room()) return true;
  // Not until there is room for a few events: to be woken costs as much as hundreds of them.
  constexpr std::uint64_t enough_room = ring_events / 2;
  const std::uint64_t wanted = written_ - ring_events + enough_room;
  // The drain ends the wait, unless it has gone.
  constexpr long longest_wait_ns = 20'000'000;
  shared_memory& memory = recorded.memory();
  // acquire: as in find_room().
  for (unsigned waits = 1; slot_->read.load(std::memory_order_acquire) < wanted; ++waits) {
    memory.alarm.call_surely();
    slot_->room.wait(slot_->read, wanted, longest_wait_ns);
    if (slot_->read.load(std::memory_order_acquire) < wanted && !has_drain(waits)) {
      memory.recording.store(recording_state::off, std::memory_order_relaxed);
      recorded.process().events_missed.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  }
  return find_room();
}

void* thread_writer::write_block(event_kind kind, void* block, std::size_t size, const void* site,
                                 unsigned alignment_log) noexcept {
  const std::uint64_t stamp = stamp_now();
  const own_work own{*this};
  if (block == nullptr) kind = event_kind::failed;
  const bool is_large = size >= session::large_bytes;
  if (is_large) session::mark(block);
  const bool is_new = !knows(site);
  const std::uint32_t every = recorded.memory().stack_every;
  const bool is_due = --until_stack_ == 0;
  if (is_due || is_new) until_stack_ = next_gap();
  if (is_due || is_new || (is_large && every != 0)) write_stack(site);
  if (is_new) write_site(site);
  write_wide(size, alignment_log);
  write_call(kind, block, size, stamp, site);
  return block;
}

/// A loop that allocates in turns would meet a fixed gap always in the same turn, so that one of
/// two callers had every stack. The gaps are drawn from 1 to twice the mean less 1, alike in each
/// run (the multiplier is that of Numerical Recipes).
std::uint32_t thread_writer::next_gap() noexcept {
  const std::uint64_t mean = recorded.memory().stack_every;
  if (mean <= 1) return static_cast<std::uint32_t>(mean);
  gaps_ = gaps_ * 1'664'525U + 1'013'904'223U;
  return static_cast<std::uint32_t>(1 + (gaps_ * (2 * mean - 1) >> 32));
}

void thread_writer::write_stack(const void* site) noexcept {
  stack_trace stack;
  {
    const own_work own{*this};
    recorded.note_modules();
    if (recorded.memory().stack_every != 0) {
      stack = recorded.memory().frame_pointers != 0 ? stack_by_frame_pointers(address_of(site))
                                                    : stack_from(address_of(site));
      add_python_frames(stack);
    }
  }
  write_stack(stack);
}

void thread_writer::write_stack(const stack_trace& stack) noexcept {
  for (int first = 0; first < stack.count; first += 2) {
    const bool two = first + 1 < stack.count;
    write({event::pack_head(event_kind::stack, two ? 2 : 1, stack.frames[first]),
           two ? stack.frames[first + 1] : 0});
  }
}

void thread_writer::write_site(const void* site) noexcept {
  sites_[place_of(site)] = address_of(site);
  write({event::pack_head(event_kind::site, place_of(site), address_of(site)), 0});
}

void thread_writer::end_of_thread(void* argument) noexcept {
  auto& ending = *static_cast<thread_writer*>(argument);
  // Keys that other libraries made may still free blocks: the ring stays until the thread is gone.
  if (ending.ring_ != nullptr && recorded.records()) {
    ending.write_call(event_kind::thread_end, nullptr, 0, stamp_now(), nullptr);
  }
}

} // namespace heapwise::bench
