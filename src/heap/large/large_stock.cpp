#include "heap/large/large_stock.hpp"

#include <algorithm>
#include <mutex>
#include <span>

#include "heap/large/large_guard.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

constinit std::array<large_stock, most_shards> the_large_stocks;

span* large_stock::pop(std::size_t slices) noexcept {
  expects_held(lock_);
  linked_stack<detail::span>& spans = spans_[slices - 1];
  if (spans.is_empty()) return nullptr;
  const std::uint32_t left =
      kept_.load(std::memory_order_relaxed) - static_cast<std::uint32_t>(slices);
  kept_.store(left, std::memory_order_relaxed);
  least_kept_ = std::min(least_kept_, left);
  return &spans.pop();
}

span* large_stock::take(std::size_t slices) noexcept {
  expects(0 < slices && slices <= most_slices, "the stock has spans of this length");
  // Relaxed: a span that comes this moment serves the next request.
  if (kept_.load(std::memory_order_relaxed) < slices) return nullptr;
  const std::lock_guard hold{lock_};
  return pop(slices);
}

bool large_stock::keep(detail::span& freed) noexcept {
  expects(0 < freed.slices && freed.slices <= most_slices && freed.pieces == 0,
          "the stock keeps spans of this length that are in one piece");
  const std::lock_guard hold{lock_};
  const std::uint32_t kept = kept_.load(std::memory_order_relaxed);
  if (kept + freed.slices > most_kept) return false;
  spans_[freed.slices - 1].push(freed);
  kept_.store(kept + freed.slices, std::memory_order_relaxed);
  return true;
}

/// Returns: the longest span, if no request was as long since the last trim; or nullptr.
span* large_stock::take_unneeded() noexcept {
  const std::lock_guard hold{lock_};
  if (least_kept_ == 0) return nullptr;
  const std::uint32_t before = least_kept_;
  for (std::size_t slices = most_slices; slices > 0; --slices) {
    detail::span* const longest = pop(slices);
    if (longest == nullptr) continue;
    least_kept_ = before - std::min(before, longest->slices);
    return longest;
  }
  return nullptr;
}

void large_stock::trim() noexcept {
  if (detail::span* const waiting = take_to_grow()) give_to_space(*waiting, false);
  while (detail::span* const unneeded = take_unneeded()) give_to_space(*unneeded, false);
  const std::lock_guard hold{lock_};
  least_kept_ = kept_.load(std::memory_order_relaxed);
}

void trim_large_stocks() noexcept {
  for (large_stock& each : std::span{the_large_stocks}.first(shard_count())) each.trim();
}

std::size_t stocked_large_bytes() noexcept {
  std::size_t sum = 0;
  for (const large_stock& each : std::span{the_large_stocks}.first(shard_count())) {
    sum += each.bytes();
  }
  return sum;
}

} // namespace heapwise::detail
