#include "recorder/session.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "probe/next_malloc.hpp"
#include "probe/object_visits.hpp"
#include "recorder/caller_rule.hpp"
#include "recorder/memory_file.hpp"
#include "recorder/own_filter.hpp"
#include "recorder/python_frames.hpp"
#include "recorder/stack_trace.hpp"
#include "recorder/writer.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

constinit session recorded;
constinit std::atomic<std::uint64_t> mark_filter[filter_bits / 64];

namespace {

constinit std::uint32_t off = 0; ///< nobody writes to it
constexpr std::uint32_t on = 1;

/// Without such a page: a word that is cleared in each child that the C library forks. A child of a
/// raw clone still has it.
constinit std::uint32_t word_of_this_process = 0;
void clear_word_in_child() noexcept { word_of_this_process = off; }

/// An emulator may agree to all advice, and follow none (qemu 7.2).
bool agrees_to_all_advice() noexcept {
  constexpr int no_advice = -1;
  return kernel::advise(nullptr, page_bytes, no_advice);
}

/// A page whose first word is `on` here and `off` in every forked child (Linux 4.14). Null if the
/// kernel, a filter of system calls or a sandbox does not offer that.
std::uint32_t* page_of_this_process() noexcept {
  void* page = kernel::map_page_of_own(page_bytes);
  if (page == nullptr) return nullptr;
  if (!kernel::advise(page, page_bytes, MADV_WIPEONFORK) || agrees_to_all_advice()) {
    kernel::unmap(page, page_bytes);
    return nullptr;
  }
  return static_cast<std::uint32_t*>(page);
}

} // namespace

