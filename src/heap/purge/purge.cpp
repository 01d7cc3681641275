#include "heap/purge/purge.hpp"

#include <algorithm>
#include <atomic>

#include "heap/base/profile.hpp"
#include "heap/base/running_options.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/large/large_quarantine.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/space/page_returns.hpp"
#include "heap/space/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constinit std::atomic<std::size_t> purged_so_far{0};
constinit std::atomic<bool> keeps_memory{false};

/// Less than this part of the heap is not worth a look at all spans.
constexpr std::size_t worth_part = 16;

/// A look at all spans of a larger heap takes longer than a call of malloc should. Such a heap is
/// purged by the clock alone.
constexpr std::size_t largest_heap = std::size_t{64} << 20;

/// Effects: gives back pages of the span that the slice is the first of, if it is one of small
/// blocks. Returns: the bytes given back; 0 if there are no more pages to give back.
std::size_t purge_some_pages(span& slice, size_class class_index) noexcept {
  return class_index == mixed_class
             ? the_mixed_spans.purge_pages(slice, true)
             : bin_of(slice, class_index).purge_pages(slice, class_index, true);
}

/// Effects: gives back all free pages of the span.
std::size_t purge_all_pages(span& slice, size_class class_index) noexcept {
  std::size_t purged = 0;
  for (std::size_t pages = 0; pages < max_span_slices * slice_bytes; pages += os::page_bytes()) {
    const std::size_t more = purge_some_pages(slice, class_index);
    if (more == 0) break;
    purged += more;
  }
  return purged;
}

/// Effects: looks at a span once.
std::size_t purge_if_untouched(span& slice, size_class class_index) noexcept {
  if (slice.touched == settled) return 0;
  if (slice.touched == touched) {
    slice.touched.change(touched, untouched);
    return 0;
  }
  slice.touched.change(untouched, in_purge);
  const std::size_t purged = purge_all_pages(slice, class_index);
  // Pages that the system refused are asked for again.
  slice.touched.change(in_purge, the_page_returns.was_refused() ? untouched : settled);
  return purged;
}

} // namespace

void keep_free_memory(bool keep) noexcept { keeps_memory.store(keep, std::memory_order_relaxed); }

bool keeps_free_memory() noexcept { return keeps_memory.load(std::memory_order_relaxed); }

std::size_t purgeable_bytes() noexcept {
  std::size_t held = 0;
  if constexpr (chosen_profile.quarantines) held = resident_held_bytes();
  return held + the_space.dirty_bytes() + free_bytes_in_spans() + stocked_bytes() +
         idle_cached_bytes() + the_mixed_spans.free_bytes() + stocked_large_bytes() +
         unused_batch_bytes();
}

std::size_t purge_spans(bool even_if_touched, std::size_t wanted) noexcept {
  std::size_t purged = 0;
  for (slice_index at = 0; at < the_space.committed_slices() && purged < wanted; ++at) {
    const size_class class_index = the_facts.map.class_of_slice(at).load(std::memory_order_relaxed);
    if (class_index == no_class) continue;
    os::let_fork();
    span& slice = *the_space.record(at);
    if (slice.use.load(std::memory_order_relaxed) == slice_use::inside) continue;
    purged += even_if_touched ? purge_all_pages(slice, class_index)
                              : purge_if_untouched(slice, class_index);
  }
  return purged;
}

std::size_t purge_at_least(std::size_t wanted) noexcept {
  the_page_returns.try_again();
  std::size_t purged = the_space.purge(0, wanted);
  if (purged < wanted) {
    free_what_waits();
    purged += the_space.purge(0, wanted - purged);
  }
  if (purged < wanted) purged += purge_spans(true, wanted - purged);
  count_purged(purged);
  return purged;
}

std::size_t bytes_over_soft_limit() noexcept {
  const std::size_t limit = soft_limit_bytes();
  if (limit == no_limit) return 0;
  const std::size_t touched = the_space.touched_bytes();
  return touched - std::min(touched, limit);
}

void purge_after_growth() noexcept {
  if (!the_space.is_over_growth_limit()) [[likely]]
    return;
  const space::growth before = the_space.raise_growth_limit();
  if (before.touched == 0 || the_page_returns.refused() ||
      purgeable_bytes() < before.touched / worth_part) {
    return;
  }
  const std::size_t excess = bytes_over_soft_limit();
  if (excess == 0 && (before.touched > largest_heap || keeps_free_memory())) return;
  trim_bins();
  trim_large_stocks();
  std::size_t purged = the_space.purge(0);
  purged += excess > purged ? purge_spans(true, excess - purged) : purge_spans(false);
  count_purged(purged);
  the_space.lower_growth_limit(before, purged);
}

std::size_t purged_bytes() noexcept { return purged_so_far.load(std::memory_order_relaxed); }

void count_purged(std::size_t bytes) noexcept {
  purged_so_far.fetch_add(bytes, std::memory_order_relaxed);
}

} // namespace heapwise::detail
