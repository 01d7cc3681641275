#include "heap/checks/span_guard.hpp"

#include <atomic>

#include "heap/checks/guard_pages.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

// 256 MiB of spans and more, and with those of large blocks half of the mappings of a process.
constinit guard_pages span_guards{4096};

constinit std::atomic<std::size_t> hidden_ends{0};
constinit std::atomic<std::size_t> missing_ends{0};

std::byte* end_of(const span& some) noexcept {
  return the_space.begin_of(some) + some.slices * slice_bytes - span_guard_bytes;
}

std::atomic<std::size_t>& count_of(const span& some) noexcept {
  return some.behind == os::hidden_by::nothing ? missing_ends : hidden_ends;
}

} // namespace

void hide_end(span& hidden) noexcept {
  const bool is_whole_page = os::page_bytes() <= span_guard_bytes;
  hidden.behind =
      is_whole_page ? span_guards.hide(end_of(hidden), span_guard_bytes) : os::hidden_by::nothing;
  count_of(hidden).fetch_add(1, std::memory_order_relaxed);
}

void give_with_end(span& empty) noexcept {
  expects([&] { return empty.use.load(std::memory_order_relaxed) != slice_use::small; },
          "the span is in no bin");
  count_of(empty).fetch_sub(1, std::memory_order_relaxed);
  if (!span_guards.reveal(end_of(empty), span_guard_bytes, empty.behind))
    return the_space.retire(empty);
  empty.behind = os::hidden_by::nothing;
  the_space.give(empty);
}

bool is_behind_small(const void* address) noexcept {
  if (!the_space.holds(address)) return false;
  const span* const home = the_space.find_span(address);
  if (home == nullptr) return false;
  // Acquire: as in look_up. How its end is hidden was written before.
  const slice_use use = home->use.load(std::memory_order_acquire);
  const bool is_small =
      use == slice_use::small || (use == slice_use::owned && home->class_index != no_class);
  if (!is_small || home->behind == os::hidden_by::nothing) return false;
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(end_of(*home));
  return offset < span_guard_bytes;
}

span_guard_figures count_span_guards() noexcept {
  return {.hidden = hidden_ends.load(std::memory_order_relaxed),
          .missing = missing_ends.load(std::memory_order_relaxed)};
}

} // namespace heapwise::detail
