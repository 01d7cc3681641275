#include "gc/collect/budget.hpp"

#include <algorithm>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"

namespace heapwise::gc {

namespace {

/// Memory goes back to the system in parts of this many bytes at least, and in about this many
/// parts at most: each takes the time of the thread that wants a span.
constexpr std::size_t least_part = std::size_t{4} << 20;
constexpr std::size_t most_parts = 16;

} // namespace

std::size_t budget_of(const live_sizes& live) noexcept {
  const std::size_t weighed =
      2 * (live.all_bytes - live.atomic_bytes) + live.spare_bytes + live.atomic_bytes / 4;
  return std::max(weighed / the_gc.chosen.free_space_divisor, least_budget);
}

std::size_t budget_of_reached(const live_sizes& live, std::size_t reached_bytes) noexcept {
  const double share = live.all_bytes == 0 ? 1.0
                                           : static_cast<double>(reached_bytes) /
                                                 static_cast<double>(live.all_bytes);
  const double budget = std::min(share, 1.0) * static_cast<double>(budget_of(live));
  return std::max(static_cast<std::size_t>(budget), least_budget);
}

void set_target(std::size_t live_bytes, std::size_t budget, bool in_copy) noexcept {
  expects_lock();
  const std::size_t used = the_gc.memory.used_bytes();
  the_gc.budget_bytes = budget;
  the_gc.worth_bytes = budget / 2;
  the_gc.handed_bytes = 0;
  const std::size_t wanted = live_bytes + budget;
  // A heap that was larger a moment ago stays so, within limits: the memory is there. While a copy
  // marks it will be as large again, so the next one is not made later.
  const std::size_t kept =
      std::max({wanted, used, std::min(the_gc.target_bytes, wanted + budget / 4)});
  the_gc.target_bytes = in_copy ? std::max(wanted, used) : kept;
  the_gc.kept_bytes = kept;
  the_gc.part_bytes = least_part;
  const std::size_t left = give_back_part();
  the_gc.part_bytes = left == 0 ? 0 : std::max(least_part, left / most_parts);
}

void set_first_target() noexcept { the_gc.target_bytes = 2 * least_budget; }

std::size_t give_back_part() noexcept {
  expects_lock();
  if (the_gc.part_bytes == 0) return 0;
  space& memory = the_gc.memory;
  const std::size_t free_bytes =
      the_gc.kept_bytes - std::min(the_gc.kept_bytes, memory.used_bytes());
  const std::size_t left = memory.purge(free_bytes, the_gc.part_bytes);
  if (left == 0) the_gc.part_bytes = 0;
  return left;
}

} // namespace heapwise::gc
