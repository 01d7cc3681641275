#include "profiler/sampled_blocks.hpp"

#include "trace/kernel.hpp"

namespace heapwise::bench {

/// Held for some nanoseconds, and by samples only.
class sampled_blocks::lock {
 public:
  explicit lock(std::atomic<bool>& busy) noexcept : busy_{busy} {
    // acquire: with the release below, so that the table is seen as the thread before left it.
    while (busy_.exchange(true, std::memory_order_acquire)) kernel::let_others_run();
  }
  ~lock() { busy_.store(false, std::memory_order_release); }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

 private:
  std::atomic<bool>& busy_;
};

bool sampled_blocks::insert(std::uint64_t address) noexcept {
  const lock held{busy_};
  if (count_ == most) return false;
  std::size_t at = home(address);
  while (addresses_[at] != 0) at = next(at);
  addresses_[at] = address;
  share_bit(address);
  ++count_;
  return true;
}

void sampled_blocks::mark(std::uint64_t address) noexcept {
  const lock held{busy_};
  share_bit(address);
}

void sampled_blocks::share_bit(std::uint64_t address) noexcept {
  const std::size_t bit = bit_of(address);
  if (sharers_[bit] != most_sharers) ++sharers_[bit];
  filter_[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
}

bool sampled_blocks::erase(std::uint64_t address) noexcept {
  const lock held{busy_};
  std::size_t gap = home(address);
  for (; addresses_[gap] != address; gap = next(gap)) {
    if (addresses_[gap] == 0) return false;
  }
  // Later ones move up, so that a search never meets a gap before its block.
  for (std::size_t at = next(gap); addresses_[at] != 0; at = next(at)) {
    const std::size_t wanted = home(addresses_[at]);
    // Whether `wanted` lies, on the circle, after the gap and up to `at`.
    const bool fits = gap <= at ? (gap < wanted && wanted <= at) : (gap < wanted || wanted <= at);
    if (fits) continue;
    addresses_[gap] = addresses_[at];
    gap = at;
  }
  addresses_[gap] = 0;
  const std::size_t bit = bit_of(address);
  if (sharers_[bit] != most_sharers && --sharers_[bit] == 0) {
    filter_[bit / 64].fetch_and(~(std::uint64_t{1} << bit % 64), std::memory_order_relaxed);
  }
  --count_;
  return true;
}

void sampled_blocks::forget() noexcept {
  for (std::uint64_t& each : addresses_) {
    if (each != 0) each = 0; // a page without samples stays shared with the parent
  }
  count_ = 0;
  busy_.store(false, std::memory_order_relaxed);
}

} // namespace heapwise::bench
