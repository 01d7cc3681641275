// Threads made by clone() alone. pthread_create takes locks of the C library that may be held by
// the very thread that calls free, and so it cannot be called from there
// (docs/design/heap.md#the-purging-thread).
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>

#include "os/linux/bare/bare_machine.hpp"
#include "os/linux/bare/bare_state.hpp"
#include "os/linux/processor_set.hpp"
#include "os/linux/system_call.hpp"
#include "os/os.hpp"

namespace heapwise::os {

namespace {

constinit processor_set usual{};

// To system calls: the calling thread. The first thread of a process has the number of the process.
constexpr long itself = 0;

/// Returns: whether a thread comes before all that run normally.
bool is_real_time(long thread) noexcept {
  const long policy = system_call(SYS_sched_getscheduler, thread).value();
  return policy >= 0 && ((policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO ||
                         (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR);
}

/// Returns: whether the process may be ended because it makes a system call.
bool has_filter() noexcept { return system_call(SYS_prctl, PR_GET_SECCOMP).value() != 0; }

/// Effects: the calling thread runs at normal priority. It keeps another one where somebody started
/// the process with it and with a filter, which may forbid to change it.
void take_normal_priority(long first) noexcept {
  if (!is_real_time(itself) || (is_real_time(first) && has_filter())) return;
  const sched_param normal{};
  system_call(SYS_sched_setscheduler, itself, SCHED_OTHER, &normal);
}

/// Effects: the calling thread runs on the processors of the first thread, as they are now: they
/// are those that `taskset` shows and changes.
void take_processors(long first) noexcept {
  processor_set wanted;
  processor_set own;
  wanted.ask(first);
  own.ask(itself);
  if (wanted.is_known() && !(own == wanted)) wanted.apply();
}

/// Effects: undoes what a thread inherits from the one that happened to start it. A filter of
/// system calls may end the process for a change, so the system is asked first: mostly there is
/// nothing to be changed.
void settle() noexcept {
  // It gives a name. Filters that allow threads allow it.
  system_call(SYS_prctl, PR_SET_NAME, "heapwise-purge");
  const long first = system_call(SYS_getpid).value();
  take_normal_priority(first);
  take_processors(first);
}

} // namespace

void remember_processors() noexcept { usual.ask(0); }

std::size_t processor_count() noexcept { return usual.count(); }

#if HEAPWISE_BARE_THREADS

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

/// What the C library keeps at the thread pointer, on whichever side of it, is smaller than this.
constexpr std::size_t control_bytes = 4096;

/// Room for a bare thread: from low to high addresses a page that cannot be touched, the stack, and
/// the thread's own copies of thread-local variables around its thread pointer.
struct thread_place {
  // The thread's id, written by the kernel, which writes 0 when it needs the stack no more. Before
  // that it is `starting`.
  std::atomic<pid_t> thread{0};
  // The id of the last thread that was here, until it is known that the system counts it no more.
  std::atomic<pid_t> last{0};
  std::byte* memory = nullptr;
  std::byte* thread_pointer = nullptr;
};
constinit std::array<thread_place, most_bare_threads> places;

bare_state& state_of(const thread_place& the_place) noexcept {
  return the_bare_states[static_cast<std::size_t>(&the_place - places.data())];
}

constexpr pid_t starting = -1;

static_assert(sizeof(std::atomic<pid_t>) == sizeof(pid_t));
static_assert(std::atomic<pid_t>::is_always_lock_free);

std::size_t round_up(std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) & ~(page - 1);
}

/// Thread-local variables lie at the same distance from the thread pointer in every thread, some
/// below it and some above.
struct extent {
  std::ptrdiff_t lowest = 0;
  std::ptrdiff_t highest = 0;

