// Counters of a hybrid allocator, and the policies that say whether it reads the clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <heapwise/hybrid/detail/counted_mutex.hpp>
#include <heapwise/hybrid/refill.hpp>

namespace heapwise {

/// Counts of the calls that one strategy served. They never decrease. The times are sums over all
/// calls, and are 0 unless the timing policy is `timed`.
struct strategy_statistics {
  std::size_t allocations = 0;     ///< allocations that got a block
  std::size_t deallocations = 0;   ///< also at the ends of scopes, but not by resets
  std::size_t requested_bytes = 0; ///< bytes that these allocations requested
  std::uint64_t allocate_ns = 0;
  std::uint64_t deallocate_ns = 0;
};

/// The counts of a hybrid allocator so far, over all its threads.
struct hybrid_statistics {
  strategy_statistics fixed{};
  strategy_statistics segregated{};
  strategy_statistics best_fit{};
  refill_counts refill{};
  std::size_t best_fit_locks_taken = 0;
  std::size_t best_fit_waits = 0;
  std::size_t cache_refills = 0;  ///< batches that caches took from the depot
  std::size_t cache_flushes = 0;  ///< batches that caches gave to the depot
  std::size_t reserved_bytes = 0; ///< bytes that it has from the source now
};

/// Timing policy: no clock is read, and no code is generated for it.
struct untimed {
  static constexpr bool enabled = false;
  /// Reads no clock.
  struct stopwatch {
    /// Returns: 0.
    [[nodiscard]] static std::uint64_t elapsed_ns() noexcept { return 0; }
  };
};

/// Timing policy: every call is timed. That takes two readings of the clock, about 50 ns.
struct timed {
  static constexpr bool enabled = true;
  /// Starts when it is constructed.
  class stopwatch {
   public:
    /// Returns: the nanoseconds since the start, by the steady clock.
    [[nodiscard]] std::uint64_t elapsed_ns() const noexcept {
      return static_cast<std::uint64_t>(
          std::chrono::nanoseconds{std::chrono::steady_clock::now() - start_}.count());
    }

   private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };
};

namespace detail::hybrids {

/// The counts of one thread. Only this thread writes them, and any thread may read them.
class tally {
 public:
  template <class Timing>
  void allocated(std::size_t server, std::size_t bytes,
                 const typename Timing::stopwatch& watch) noexcept {
    counters& mine = served_[server];
    mine.allocations.add_one();
    mine.requested_bytes.add(bytes);
    if constexpr (Timing::enabled) mine.allocate_ns.add(watch.elapsed_ns());
  }
  template <class Timing>
  void deallocated(std::size_t server, const typename Timing::stopwatch& watch) noexcept {
    counters& mine = served_[server];
    mine.deallocations.add_one();
    if constexpr (Timing::enabled) mine.deallocate_ns.add(watch.elapsed_ns());
  }

  void add_to(hybrid_statistics& sum) const noexcept {
    add(served_[0], sum.fixed);
    add(served_[1], sum.segregated);
    add(served_[2], sum.best_fit);
    sum.cache_refills += cache_refills.read();
    sum.cache_flushes += cache_flushes.read();
  }

  guarded_count cache_refills;
  guarded_count cache_flushes;

 private:
  struct counters {
    guarded_count allocations;
    guarded_count deallocations;
    guarded_count requested_bytes;
    guarded_count allocate_ns;
    guarded_count deallocate_ns;
  };

  static void add(const counters& from, strategy_statistics& to) noexcept {
    to.allocations += from.allocations.read();
    to.deallocations += from.deallocations.read();
    to.requested_bytes += from.requested_bytes.read();
    to.allocate_ns += from.allocate_ns.read();
    to.deallocate_ns += from.deallocate_ns.read();
  }

  std::array<counters, 3> served_{};
};

} // namespace detail::hybrids
} // namespace heapwise
