#include "heap/front/start.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "heap/base/options.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/checks/tags.hpp"
#include "heap/faults/fault_watch.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/exported.hpp"
#include "heap/front/operators.hpp"
#include "heap/front/owned.hpp"
#include "heap/front/profile_file.hpp"
#include "heap/front/sealing.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/purge/purge_clock.hpp"
#include "heap/space/space.hpp"
#include "options/text.hpp"
#include "os/expects.hpp"
#include "os/mutex.hpp"
#include "os/open_files.hpp"
#include "os/os.hpp"
#include "os/owner.hpp"

namespace heapwise::detail {

namespace {

// Read by every thread, on a line of its own: what is written often may lie beside it otherwise.
alignas(cache_line_bytes) constinit std::atomic<bool> started{false};
constinit os::mutex starting;

// The thread that holds `starting` while it starts the heap; nullptr if none does. A library may
// have put a function of its own in the place of one that the start calls, and may allocate there:
// then the thread comes back to here.
constinit std::atomic<const void*> starter{nullptr};

constinit bool said_no_memory = false;
constinit bool has_options = false; // written with `starting` locked
constinit bool is_prepared = false; // as that: `prepare` was called, and options are not read again

constinit bool is_sealed = true; // as that: what has to be sealed is

constinit bool paused_for_fork = false; // else locked; written as `has_options`, or if paused

// The order in which all locks are taken; a lock may be taken while an earlier one is held.
void lock_all() {
  starting.lock();
  lock_owned_heaps();
  lock_caches();
  lock_bins();
  if constexpr (chosen_profile.quarantines) {
    for (large_quarantine& each : the_large_quarantines) each.lock.lock();
  }
  for (large_stock& each : the_large_stocks) each.lock().lock();
  the_mixed_spans.lock().lock();
  the_space.purging().lock();
  the_space.lock().lock();
  lock_batches();
}

void unlock_all() {
  unlock_batches();
  the_space.lock().unlock();
  the_space.purging().unlock();
  the_mixed_spans.lock().unlock();
  for (large_stock& each : the_large_stocks) each.lock().unlock();
  if constexpr (chosen_profile.quarantines) {
    for (large_quarantine& each : the_large_quarantines) each.lock.unlock();
  }
  unlock_bins();
  unlock_caches();
  unlock_owned_heaps();
  starting.unlock();
}

// A signal handler may fork while its own thread is in malloc and holds a lock. If that is the only
// thread of the C library, parent and child both have it, and both go on to unlock. Then the clock
// is all that a fork has to wait for. With more threads, the C library waits for the lock of its
// open files after this handler. The thread that holds that lock may wait for one that needs the
// heap, so it is taken first (glibc bug 19431).
void before_fork() {
  adopt_copy();
  const bool pauses = os::has_one_library_thread();
  if (pauses) {
    os::pause_bare_threads();
  } else {
    os::lock_open_files();
    lock_all();
  }
  paused_for_fork = pauses;
}

void in_parent() {
  if (paused_for_fork) {
    os::end_pause();
  } else {
    unlock_all();
    os::unlock_open_files();
  }
}

void in_child() {
  const bool paused = paused_for_fork;
  if (paused) {
    os::end_pause();
  } else {
    unlock_all();
    os::free_open_files();
    forget_threads_of_parent();
  }
  forget_clock(paused);
}

/// Effects: arranges, once, that a fork finds the heap in order. May allocate.
void watch_forks() noexcept {
  // Relaxed: at_fork has a lock of its own. Set before the call, which may come back here.
  static constinit std::atomic<bool> watched{false};
  if (watched.exchange(true, std::memory_order_relaxed)) return;
  os::at_fork(before_fork, in_parent, in_child);
}

void say_no_memory() noexcept {
  text line;
  line.add(
      "heapwise: the system refused the addresses for a heap: every request fails. Next: raise "
      "the limit of the address space (ulimit -v)\n");
  line.write();
}

/// Effects: ends the process, which is not as safe as it was promised to be.
[[noreturn]] void stop_unsealed() noexcept {
  text line;
  line.add(
      "heapwise: the system refused to make the heap's facts read-only. Next: allow mprotect, or "
      "use the default profile\n");
  line.write();
  std::abort();
}

void print_statistics() { heapwise_malloc_stats(); }

/// Effects: does what has to wait until no lock is held. May allocate, which works from here on.
void follow_options() noexcept {
  if (!is_sealed) stop_unsealed();
  if (the_options.stats) std::atexit(print_statistics);
}

/// Effects: prepares for pages to be hidden, if the profile or an option wants that. What the
/// system is asked here it is not asked later: a program may forbid it after its first malloc.
/// Requires: the lock, and that no other thread is in the heap yet.
void start_guards() noexcept {
  expects_held(starting);
  if constexpr (chosen_profile.samples_guards) {
    const bool samples = the_options.guard_every != 0;
    if (!samples && !chosen_profile.guards_large) return;
    os::prepare_hiding();
    watch_faults();
    if (!samples) return;
    seed_random_numbers();
    the_guards.start();
    the_samples.let_blocks_give_way();
  }
}

/// Effects: blocks are sampled from now on, if an option wants that. Requires: as start_guards.
void start_samples() noexcept {
  expects_held(starting);
  if constexpr (can_sample) {
    if (the_options.profile_every == 0) return;
    seed_random_numbers();
    the_samples.start(the_options.profile_every);
  }
}

/// Effects: the operators that are derived from others call the heap without a detour, if that
/// makes no difference. Requires: the lock, and that the space has started.
void choose_derived_operators() noexcept {
  expects_held(starting);
  if (operators_are_replaced == nullptr || operators_are_replaced()) return;
  the_facts.derived = {.map = the_facts.map, .end_of_small = end_of_small_bytes};
}

/// Effects: reads the options, and starts what they ask for. Requires: the lock.
void start_what_options_choose() noexcept {
  expects_held(starting);
  has_options = read_options();
  start_guards();
  start_samples();
  if constexpr (chosen_profile.keeps_states) start_call_sites();
}

/// Requires: the lock.
bool start_locked() noexcept {
  expects_held(starting);
  start_tags();
  if (!the_space.start()) {
    if (!std::exchange(said_no_memory, true)) say_no_memory();
    return false;
  }
  if constexpr (chosen_profile.keeps_states) {
    if (!start_checking()) return false;
  }
  choose_derived_operators();
  start_what_options_choose();
  os::remember_processors();
  // Where no option may be read (a program with more rights than its user), defaults hold.
  if (has_options || is_prepared) choose_shards();
  watch_thread_exits(); // unless `prepare` was called before
  if (has_options || is_prepared) is_sealed = seal_facts();
  // Release: pairs with the acquire in heap_has_started. The space and the options are set.
  started.store(true, std::memory_order_release);
  return true;
}

} // namespace

bool heap_has_started() noexcept {
  // Acquire: pairs with the release in start_locked.
  return started.load(std::memory_order_acquire);
}

void free_locks_of_parent() noexcept {
  if (os::is_alone_in_copy()) unlock_all();
}

void prepare_bare_fork() noexcept { before_fork(); }

void finish_bare_fork(bool in_the_child) noexcept {
  if (in_the_child) {
    in_child();
  } else {
    in_parent();
  }
}

bool start_heap() noexcept {
  if (heap_has_started()) return true;
  const void* const own = __builtin_thread_pointer();
  // Relaxed: a thread sees what it has written itself, and no other thread writes its address.
  if (starter.load(std::memory_order_relaxed) == own) return false;
  watch_forks();
  {
    const std::lock_guard hold{starting};
    if (started.load(std::memory_order_relaxed)) return true;
    starter.store(own, std::memory_order_relaxed);
    const bool succeeded = start_locked();
    starter.store(nullptr, std::memory_order_relaxed);
    if (!succeeded) return false;
  }
  follow_options();
  return true;
}

namespace {

/// Effects: reads the options if the heap was started when there was no environment yet: by the
/// resolver of an IFUNC, before the C library was ready.
void read_late_options() noexcept {
  {
    const std::lock_guard hold{starting};
    is_prepared = true;
    if (!heap_has_started() || has_options) return;
    start_what_options_choose();
    choose_shards();
    is_sealed = seal_facts();
  }
  follow_options();
}

/// Is called before any other thread can be in the heap, unless this is a library that is loaded
/// late.
void prepare(int /*count*/, char** /*words*/, char** environment) noexcept {
  os::remember_environment(environment);
  os::claim_memory();
  // The handlers that are registered first are called last before a fork: those of other libraries
  // may allocate.
  watch_forks();
  // A program may take all keys of threads before its first malloc.
  watch_thread_exits();
  // Blocks, the ends of threads and the purging thread need the code.
  os::keep_loaded();
  read_late_options();
  // The calls of the first sampled blocks are followed by tables that have to be found before.
  if (asks_for_samples() && start_heap()) prepare_profiles();
}

// As a function with the attribute `constructor`, to which the loader of glibc passes these too.
// The library is made ready before the C library (-z initfirst), which has no environment until
// then.
[[gnu::section(".init_array"), gnu::used]] void (*const at_load)(int, char**,
                                                                 char**) noexcept = prepare;

} // namespace

} // namespace heapwise::detail