  void include(const void* variable) noexcept {
    const auto distance =
        static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(variable) -
                                    reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
    lowest = distance < lowest ? distance : lowest;
    highest = distance > highest ? distance : highest;
  }
  [[nodiscard]] std::size_t below() const noexcept {
    return round_up(static_cast<std::size_t>(-lowest) + control_bytes);
  }
  [[nodiscard]] std::size_t above() const noexcept {
    return round_up(static_cast<std::size_t>(highest) + control_bytes);
  }
};

/// Returns: memory for one thread, mapped once, or nullptr.
std::byte* memory_of(thread_place& chosen, const extent& variables) noexcept {
  if (chosen.memory != nullptr) return chosen.memory;
  const std::size_t guard = page_bytes();
  const std::size_t usable = round_up(stack_bytes) + variables.below() + variables.above();
  auto* const memory = static_cast<std::byte*>(reserve(guard + usable, guard));
  if (memory == nullptr) return nullptr;
  if (!commit(memory + guard, usable)) {
    unmap(memory, guard + usable);
    return nullptr;
  }
  state_of(chosen).set_stack(memory + guard, memory + guard + round_up(stack_bytes));
  return chosen.memory = memory;
}

int run_bare(void* body) {
  settle();
  reinterpret_cast<void (*)()>(body)();
  return 0;
}

/// Effects: a thread that calls `body` starts, with its stack below `stack_end`. Returns: whether
/// the system allowed it. Requires: the place is ours.
bool clone_at(thread_place& chosen, std::byte* stack_end, int (*body)(void*),
              void* argument) noexcept {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  // The new thread inherits the mask.
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  const system_answer started =
      start_thread_at({.body = body,
                       .argument = argument,
                       .stack_end = stack_end,
                       .thread_pointer = chosen.thread_pointer,
                       .number = reinterpret_cast<pid_t*>(&chosen.thread)});
  if (started.succeeded()) {
    chosen.last.store(static_cast<pid_t>(started.value()), std::memory_order_relaxed);
  }
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  return started.succeeded();
}

/// Requires: the place is ours.
bool start_at(thread_place& chosen, void (*body)(), const extent& variables) noexcept {
  std::byte* const memory = memory_of(chosen, variables);
  if (memory == nullptr) return false;
  std::byte* const stack_end = memory + page_bytes() + round_up(stack_bytes);
  chosen.thread_pointer = stack_end + variables.below();
#if defined(__x86_64__)
  // The processor cannot read its own thread pointer, so the C library keeps it there, twice.
  reinterpret_cast<void**>(chosen.thread_pointer)[0] = chosen.thread_pointer;
  reinterpret_cast<void**>(chosen.thread_pointer)[2] = chosen.thread_pointer;
#endif
  state_of(chosen).rest();
  return clone_at(chosen, stack_end, run_bare, reinterpret_cast<void*>(body));
}

bool is_still(const thread_place& asked) noexcept {
  // Acquire: pairs with the kernel's store at a thread's end. All that it did is seen. One that is
  // about to start was interrupted by the handler that forks.
  const pid_t thread = asked.thread.load(std::memory_order_acquire);
  return thread == 0 || thread == starting || state_of(asked).is_still();
}

int go_on_waiting(void* state) { static_cast<const bare_state*>(state)->go_on(); }

/// Effects: in a forked child, the thread that waited with its stack at the place is there again.
bool resume_at(thread_place& chosen) noexcept {
  // A stack for a moment: the lower half of the thread's own, which waits at the upper end.
  std::byte* const stack_end = chosen.memory + page_bytes() + round_up(stack_bytes) / 2;
  return clone_at(chosen, stack_end, go_on_waiting, &state_of(chosen));
}

} // namespace

bool start_bare_thread(void (*body)(), const void* variable) noexcept {
  extent variables;
  variables.include(&errno);
  variables.include(variable);
  for (thread_place& each : places) {
    // Acquire: pairs with the kernel's store at the end of the thread that was there. Its stack is
    // used no more.
    pid_t expected = 0;
    if (!each.thread.compare_exchange_strong(expected, starting, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      continue;
    }
    if (start_at(each, body, variables)) return true;
    // Release: pairs with that acquire, for `memory`.
    each.thread.store(0, std::memory_order_release);
    return false;
  }
  return false;
}

void forget_bare_threads() noexcept {
  // Relaxed: the child has one thread.
  for (thread_place& each : places) {
    each.thread.store(0, std::memory_order_relaxed);
    each.last.store(0, std::memory_order_relaxed);
  }
}

bool has_bare_thread() noexcept {
  for (const thread_place& each : places) {
    // Acquire: pairs with the kernel's store at a thread's end. All that it did is seen.
    if (each.thread.load(std::memory_order_acquire) != 0) return true;
  }
  return false;
}

namespace {

/// Returns: the thread at the place; 0 if there is none, or one that is about to start.
pid_t thread_at(const thread_place& asked) noexcept {
  // Acquire: pairs with the kernel's store at a thread's end, as in has_bare_thread.
  const pid_t thread = asked.thread.load(std::memory_order_acquire);
  return thread == starting ? 0 : thread;
}

/// Returns: whether the system still counts the thread among those of the process, which it does
/// for a moment after it has written that the thread needs its stack no more.
bool is_thread(long process, pid_t thread) noexcept {
  constexpr int no_signal = 0;
  return system_call(SYS_tgkill, process, thread, no_signal).succeeded();
}

/// Effects: waits until the system counts the thread no more, and takes the time from `limit_ms`.
/// Returns: whether it came to that.
bool await_end(const thread_place& its_place, pid_t thread, std::uint32_t& limit_ms) noexcept {
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
  constexpr int looks_in_a_moment = 20;
  for (; thread_at(its_place) == thread; --limit_ms) {
    if (limit_ms == 0) return false;
    // Not private: the system wakes as for any process.
    system_call(SYS_futex, &its_place.thread, FUTEX_WAIT, thread, &moment);
  }
  const long process = system_call(SYS_getpid).value();
  for (int look = 0; is_thread(process, thread); ++look) {
    if (look < looks_in_a_moment) {
      system_call(SYS_sched_yield);
      continue;
    }
    if (limit_ms == 0) return false;
    --limit_ms;
    system_call(SYS_nanosleep, &moment, nullptr);
  }
  return true;
}

} // namespace

bool await_bare_threads(std::uint32_t limit_ms) noexcept {
  bool all_ended = true;
  for (thread_place& each : places) {
    pid_t thread = each.last.load(std::memory_order_relaxed);
    if (thread == 0) continue;
    const bool ended = await_end(each, thread, limit_ms);
    all_ended = ended && all_ended;
    if (!ended && thread_at(each) == thread) continue; // the next call waits for it again
    // A thread of later may have the same id. Relaxed: a caller that reads the old value looks once
    // more.
    each.last.compare_exchange_strong(thread, 0, std::memory_order_relaxed,
                                      std::memory_order_relaxed);
  }
  return all_ended;
}

void rest(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept {
  bare_state* const own = bare_state::own();
  if (own != nullptr) own->rest();
  wait(word, expected, limit_ms);
  if (own != nullptr) own->work();
}

void let_fork() noexcept {
  if (the_pauses.load(std::memory_order_relaxed) == 0) return;
  bare_state* const own = bare_state::own();
  if (own != nullptr) own->work();
}

void pause_bare_threads() noexcept {
  constexpr int most_looks = 1000;
  constexpr std::uint32_t look_again_ms = 1;
  // Sequentially consistent: see bare_state::work.
  the_pauses.fetch_add(1, std::memory_order_seq_cst);
  for (const thread_place& each : places) {
    // Nobody wakes this thread: such a fork is rare, and a bare thread is still most of the time.
    for (int look = 0; !is_still(each); ++look) {
      static constinit std::atomic<std::uint32_t> nothing{0};
      if (look < most_looks) {
        pause();
      } else {
        state_of(each).look_again();
        wait(nothing, 0, look_again_ms);
      }
    }
  }
}

void end_pause() noexcept {
  // Sequentially consistent, like the count at the beginning: see bare_state::work.
  the_pauses.fetch_sub(1, std::memory_order_seq_cst);
  wake_all(the_pauses);
}

bool resume_bare_thread() noexcept {
  bool resumed = false;
  for (thread_place& each : places) {
    const pid_t thread = each.thread.load(std::memory_order_relaxed);
    if (thread == 0 || thread == starting) continue;
    if (state_of(each).waits() && resume_at(each)) {
      resumed = true;
    } else {
      each.thread.store(0, std::memory_order_relaxed);
    }
  }
  return resumed;
}

#else

namespace {

constinit std::atomic<void (*)()> bare_body{nullptr};

void run_settled() {
  settle();
  bare_body.load(std::memory_order_relaxed)();
}

} // namespace

bool start_bare_thread(void (*body)(), const void* /*variable*/) noexcept {
  bare_body.store(body, std::memory_order_relaxed); // the start of a thread publishes it
  return start_thread(run_settled);
}

void forget_bare_threads() noexcept {}
bool has_bare_thread() noexcept { return false; }
bool await_bare_threads(std::uint32_t /*limit_ms*/) noexcept { return true; }

void rest(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept {
  wait(word, expected, limit_ms);
}

void let_fork() noexcept {}
void pause_bare_threads() noexcept {}
void end_pause() noexcept {}
bool resume_bare_thread() noexcept { return false; }

#endif

bool has_one_library_thread() noexcept { return __libc_single_threaded != 0; }

} // namespace heapwise::os
