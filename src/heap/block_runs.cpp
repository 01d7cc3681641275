#include "heap/block_runs.hpp"

#include <algorithm>

#include "heap/space.hpp"

namespace heapwise::detail {

namespace {

struct place {
  span* home; // nullptr where there is no record of a span
  std::size_t offset;
};

/// Returns: where a block would be.
template <bool one_slice>
HEAPWISE_ALWAYS_INLINE place place_of(const std::byte* block) noexcept {
  if (one_slice) { // found without a look at the record, which may be far away
    return {the_space.record(the_space.slice_of(block)),
            reinterpret_cast<std::uintptr_t>(block) % slice_bytes};
  }
  span* const home = the_space.find_span(block);
  if (home == nullptr) return {nullptr, 0};
  return {home, static_cast<std::size_t>(block - the_space.begin_of(*home))};
}

/// Returns: how many blocks from the first on follow each other at the distance `step`.
std::uint32_t count_at_distance(std::byte* const* blocks, std::size_t most,
                                std::ptrdiff_t step) noexcept {
  std::uint32_t count = 1;
  while (count < most && blocks[count] - blocks[count - 1] == step) ++count;
  return count;
}

template <bool one_slice>
std::size_t gather_in(std::span<std::byte* const> blocks, size_class of, block_run* run) noexcept {
  const class_facts facts = class_table[of];
  const auto bytes = static_cast<std::ptrdiff_t>(facts.bytes);
  const block_run* const first_run = run;
  for (std::size_t at = 0; at < blocks.size(); at += run++->count) {
    const auto [home, offset] = place_of<one_slice>(blocks[at]);
    const auto number = static_cast<std::uint32_t>(offset * facts.reciprocal >> reciprocal_shift);
    const bool starts_there = number * std::size_t{facts.bytes} == offset;
    const bool exists = home != nullptr && starts_there && number < facts.blocks;
    // A block that was freed with its size may be anything: nobody has looked at it before.
    if (!exists) [[unlikely]] {
      *run = {.home = nullptr,
              .bits = 0,
              .word = 0,
              .begin = static_cast<std::uint16_t>(at),
              .count = 1};
      continue;
    }
    HEAPWISE_PREFETCH_TO_WRITE(home);
    home->free_map.prefetch(number);
    std::uint32_t lowest = number % block_map::word_bits;
    std::uint32_t count = 1;
    const std::size_t left = blocks.size() - at;
    const std::ptrdiff_t step = left > 1 ? blocks[at + 1] - blocks[at] : 0;
    if (step == bytes) {
      const std::uint32_t room = std::min(block_map::word_bits - lowest, facts.blocks - number);
      count = count_at_distance(&blocks[at], std::min<std::size_t>(left, room), step);
    } else if (step == -bytes) {
      count = count_at_distance(&blocks[at], std::min<std::size_t>(left, lowest + 1), step);
      lowest -= count - 1;
    }
    *run = {.home = home,
            .bits = (~std::uint64_t{0} >> (block_map::word_bits - count)) << lowest,
            .word = number / block_map::word_bits,
            .begin = static_cast<std::uint16_t>(at),
            .count = static_cast<std::uint16_t>(count)};
  }
  return static_cast<std::size_t>(run - first_run);
}

} // namespace

std::size_t gather(std::span<std::byte* const> blocks, size_class of, block_run* runs) noexcept {
  return class_table[of].slices == 1 ? gather_in<true>(blocks, of, runs)
                                     : gather_in<false>(blocks, of, runs);
}

} // namespace heapwise::detail