bool session::begin() noexcept {
  // The loader calls malloc before the C library knows its environment.
  if (environ == nullptr) return false;
  std::uint32_t expected = 0;
  if (!beginning_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return false;
  const int saved_errno = errno;
  const char* path = std::getenv(record_variable);
  const bool has_drain = path != nullptr && open(path, std::getenv(record_file_variable));
  std::uint32_t* here = &off;
  if (has_drain) {
    std::uint32_t* const page = page_of_this_process();
    here = page != nullptr ? page : &word_of_this_process;
    *here = on;
  }
  // Read without an order: other threads begin after this one has created them.
  in_this_process_ = here;
  errno = saved_errno;
  return *here != 0 && records();
}

/// In a forked child that is to be recorded, at its first call: it has one thread. What it knows of
/// its parent is replaced, but the slots that are mapped, which are those of all processes.
bool session::begin_in_child() noexcept {
  std::uint32_t* const page = in_this_process_;
  if (page == &off) return false;
  in_this_process_ = &off;
  if (!memory_->follows) {
    memory_->forked_processes.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const int saved_errno = errno;
  // No other thread of the parent lives here.
  leave_visits_of_parent();
  leave_caller_rules();
  leave_python_frames();
  const process_texts* const parent = process_.texts;
  const process_place taken = take_process(*memory_, true);
  if (taken.entry == nullptr) {
    memory_->other_processes.fetch_add(1, std::memory_order_relaxed);
  } else {
    copy_last_image(*parent, *taken.texts);
    if (has_own_filter() || !may_visit_objects()) copy_modules(*parent, *taken.texts);
    process_ = taken;
    image_.store(0, std::memory_order_relaxed);
    taken.entry->images.store(1, std::memory_order_relaxed);
    writer.leave_ring();
    *page = on;
    in_this_process_ = page;
  }
  errno = saved_errno;
  return taken.entry != nullptr && records();
}

bool session::open(const char* path, const char* handed) noexcept {
  const int file = open_memory(path, handed);
  if (file < 0) return false;
  // The emulator of this program goes on to write to the rings of the entry that it has.
  const bool has_emulator = agrees_to_all_advice() && is_mapped_here(file);
  const bool is_mapped = map(file);
  // The program may close all files, or give this number to another one, so it is not kept.
  kernel::close(file);
  if (!is_mapped) return false;
  if (!has_emulator) process_ = find_process(*memory_);
  if (process_.entry == nullptr && memory_->follows) process_ = take_process(*memory_, false);
  if (process_.entry == nullptr) {
    const std::uint64_t before = memory_->other_processes.fetch_add(1, std::memory_order_relaxed);
    memory_->refused[before % most_started].store(kernel::process_id(), std::memory_order_relaxed);
    forget_note_of(kernel::process_id());
    return false;
  }
  begin_image();
  return true;
}

bool session::map(int file) noexcept {
  void* control = kernel::map_file(file, 0, control_bytes);
  if (control == nullptr) return false;
  auto* const memory = static_cast<shared_memory*>(control);
  if (memory->magic != shared_magic) return false;
  slots_begin_ = kernel::map_file(file, slot_offset(*memory, 0), page_bytes);
  if (slots_begin_ == nullptr) return false;
  memory_ = memory;
  return true;
}

void session::begin_image() noexcept {
  // The rings of the program that this one replaced have nobody who writes to them.
  const std::uint32_t used = memory_->slots_used.load(std::memory_order_relaxed);
  for (std::uint32_t slot = 0; slot < used && slot < most_threads; ++slot) {
    thread_slot& each = memory_->slots[slot];
    if (each.process.load(std::memory_order_relaxed) != process_.number + 1) continue;
    auto live = slot_state::live;
    each.state.compare_exchange_strong(live, slot_state::ended, std::memory_order_release);
  }
  process_.texts->maps.loaded.store(0, std::memory_order_relaxed);
  forget_note_of(kernel::process_id());
  note_image(*process_.texts);
  image_.store(process_.entry->images.fetch_add(1, std::memory_order_relaxed) + 1,
               std::memory_order_relaxed);
}

exec_note* session::note_for(std::int32_t process) noexcept {
  if (memory_ == nullptr) return nullptr;
  process_entry* const own = process_.entry;
  if (own != nullptr && own->id.load(std::memory_order_relaxed) == process) {
    process_.texts->next.process.store(process, std::memory_order_relaxed);
    return &process_.texts->next;
  }
  for (exec_note& each : memory_->started) {
    std::int32_t none = 0;
    if (each.process.compare_exchange_strong(none, process, std::memory_order_relaxed)) {
      return &each;
    }
  }
  return nullptr;
}

void session::forget_note_of(std::int32_t process) noexcept {
  if (memory_ == nullptr) return;
  std::int32_t own = process;
  if (process_.entry != nullptr) {
    process_.texts->next.process.compare_exchange_strong(own, 0, std::memory_order_relaxed);
  }
  for (exec_note& each : memory_->started) {
    own = process;
    each.process.compare_exchange_strong(own, 0, std::memory_order_relaxed);
  }
}

void* session::map_slot(unsigned number) noexcept {
  // A thread that had the slot before has left its mapping.
  if (void* known = mapped_[number].load(std::memory_order_relaxed); known != nullptr) return known;
  void* mapping =
      map_behind({slots_begin_, slot_offset(*memory_, 0)}, number * slot_bytes, slot_bytes);
  if (mapping != nullptr) mapped_[number].store(mapping, std::memory_order_relaxed);
  return mapping;
}

bool session::is_in_own_process() const noexcept {
  return process_.entry->id.load(std::memory_order_relaxed) == kernel::process_id();
}

void* session::take_slot(thread_slot*& slot) noexcept {
  for (unsigned number = 0; number < memory_->thread_room; ++number) {
    thread_slot& next = memory_->slots[number];
    auto free = slot_state::free;
    // acquire: with the drain's release, so that both counters are seen as zero.
    if (!next.state.compare_exchange_strong(free, slot_state::live, std::memory_order_acquire)) {
      continue;
    }
    void* mapping = map_slot(number);
    if (mapping == nullptr) {
      next.state.store(slot_state::free, std::memory_order_release);
      break;
    }
    next.process.store(process_.number + 1, std::memory_order_relaxed);
    next.kernel_id.store(kernel::thread_id(), std::memory_order_relaxed);
    std::uint32_t used = memory_->slots_used.load(std::memory_order_relaxed);
    while (used <= number && !memory_->slots_used.compare_exchange_weak(
                                 used, number + 1, std::memory_order_release)) {
    }
    slot = &next;
    return mapping;
  }
  process_.entry->threads_missed.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

namespace {

/// At the start: the program may give up its rights, or change its root, before its first call.
__attribute__((constructor)) void begin_session() noexcept {
  find_next_malloc();
  const bool records = recorded.records();
  // Not at the first call, which may come from the registration of another handler.
  if (recorded.in_this_process() == &word_of_this_process) {
    pthread_atfork(nullptr, nullptr, clear_word_in_child);
  }
  // The loader resolves what the unwinder calls when it is called first. That takes 3 KiB of stack,
  // which a signal handler of the program may not have.
  if (records && recorded.memory().stack_every != 0) {
    static_cast<void>(stack_by_unwinder(0));
  }
}

} // namespace

} // namespace heapwise::bench
