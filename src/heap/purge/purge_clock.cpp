#include "heap/purge/purge_clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "heap/base/options.hpp"
#include "heap/base/running_options.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/purge/purge.hpp"
#include "heap/space/page_returns.hpp"
#include "heap/space/space.hpp"
#include "os/memory_groups.hpp"
#include "os/os.hpp"
#include "os/owner.hpp"

namespace heapwise::detail {

namespace {

// Less free memory than this is not worth a thread.
constexpr std::size_t worth_bytes = std::size_t{8} << 20;

// A program that frees and allocates this little again and again is not worth one either.
constexpr std::size_t trickle_bytes = std::size_t{1} << 20;

/// What is free for this many ticks goes back.
constexpr std::uint8_t old_age = 2;

/// Returns: what is free, or may come to be free without a call of its thread.
std::size_t bytes_in_reach() noexcept { return purgeable_bytes() + spare_bytes(); }

constexpr std::uint32_t idle_ticks_before_end = 4;

/// After this many ticks another thread takes over. So no thread keeps for long the rights, or the
/// filters of system calls, that its process gave up or took on by instructions of its own. Before
/// a function of the C library does that, the thread ends (clock_stop).
constexpr std::uint32_t most_ticks = 8;

/// A stop waits this long for the thread's end.
constexpr std::uint32_t stop_limit_ms = 1000;

enum phase : std::uint32_t {
  stopped,  // there is no thread, or it is about to end
  ticking,  // there is one
  outdated, // there is one that another may replace
};
// The system may refuse a thread, for a moment or for long: the next attempts come after ever more
// calls.
constexpr std::uint32_t fewest_calls_to_skip = 16;
constexpr std::uint32_t most_calls_to_skip = 4096;
/// What the threads know of the clock, beside its phase.
struct alignas(cache_line_bytes) clock_state {
  std::atomic<std::uint32_t> stops{0};    // that are in force
  std::atomic<std::uint32_t> starters{0}; // threads that are about to start the clock's
  std::atomic<bool> forbidden{false};
  std::atomic<std::uint32_t> last_phase{ticking}; // that the thread set or was started in
  std::atomic<std::uint32_t> calls_skipped_last{0};
  std::atomic<std::uint32_t> calls_to_skip{0};
  std::atomic<std::size_t> left_over{0}; // what was free when the clock stopped: it had its chance
  std::atomic<bool> ticks_now{false};
  std::size_t left_by_relief = 0; // free bytes; of the clock's thread
};
constinit clock_state the_clock;

/// It is `stopped` in a child with a copy of the memory, which does not have the thread. Each slow
/// call of `free` reads it.
std::atomic<std::uint32_t>& the_phase() noexcept {
  return os::the_owned_words.load(std::memory_order_relaxed)->heap;
}

/// Effects: gives back what was free for long. Returns: the bytes.
std::size_t give_back_old() noexcept {
  // Relaxed, here and below: the program cannot tell when its request is followed.
  if (keeps_free_memory()) return 0;
  the_page_returns.try_again();
  the_space.tick();
  empty_idle_caches();
  release_old_spares(old_age);
  if constexpr (chosen_profile.quarantines) purge_held_large();
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

/// Effects: gives back all that is free, as `tick` what is old. Does nothing if hardly more is free
/// than the last time left over: what cannot go back is not looked at again and again.
void relieve() noexcept {
  const std::size_t free_bytes = bytes_in_reach();
  const std::size_t seen_before = std::min(free_bytes, the_clock.left_by_relief);
  the_clock.left_by_relief = seen_before;
  if (free_bytes - seen_before < trickle_bytes) return;
  // As in `tick`.
  if (the_clock.ticks_now.exchange(true, std::memory_order_acquire)) return;
  purge_everything();
  the_clock.left_by_relief = bytes_in_reach();
  the_clock.ticks_now.store(false, std::memory_order_release);
}

bool much_is_free() noexcept {
  if (keeps_free_memory()) return false;
  const std::size_t free_bytes = bytes_in_reach();
  const std::size_t seen_before = the_clock.left_over.load(std::memory_order_relaxed);
  if (free_bytes < seen_before) the_clock.left_over.store(free_bytes, std::memory_order_relaxed);
  return free_bytes >= seen_before + worth_bytes;
}

/// Effects: changes the phase if it is still `from`. Returns: whether it was.
bool change_phase(std::uint32_t from, std::uint32_t to) noexcept {
  // The phase guards nothing; what the threads share is behind locks. Sequentially consistent: a
  // stop counts itself before it changes the phase.
  return the_phase().compare_exchange_strong(from, to, std::memory_order_seq_cst,
                                             std::memory_order_relaxed);
}

/// Effects: counts one less. Does nothing at 0: the thread went on in a child, where all counts
/// begin again.
void count_down(std::atomic<std::uint32_t>& count) noexcept {
  std::uint32_t seen = count.load(std::memory_order_relaxed);
  // Release: pairs with the loads of `starters` in clock_stop and of `stops` where a thread starts.
  // A thread that sees the lower count sees what was done before.
  while (seen != 0 && !count.compare_exchange_weak(seen, seen - 1, std::memory_order_release,
                                                   std::memory_order_relaxed)) {
  }
}

/// Returns: whether what is free should go back before it is old.
bool is_short_of_memory() noexcept {
  return bytes_over_soft_limit() != 0 || (the_options.follows_groups && os::memory_is_short());
}

/// Effects: waits for the next tick, or until the phase changes. If memory is short meanwhile, all
/// that is free goes back at once.
void rest_until_tick(std::uint32_t own_phase) noexcept {
  constexpr std::uint32_t longest_ms = 250; // without a look
  const bool looks = the_options.follows_groups || soft_limit_bytes() != no_limit;
  std::uint32_t left_ms = std::max(purge_delay_ms() / old_age, 1U);
  do {
    const std::uint32_t part_ms = looks ? std::min(left_ms, longest_ms) : left_ms;
    os::rest(the_phase(), own_phase, part_ms);
    left_ms -= part_ms;
    if (the_phase().load(std::memory_order_relaxed) != own_phase) return;
    if (looks && !keeps_free_memory() && is_short_of_memory()) {
      relieve();
    }
  } while (left_ms != 0);
}

/// What the clock's thread does. It must not use thread-local variables other than errno and
/// current_cache.
void run_clock() {
  forgo_cache();
  // The pages that the system refused to the last thread may be locked for good, and lie in front
  // of the others.
  the_page_returns.forget_refusals();
  std::uint32_t own_phase = ticking; // the phase that this thread was the last to set
  the_clock.last_phase.store(own_phase, std::memory_order_relaxed);
  std::uint32_t idle_ticks = 0;
  for (std::uint32_t ticks = 1;; ++ticks) {
    rest_until_tick(own_phase);
    if (the_phase().load(std::memory_order_relaxed) != own_phase) return; // another took over
    const bool little = tick() <= trickle_bytes && the_space.dirty_bytes() <= trickle_bytes &&
                        spare_bytes() <= trickle_bytes; // else they are young
    const bool is_idle = little || the_page_returns.refused() || keeps_free_memory();
    idle_ticks = is_idle ? idle_ticks + 1 : 0;
    if (ticks == most_ticks && change_phase(ticking, outdated)) own_phase = outdated;
    the_clock.last_phase.store(own_phase, std::memory_order_relaxed);
    if (idle_ticks < idle_ticks_before_end) continue;
    the_clock.left_over.store(bytes_in_reach(), std::memory_order_relaxed);
    if (!change_phase(own_phase, stopped)) return;
    // A thread that freed much may have seen the last phase, and have left it to this thread.
    if (!much_is_free() || !change_phase(stopped, own_phase)) return;
    // Sequentially consistent: of this thread and one that begins a stop, one sees the other.
    if (the_clock.stops.load(std::memory_order_seq_cst) != 0) {
      change_phase(own_phase, stopped);
      return;
    }
    idle_ticks = 0;
  }
}

/// Effects: starts a thread unless a stop is in force. Returns: whether there is one.
bool start_thread() noexcept {
  // Sequentially consistent, here and in clock_stop: of a thread that starts another and one that
  // begins a stop, one sees the other.
  the_clock.starters.fetch_add(1, std::memory_order_seq_cst);
  const bool has_started = the_clock.stops.load(std::memory_order_seq_cst) == 0 &&
                           os::start_bare_thread(run_clock, &current_cache);
  count_down(the_clock.starters);
  return has_started;
}

/// Effects: the next calls do not try to start a thread.
void skip_calls(std::uint32_t count) noexcept {
  the_clock.calls_to_skip.store(count, std::memory_order_relaxed);
}

/// Effects: the next calls do not ask the system again, and ever more of them if it refuses again.
void skip_more_calls() noexcept {
  const std::uint32_t skip =
      std::clamp(2 * the_clock.calls_skipped_last.load(std::memory_order_relaxed),
                 fewest_calls_to_skip, most_calls_to_skip);
  the_clock.calls_skipped_last.store(skip, std::memory_order_relaxed);
  skip_calls(skip);
}

/// Requires: the phase is `ticking`, and there is no thread but an outdated one.
void start_clock() noexcept {
  if (start_thread()) {
    the_clock.calls_skipped_last.store(0, std::memory_order_relaxed);
    os::wake_all(the_phase()); // an outdated thread ends
    return;
  }
  skip_more_calls();
  the_phase().store(stopped, std::memory_order_relaxed);
  // A thread that a stop has told to end may have seen `ticking` again, and wait.
  os::wake_all(the_phase());
}

/// Returns: whether the thread could keep rights that its process gives up. In a program that is
/// linked with an archive nothing tells of that.
bool could_keep_rights() noexcept {
  return &calls_stop_clock == nullptr && the_options.purge_thread != purge_threads::any &&
         os::may_lose_rights();
}

/// Returns: whether this process may have a clock. One that shares its memory with the owner (a
/// child of vfork) may not: the thread would end with it, and perhaps hold a lock then.
bool may_start() noexcept {
  if (the_clock.forbidden.load(std::memory_order_relaxed)) return false;
  adopt_copy();
  if (os::owner_of_memory() == os::owner::this_process && !could_keep_rights()) return true;
  skip_calls(fewest_calls_to_skip);
  return false;
}

/// Effects: what was noted of the clock belongs to the parent. Requires: the calling thread is the
/// only one.
void reset_clock() noexcept {
  the_clock.ticks_now.store(false, std::memory_order_relaxed);
  the_clock.stops.store(0, std::memory_order_relaxed);
  the_clock.starters.store(0, std::memory_order_relaxed);
  the_clock.left_over.store(0, std::memory_order_relaxed);
  the_clock.calls_to_skip.store(0, std::memory_order_relaxed);
}

/// Returns: whether a thread was refused a short while ago.
bool refused_just_now() noexcept {
  const std::uint32_t left = the_clock.calls_to_skip.load(std::memory_order_relaxed);
  if (left == 0) return false;
  // To lose a count does no harm.
  the_clock.calls_to_skip.store(left - 1, std::memory_order_relaxed);
  return true;
}

/// Effects: starts a thread if this process may have one, and no other thread was quicker. Not
/// inlined: mostly nobody calls it, and the caller needs fewer registers.
HEAPWISE_COLD void try_to_start() noexcept {
  const std::uint32_t seen = the_phase().load(std::memory_order_relaxed);
  if (seen == ticking || (seen == stopped && refused_just_now())) return;
  if (may_start() && change_phase(seen, ticking)) start_clock();
}

} // namespace

void notice_free_memory() noexcept {
  const std::uint32_t seen = the_phase().load(std::memory_order_relaxed);
  if (seen == ticking || the_options.purge_thread == purge_threads::none) return;
  if (seen == outdated || much_is_free()) try_to_start();
}

clock_stop::clock_stop(after_stop then) noexcept
    : is_counted_{os::owner_of_memory() == os::owner::this_process}, then_{then} {
  if (!is_counted_) return; // the thread is the parent's, if there is one
  // Sequentially consistent, with the partners in start_thread and run_clock: of a thread that
  // begins a stop and one that starts the clock's thread, one sees the other.
  the_clock.stops.fetch_add(1, std::memory_order_seq_cst);
  std::uint32_t left_ms = stop_limit_ms;
  for (; the_clock.starters.load(std::memory_order_seq_cst) != 0 && left_ms > 0; --left_ms) {
    static constinit std::atomic<std::uint32_t> nothing{0};
    os::wait(nothing, 0, 1);
  }
  if (os::has_bare_thread()) {
    // Sequentially consistent: after the count above; the partner is change_phase.
    the_phase().store(stopped, std::memory_order_seq_cst);
    os::wake_all(the_phase());
  }
  os::await_bare_threads(left_ms); // one that ended by itself may still be counted
}

clock_stop::~clock_stop() {
  if (!is_counted_) return;
  count_down(the_clock.stops);
  const bool ticks = then_ == after_stop::tick_again;
  skip_calls(ticks ? 0 : fewest_calls_to_skip);
  if (ticks) notice_free_memory();
}

void forbid_clock() noexcept { the_clock.forbidden.store(true, std::memory_order_relaxed); }

void adopt_copy() noexcept {
  if (!os::is_copy()) return;
  free_locks_of_parent();
  os::forget_bare_threads();
  reset_clock();
  os::claim_memory();
}

void forget_clock(bool forked_in_pause) noexcept {
  os::claim_memory();
  if (forked_in_pause) {
    // A thread that goes on expects what it has set.
    the_phase().store(the_clock.last_phase.load(std::memory_order_relaxed),
                      std::memory_order_relaxed);
    if (os::resume_bare_thread()) return;
  } else {
    os::forget_bare_threads();
  }
  the_phase().store(stopped, std::memory_order_relaxed);
  reset_clock();
}

} // namespace heapwise::detail
