#include "heap/shards.hpp"

#include <algorithm>
#include <cstdint>

#include "heap/options.hpp"
#include "heap/sharing.hpp"
#include "os/measuring.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit std::atomic<std::size_t> the_shard_count{1};

void choose_shards() noexcept {
  const std::size_t by_processors = os::processor_count() / processors_of_a_shard;
  const std::size_t wanted = the_options.shards != 0 ? the_options.shards : by_processors;
  the_shard_count.store(std::clamp(wanted, shard_count(), most_shards), std::memory_order_relaxed);
}

namespace {

/// A number for each thread, as if each had a processor of its own: what its address makes.
std::size_t number_of_thread() noexcept {
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
  const auto page = reinterpret_cast<std::uintptr_t>(os::this_thread()) / os::page_bytes();
  return (page * golden) >> 40;
}

} // namespace

std::size_t shard_of_processor() noexcept {
  if constexpr (counts_sharing) return number_of_thread() % shard_count();
  return os::processor() / processors_of_a_shard % shard_count();
}

} // namespace heapwise::detail
