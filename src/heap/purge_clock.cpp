#include "heap/purge_clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "heap/batches.hpp"
#include "heap/bins.hpp"
#include "heap/caches.hpp"
#include "heap/idle_caches.hpp"
#include "heap/large_quarantine.hpp"
#include "heap/large_stock.hpp"
#include "heap/options.hpp"
#include "heap/page_returns.hpp"
#include "heap/purge.hpp"
#include "heap/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

// Less free memory than this is not worth a thread.
constexpr std::size_t worth_bytes = std::size_t{8} << 20;

// A program that frees and allocates this little again and again is not worth one either.
constexpr std::size_t trickle_bytes = std::size_t{1} << 20;

/// What is free for this many ticks goes back.
constexpr std::uint8_t old_age = 2;

constexpr std::uint32_t idle_ticks_before_end = 4;

/// After this many ticks another thread takes over. So no thread keeps for long the rights, or the
/// filters of system calls, that its process gave up or took on after it had started.
constexpr std::uint32_t most_ticks = 64;

enum phase : std::uint32_t {
  stopped,  // there is no thread, or it is about to end
  ticking,  // there is one
  outdated, // there is one that another may replace
};
// The system may refuse a thread, for a moment or for long: the next attempts come after ever more
// calls.
constexpr std::uint32_t fewest_calls_to_skip = 16;
constexpr std::uint32_t most_calls_to_skip = 4096;
/// What the threads know of the clock. Each slow call of `free` reads the phase, so nothing that is
/// written often may lie on its line.
struct alignas(cache_line_bytes) clock_state {
  std::atomic<std::uint32_t> phase{stopped};
  std::atomic<std::uint32_t> calls_skipped_last{0};
  std::atomic<std::uint32_t> calls_to_skip{0};
  std::atomic<std::size_t> left_over{0}; // what was free when the clock stopped: it had its chance
  std::atomic<bool> ticks_now{false};
};
constinit clock_state the_clock;

/// Whether the program asked that free memory stays.
constinit std::atomic<bool> keeps_free_memory{false};

/// Effects: gives back what was free for long. Returns: the bytes.
std::size_t give_back_old() noexcept {
  // Relaxed, here and below: the program cannot tell when its request is followed.
  if (keeps_free_memory.load(std::memory_order_relaxed)) return 0;
  the_page_returns.try_again();
  the_space.tick();
  empty_idle_caches();
  if constexpr (chosen_profile::quarantines) purge_held_large();
  trim_large_stocks();
  trim_bins();
  const std::size_t purged = trim_batches() + purge_spans(false) + the_space.purge(old_age);
  count_purged(purged);
  return purged;
}

/// Effects: one tick of the clock. Does nothing while an outdated thread is still in its last one:
/// a fork counts on one thread that works (os::pause_bare_threads).
std::size_t tick() noexcept {
  // Acquire and release: what the last thread in here wrote is seen.
  if (the_clock.ticks_now.exchange(true, std::memory_order_acquire)) return 0;
  const std::size_t purged = give_back_old();
  the_clock.ticks_now.store(false, std::memory_order_release);
  return purged;
}

bool much_is_free() noexcept {
  if (keeps_free_memory.load(std::memory_order_relaxed)) return false;
  const std::size_t free_bytes = purgeable_bytes();
  const std::size_t seen_before = the_clock.left_over.load(std::memory_order_relaxed);
  if (free_bytes < seen_before) the_clock.left_over.store(free_bytes, std::memory_order_relaxed);
  return free_bytes >= seen_before + worth_bytes;
}

/// Effects: changes the phase if it is still `from`. Returns: whether it was.
bool change_phase(std::uint32_t from, std::uint32_t to) noexcept {
  // Relaxed: the phase guards nothing; what the threads share is behind locks.
  return the_clock.phase.compare_exchange_strong(from, to, std::memory_order_relaxed);
}

/// What the clock's thread does. It must not use thread-local variables other than errno and
/// current_cache.
void run_clock() {
  forgo_cache();
  // The pages that the system refused to the last thread may be locked for good, and lie in front
  // of the others.
  the_page_returns.forget_refusals();
  std::uint32_t own_phase = ticking; // the phase that this thread was the last to set
  std::uint32_t idle_ticks = 0;
  for (std::uint32_t ticks = 1;; ++ticks) {
    os::rest(the_clock.phase, own_phase, std::max(the_options.purge_delay_ms / old_age, 1U));
    if (the_clock.phase.load(std::memory_order_relaxed) != own_phase) return; // another took over
    const bool little = tick() <= trickle_bytes && the_space.dirty_bytes() <= trickle_bytes;
    const bool idle =
        little || the_page_returns.refused() || keeps_free_memory.load(std::memory_order_relaxed);
    idle_ticks = idle ? idle_ticks + 1 : 0;
    if (ticks == most_ticks && change_phase(ticking, outdated)) own_phase = outdated;
    if (idle_ticks < idle_ticks_before_end) continue;
    the_clock.left_over.store(purgeable_bytes(), std::memory_order_relaxed);
    if (!change_phase(own_phase, stopped)) return;
    // A thread that freed much may have seen the last phase, and have left it to this thread.
    if (!much_is_free() || !change_phase(stopped, own_phase)) return;
    idle_ticks = 0;
  }
}

/// Requires: the phase is `ticking`, and there is no thread but an outdated one.
void start_clock() noexcept {
  if (os::start_bare_thread(run_clock, &current_cache)) {
    the_clock.calls_skipped_last.store(0, std::memory_order_relaxed);
    os::wake_all(the_clock.phase); // an outdated thread ends
    return;
  }
  const std::uint32_t skip =
      std::clamp(2 * the_clock.calls_skipped_last.load(std::memory_order_relaxed),
                 fewest_calls_to_skip, most_calls_to_skip);
  the_clock.calls_skipped_last.store(skip, std::memory_order_relaxed);
  the_clock.calls_to_skip.store(skip, std::memory_order_relaxed);
  the_clock.phase.store(stopped, std::memory_order_relaxed);
}

/// Returns: whether a thread was refused a short while ago.
bool refused_just_now() noexcept {
  const std::uint32_t left = the_clock.calls_to_skip.load(std::memory_order_relaxed);
  if (left == 0) return false;
  // To lose a count does no harm.
  the_clock.calls_to_skip.store(left - 1, std::memory_order_relaxed);
  return true;
}

} // namespace

void notice_free_memory() noexcept {
  const std::uint32_t seen = the_clock.phase.load(std::memory_order_relaxed);
  if (seen == ticking || !the_options.purge_thread) return;
  if (seen == stopped && (!much_is_free() || refused_just_now())) return;
  if (change_phase(seen, ticking)) start_clock();
}

void keep_free_memory(bool keep) noexcept {
  keeps_free_memory.store(keep, std::memory_order_relaxed);
}

void forget_clock(bool forked_in_pause) noexcept {
  if (forked_in_pause) {
    if (os::resume_bare_thread()) return;
  } else {
    os::forget_bare_threads();
  }
  the_clock.ticks_now.store(false, std::memory_order_relaxed);
  the_clock.phase.store(stopped, std::memory_order_relaxed);
  the_clock.left_over.store(0, std::memory_order_relaxed);
  the_clock.calls_to_skip.store(0, std::memory_order_relaxed);
}

} // namespace heapwise::detail
