#include "heap/base/shards.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "heap/base/options.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"
#include "os/processor_quota.hpp"

namespace heapwise::detail {

constinit std::atomic<std::size_t> the_shard_count{1};

namespace {

/// A shard for this many processors: their threads rarely meet at its locks.
constexpr std::size_t usual_processors = 4;

constinit std::atomic<std::size_t> shard_limit{1};
alignas(cache_line_bytes) constinit std::array<std::atomic<std::uint32_t>,
                                               most_shards> threads_of_shard{};

/// Returns: as many shards as keep the threads apart that can run at once.
std::size_t shards_for_processors() noexcept {
  const std::size_t by_affinity = os::processor_count() / usual_processors;
  // Most machines have few processors, and their processes then need not read files.
  return by_affinity > 1 ? std::min(by_affinity, os::processor_quota() / usual_processors)
                         : by_affinity;
}

} // namespace

void choose_shards() noexcept {
  const std::size_t wanted = the_options.shards != 0 ? the_options.shards : shards_for_processors();
  shard_limit.store(std::clamp(wanted, possible_shards(), most_shards), std::memory_order_relaxed);
}

std::size_t possible_shards() noexcept { return shard_limit.load(std::memory_order_relaxed); }

std::uint8_t join_shard() noexcept {
  const auto threads = std::span{threads_of_shard}.first(possible_shards());
  while (true) {
    std::atomic<std::uint32_t>* fewest = threads.data();
    std::uint32_t count = fewest->load(std::memory_order_relaxed);
    for (auto& each : threads) {
      if (count == 0) break; // mostly one of the first
      const std::uint32_t other = each.load(std::memory_order_relaxed);
      if (other < count) {
        fewest = &each;
        count = other;
      }
    }
    // Relaxed: the count guards nothing.
    if (fewest->compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
      return static_cast<std::uint8_t>(fewest - threads.data());
    }
  }
}

bool has_several_threads() noexcept {
  std::uint32_t count = 0;
  for (const auto& each : std::span{threads_of_shard}.first(possible_shards())) {
    count += each.load(std::memory_order_relaxed);
  }
  return count > 1;
}

// Relaxed, all of them: the count guards nothing.
void forget_threads_of_shards() noexcept {
  for (auto& each : threads_of_shard) each.store(0, std::memory_order_relaxed);
}

void join_shard_again(std::uint8_t shard) noexcept {
  threads_of_shard[shard].fetch_add(1, std::memory_order_relaxed);
}

void leave_shard(std::uint8_t shard) noexcept {
  expects([&] { return threads_of_shard[shard].load(std::memory_order_relaxed) > 0; },
          "a shard that a thread leaves has one");
  threads_of_shard[shard].fetch_sub(1, std::memory_order_relaxed);
}

} // namespace heapwise::detail
