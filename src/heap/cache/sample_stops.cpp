#include "heap/cache/sample_stops.hpp"

#include <new>
#include <utility>

#include "heap/base/metadata.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

std::size_t pages_of_stops() noexcept {
  const std::size_t page = os::page_bytes();
  return (sizeof(sample_stops) + page - 1) / page * page;
}

} // namespace

std::byte* sample_stops::take(heap_cache& cache, size_class class_index) noexcept {
  expects([&] { return is_on_top(cache, class_index); }, "there is a stop on top");
  --cache.tops[class_index];
  return drop_top(class_index).block;
}

void sample_stops::push(heap_cache& cache, size_class class_index, std::byte* block) noexcept {
  expects([&] { return cache.tops[class_index] != cache.ends[class_index]; },
          "there is room for the block");
  std::byte** const place = cache.tops[class_index]++;
  *place = block;
  place_at(place, block, class_index);
}

void sample_stops::lift(size_class class_index) noexcept {
  while (tops_[class_index] != 0) {
    const stop lifted = drop_top(class_index);
    *lifted.place = lifted.block;
  }
}

void sample_stops::draw(heap_cache& cache, size_class class_index) noexcept {
  expects(tops_[class_index] == 0, "stops are drawn where none is");
  // Nothing is allocated from the stack of mixed spans.
  if (class_index == mixed_class || !has_stack(cache, class_index)) return;
  if (!std::exchange(has_begun_, true)) bytes_left_ = the_samples.next_gap();
  const std::size_t bytes = class_table[class_index].bytes;
  std::byte** place = begin_of_stack(cache, class_index);
  std::byte** const top = cache.tops[class_index];
  for (;;) {
    const auto left = static_cast<std::uint64_t>(top - place);
    const std::uint64_t before = bytes_left_ / bytes; // blocks that are not sampled
    if (before >= left) {
      bytes_left_ -= left * bytes;
      return;
    }
    place += before;
    place_at(place, *place, class_index);
    ++place;
    // The bytes after this block have no memory of those before.
    bytes_left_ = the_samples.next_gap();
  }
}

void sample_stops::place_at(std::byte** place, std::byte* block, size_class class_index) noexcept {
  std::uint16_t number = unused_;
  if (number != 0) {
    unused_ = stops_[number].below;
  } else if (used_ < most) {
    number = ++used_;
  } else {
    return the_samples.count_missed();
  }
  stops_[number] = {.place = place, .block = block, .below = tops_[class_index]};
  tops_[class_index] = number;
  *place = nullptr;
}

sample_stops::stop sample_stops::drop_top(size_class class_index) noexcept {
  const std::uint16_t number = tops_[class_index];
  const stop dropped = stops_[number];
  tops_[class_index] = dropped.below;
  stops_[number].below = std::exchange(unused_, number);
  return dropped;
}

HEAPWISE_NOINLINE sample_stops* stops_of(heap_cache& cache) noexcept {
  sample_stops*& stops = static_cast<thread_cache&>(cache).stops;
  if (stops == nullptr && the_samples.is_on()) {
    void* const memory = map_metadata(pages_of_stops(), os::page_bytes());
    if (memory == nullptr) return nullptr;
    stops = new (memory) sample_stops;
    for (size_class each = 1; each <= class_count; ++each) stops->draw(cache, each);
  }
  return stops;
}

void end_stops(heap_cache& cache) noexcept {
  sample_stops* const stops = std::exchange(static_cast<thread_cache&>(cache).stops, nullptr);
  if (stops == nullptr) return;
  for (size_class each = 1; each <= class_count; ++each) stops->lift(each);
  unmap_metadata(stops, pages_of_stops(), os::page_bytes());
}

} // namespace heapwise::detail
