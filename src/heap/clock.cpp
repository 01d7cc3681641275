#include "heap/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "heap/bin.hpp"
#include "heap/caches.hpp"
#include "heap/mixed.hpp"
#include "heap/options.hpp"
#include "heap/profile.hpp"
#include "heap/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constinit std::atomic<std::size_t> purged_so_far{0};

// Less free memory than this is not worth a thread.
constexpr std::size_t worth_bytes = std::size_t{8} << 20;

/// What is free for so many ticks goes back.
constexpr std::uint8_t old_age = 2;

constexpr std::uint32_t idle_ticks_before_sleep = 4;

enum : std::uint32_t { not_started, asleep, ticking, refused };
constinit std::atomic<std::uint32_t> state{not_started};

/// What was free when the clock fell asleep: it had its chance.
constinit std::atomic<std::size_t> left_over{0};

std::size_t free_now() noexcept {
  return the_space.dirty_bytes() + the_free_bytes.load(std::memory_order_relaxed) +
         the_mixed_spans.free_bytes();
}

std::size_t purge_spans(bool even_if_touched) noexcept {
  std::size_t purged = 0;
  for (slice_index at = 0; at < the_space.committed_slices(); ++at) {
    const size_class of = the_heap_map.classes[at].load(std::memory_order_relaxed);
    if (of == no_class) continue;
    span& slice = *the_space.record(at);
    purged += of == mixed_class ? the_mixed_spans.purge_pages(slice, even_if_touched)
                                : the_bins[of].purge_pages(slice, of, even_if_touched);
  }
  return purged;
}

std::size_t tick() noexcept {
  the_space.tick();
  empty_idle_caches();
  for (size_class of = 1; of <= class_count; ++of) the_bins[of].trim(of);
  const std::size_t purged = purge_spans(false) + the_space.purge(old_age);
  purged_so_far.fetch_add(purged, std::memory_order_relaxed);
  return purged;
}

void run_clock() {
  std::uint32_t idle_ticks = 0;
  for (;;) {
    os::wait(state, ticking, std::max(the_options.purge_delay_ms / old_age, 1U));
    idle_ticks = tick() == 0 && the_space.dirty_bytes() == 0 ? idle_ticks + 1 : 0;
    if (idle_ticks < idle_ticks_before_sleep) continue;
    left_over.store(free_now(), std::memory_order_relaxed);
    state.store(asleep, std::memory_order_relaxed);
    while (state.load(std::memory_order_relaxed) == asleep) os::wait(state, asleep, 0);
    idle_ticks = 0;
  }
}

} // namespace

void notice_free_memory() noexcept {
  std::uint32_t seen = state.load(std::memory_order_relaxed);
  if (seen == ticking || seen == refused || !the_options.purge_thread) return;
  const std::size_t free_bytes = free_now();
  const std::size_t seen_before = left_over.load(std::memory_order_relaxed);
  if (free_bytes < seen_before) left_over.store(free_bytes, std::memory_order_relaxed);
  if (free_bytes < seen_before + worth_bytes) return;
  if (!state.compare_exchange_strong(seen, ticking, std::memory_order_relaxed)) return;
  if (seen == asleep) {
    os::wake_all(state);
  } else if (!os::start_thread(run_clock)) {
    state.store(refused, std::memory_order_relaxed);
  }
}

void forget_clock() noexcept {
  state.store(not_started, std::memory_order_relaxed);
  left_over.store(0, std::memory_order_relaxed);
}

std::size_t purge_everything() noexcept {
  empty_own_cache();
  empty_idle_caches();
  for (int pass = 0; pass < 2; ++pass) { // what the first finds unused, the second takes
    for (size_class of = 1; of <= class_count; ++of) the_bins[of].trim(of);
  }
  const std::size_t purged = purge_spans(true) + the_space.purge(0);
  purged_so_far.fetch_add(purged, std::memory_order_relaxed);
  return purged;
}

std::size_t purged_bytes() noexcept { return purged_so_far.load(std::memory_order_relaxed); }

} // namespace heapwise::detail
