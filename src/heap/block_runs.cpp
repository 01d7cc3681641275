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

/// Returns: how many blocks, the first one and at most `most`, follow each other at a distance.
HEAPWISE_ALWAYS_INLINE std::size_t count_in_run(std::byte* const* first, std::size_t most,
                                                std::ptrdiff_t distance) noexcept {
  std::byte* const* at = first;
  std::byte* const* const end = first + most;
  std::byte* expected = *first;
  do {
    expected += distance;
  } while (++at != end && *at == expected);
  return static_cast<std::size_t>(at - first);
}

template <bool one_slice>
std::size_t gather_in(std::span<std::byte* const> blocks, const class_facts& facts,
                      block_run* run) noexcept {
  constexpr std::size_t word_bits = block_map::word_bits;
  constexpr std::ptrdiff_t worth_counting = 4;
  const std::size_t bytes = facts.bytes;
  const std::size_t reciprocal = facts.reciprocal;
  const block_run* const first_run = run;
  const auto end = blocks.data() + blocks.size();
  for (auto at = blocks.data(); at != end; ++run) {
    const auto [home, offset] = place_of<one_slice>(*at);
    const std::size_t number = offset * reciprocal >> reciprocal_shift;
    const auto begin = at;
    run->home = home;
    run->begin = static_cast<std::uint16_t>(begin - blocks.data());
    run->count = 1;
    // A block that was freed with its size may be anything: nobody has looked at it before.
    if (home == nullptr || number * bytes != offset || number >= facts.blocks) [[unlikely]] {
      run->home = nullptr;
      ++at;
      continue;
    }
    const std::size_t bit = number % word_bits;
    HEAPWISE_PREFETCH_TO_WRITE(home);
    home->free_map.prefetch(static_cast<std::uint32_t>(number));
    run->word = static_cast<std::uint32_t>(number / word_bits);
    const std::size_t bits_in_use = std::min(word_bits, facts.blocks - (number - bit));
    std::uint64_t bits = std::uint64_t{1} << bit;
    ++at;
    if (const std::ptrdiff_t left = end - begin; left >= worth_counting) {
      // Neighbours in order are counted, and their bits made at once.
      const auto step = static_cast<std::ptrdiff_t>(bytes);
      const std::ptrdiff_t distance = begin[worth_counting - 1] - *begin;
      const bool upwards = distance == (worth_counting - 1) * step;
      if (upwards || distance == (1 - worth_counting) * step) {
        const std::size_t room = upwards ? bits_in_use - bit : bit + 1;
        const std::size_t count = count_in_run(
            begin, std::min(static_cast<std::size_t>(left), room), upwards ? step : -step);
        bits = (~std::uint64_t{0} >> (word_bits - count)) << (upwards ? bit : bit + 1 - count);
        at = begin + count;
      }
    }
    const std::byte* const begin_of_word = *begin - bit * bytes;
    for (const std::size_t bytes_of_word = bits_in_use * bytes; at != end; ++at) {
      const auto in_word = static_cast<std::size_t>(*at - begin_of_word);
      if (in_word >= bytes_of_word) break;
      const std::size_t other = in_word * reciprocal >> reciprocal_shift;
      const std::uint64_t mask = std::uint64_t{1} << other;
      if (other * bytes != in_word || (bits & mask) != 0) break; // the next run will be doubtful
      bits |= mask;
    }
    run->bits = bits;
    run->count = static_cast<std::uint16_t>(at - begin);
  }
  return static_cast<std::size_t>(run - first_run);
}

} // namespace

std::size_t gather(std::span<std::byte* const> blocks, size_class of, block_run* runs) noexcept {
  const class_facts& facts = class_table[of];
  return facts.slices == 1 ? gather_in<true>(blocks, facts, runs)
                           : gather_in<false>(blocks, facts, runs);
}

} // namespace heapwise::detail
