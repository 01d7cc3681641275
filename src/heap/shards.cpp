#include "heap/shards.hpp"

#include <algorithm>
#include <cstdint>

#include "heap/bins.hpp"
#include "heap/options.hpp"
#include "heap/sharing.hpp"
#include "os/measuring.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit std::atomic<std::size_t> the_shard_count{1};

namespace {

/// A shard for this many processors: their threads rarely meet at its locks.
constexpr std::size_t usual_processors = 4;

constinit std::atomic<std::size_t> processors_of_a_shard{1};

#if defined(HEAPWISE_SHARDS_BY_THREAD)
constexpr bool by_thread = true; // a test, which may run on few processors
#else
constexpr bool by_thread = counts_sharing;
#endif

/// A number for each thread, as if each had a processor of its own: what its address makes.
[[maybe_unused]] std::size_t number_of_thread() noexcept {
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
  const auto page = reinterpret_cast<std::uintptr_t>(os::this_thread()) / os::page_bytes();
  return (page * golden) >> 40;
}

} // namespace

void choose_shards() noexcept {
  const std::size_t processors = os::processor_count();
  const std::size_t wanted =
      the_options.shards != 0 ? the_options.shards : processors / usual_processors;
  const std::size_t chosen = std::clamp(wanted, shard_count(), most_shards);
  prepare_bins(chosen);
  processors_of_a_shard.store(std::max(processors / chosen, std::size_t{1}),
                              std::memory_order_relaxed);
  the_shard_count.store(chosen, std::memory_order_relaxed);
}

std::size_t shard_of_processor() noexcept {
  if constexpr (by_thread) return number_of_thread() % shard_count();
  // Neighbours share a shard: they are in one socket.
  return os::processor() / processors_of_a_shard.load(std::memory_order_relaxed) % shard_count();
}

} // namespace heapwise::detail
