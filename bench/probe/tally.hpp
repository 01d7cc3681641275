// Counters of allocation calls for a whole process: sharded, so that threads seldom meet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

struct totals {
  static constexpr int size_buckets = 65;

  std::uint64_t malloc = 0;
  std::uint64_t calloc = 0;
  std::uint64_t realloc = 0;
  std::uint64_t free = 0;
  std::uint64_t aligned = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t peak_live = 0;            ///< most bytes that were allocated and not freed
  std::uint64_t sizes[size_buckets] = {}; ///< [k]: requests of (2^(k-1), 2^k] bytes
};

/// Bucket of a request: 0 for 0 or 1 byte, else the least k with 2^k >= size.
[[nodiscard]] constexpr int size_bucket(std::size_t size) noexcept {
  return size <= 1 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(size) - 1);
}

class tally {
 public:
  enum class call { malloc, calloc, realloc, free, aligned };

  /// All counters are relaxed: they are read after the counted calls, at the end of the process.
  void count(call kind) noexcept { add(mine().calls[static_cast<int>(kind)], 1); }

  void count(call kind, std::size_t size) noexcept {
    shard& counters = mine();
    add(counters.calls[static_cast<int>(kind)], 1);
    add(counters.bytes, size);
    add(counters.sizes[size_bucket(size)], 1);
  }

  /// This many bytes more, or fewer, are allocated and not freed now. The peak is that of moments
  /// at which a shard's sum leaves +-live_step, so it is at most live_step for each thread too
  /// small.
  void change_live(std::int64_t bytes) noexcept {
    std::atomic<std::int64_t>& waiting = mine().live;
    const std::int64_t sum = waiting.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (sum < live_step && sum > -live_step) return;
    settle(waiting);
  }

  /// How often the calling thread's shard has counted `kind`; shared with few other threads.
  [[nodiscard]] std::uint64_t here(call kind) noexcept {
    return mine().calls[static_cast<int>(kind)].load(std::memory_order_relaxed);
  }

  [[nodiscard]] totals sum() noexcept {
    totals all;
    for (shard& each : shards_) {
      settle(each.live);
      const auto count_of = [&](call kind) {
        return each.calls[static_cast<int>(kind)].load(std::memory_order_relaxed);
      };
      all.malloc += count_of(call::malloc);
      all.calloc += count_of(call::calloc);
      all.realloc += count_of(call::realloc);
      all.free += count_of(call::free);
      all.aligned += count_of(call::aligned);
      all.bytes_requested += each.bytes.load(std::memory_order_relaxed);
      for (int i = 0; i < totals::size_buckets; ++i) {
        all.sizes[i] += each.sizes[i].load(std::memory_order_relaxed);
      }
    }
    all.peak_live = static_cast<std::uint64_t>(peak_.load(std::memory_order_relaxed));
    return all;
  }

  /// Begins again, but what is allocated stays so: a forked child has its parent's blocks.
  ///
  /// Requires that no other thread counts (a child just forked has one thread).
  void clear() noexcept {
    for (shard& each : shards_) {
      settle(each.live);
      for (auto& calls : each.calls) calls.store(0, std::memory_order_relaxed);
      for (auto& requests : each.sizes) requests.store(0, std::memory_order_relaxed);
      each.bytes.store(0, std::memory_order_relaxed);
    }
    const std::int64_t live = live_.load(std::memory_order_relaxed);
    peak_.store(live > 0 ? live : 0, std::memory_order_relaxed);
  }

 private:
  using counter = std::atomic<std::uint64_t>;

  struct alignas(64) shard {
    counter calls[5];
    counter bytes;
    std::atomic<std::int64_t> live; ///< change that the common sum does not hold yet
    counter sizes[totals::size_buckets];
  };

  static constexpr unsigned shard_count = 32;
  static constexpr std::int64_t live_step = 16 * 1024;

  static void add(counter& to, std::uint64_t amount) noexcept {
    to.fetch_add(amount, std::memory_order_relaxed);
  }

  /// Moves a shard's change to the common sum.
  void settle(std::atomic<std::int64_t>& waiting) noexcept {
    const std::int64_t change = waiting.exchange(0, std::memory_order_relaxed);
    const std::int64_t live = live_.fetch_add(change, std::memory_order_relaxed) + change;
    std::int64_t peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
  }

  shard& mine() noexcept {
    // initial-exec: any other model may call malloc for the thread's block, and we are malloc.
    __attribute__((tls_model("initial-exec"))) static thread_local unsigned own = 0;
    if (own == 0) own = next_.fetch_add(1, std::memory_order_relaxed) % shard_count + 1;
    return shards_[own - 1];
  }

  shard shards_[shard_count] = {};
  std::atomic<std::int64_t> live_{0}; ///< may be below zero while a free has come before its block
  std::atomic<std::int64_t> peak_{0};
  std::atomic<unsigned> next_{0};
};

} // namespace heapwise::bench
