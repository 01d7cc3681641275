#include "heap/central/block_runs.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "heap/base/address_runs.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/space/space.hpp"

namespace heapwise::detail {

namespace {

struct place {
  span* home; // nullptr where there is no record of a span
  std::size_t offset;
};

/// Where blocks are. A copy of what the space knows: the compiler keeps it in registers while runs
/// are written.
class places {
 public:
  /// Returns: where a block would be.
  template <bool one_slice>
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE place of(const std::byte* block) const noexcept {
    if (one_slice) { // found without a look at the record, which may be far away
      const std::size_t slice = (reinterpret_cast<std::uintptr_t>(block) - base_) / slice_bytes;
      return {slice < slices_ ? records_ + slice : nullptr,
              reinterpret_cast<std::uintptr_t>(block) % slice_bytes};
    }
    span* const home = the_space.find_span(block);
    if (home == nullptr) return {nullptr, 0};
    return {home, static_cast<std::size_t>(block - the_space.begin_of(*home))};
  }

 private:
  std::uintptr_t base_ = reinterpret_cast<std::uintptr_t>(the_space.address_of(0));
  span* records_ = the_space.record(0);
  std::size_t slices_ = the_space.committed_slices();
};

constexpr std::size_t word_bits = block_map::word_bits;

/// Divides by the size of a class, so that one comparison tells whether the result is the number of
/// a block: with the inverse of the odd factor, only multiples of the size have small quotients
/// (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
class exact_division {
 public:
  constexpr exact_division() noexcept = default;
  constexpr explicit exact_division(std::size_t bytes) noexcept
      : inverse_{1}, shift_{std::countr_zero(bytes)} {
    const std::uint64_t odd = bytes >> shift_;
    while (odd * inverse_ != 1) inverse_ *= 2 - odd * inverse_; // twice as many bits are right
  }
  /// Returns: the quotient; more than any number of blocks if there is a remainder, or if the
  /// offset is that of an address below the first block.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::size_t number_at(std::uint64_t offset) const noexcept {
    return std::rotr(offset * inverse_, shift_);
  }

 private:
  std::uint64_t inverse_ = 0;
  int shift_ = 0;
};

constexpr std::array<exact_division, class_slots> divisions = [] {
  std::array<exact_division, class_slots> table;
  for (size_class class_index = 1; class_index <= class_count; ++class_index)
    table[class_index] = exact_division{class_table[class_index].bytes};
  return table;
}();

/// Effects: adds the blocks from `at` on, in any order, to a run whose word they share. `first` is
/// the block that the word begins with. `at` is then behind them.
HEAPWISE_ALWAYS_INLINE void add_others(block_run& run, std::byte* const*& at, std::byte* const* end,
                                       const std::byte* first, exact_division by_size,
                                       std::size_t blocks) noexcept {
  const auto bit_of = [&](const std::byte* block) {
    return by_size.number_at(static_cast<std::uint64_t>(block - first));
  };
  // Mostly there is none in a batch in random order: that is found with a constant.
  if (at == end || bit_of(*at) >= word_bits) return;
  const std::size_t limit = std::min(word_bits, blocks - run.word * word_bits);
  const auto first_other = at;
  std::uint64_t bits = run.bits;
  for (; at != end; ++at) {
    const std::size_t bit = bit_of(*at);
    if (bit >= limit || (bits >> bit & 1) != 0) break; // the next run will be doubtful
    bits |= std::uint64_t{1} << bit;
  }
  run.bits = bits;
  run.count = static_cast<std::uint16_t>(run.count + (at - first_other));
}

/// Returns: the distance of blocks that follow in order and are neighbours, or 0.
HEAPWISE_ALWAYS_INLINE std::ptrdiff_t order_of(std::byte* const* at, std::byte* const* end,
                                               std::size_t bytes) noexcept {
  constexpr std::ptrdiff_t worth_counting = 4;
  if (end - at < worth_counting) return 0;
  const auto size = static_cast<std::ptrdiff_t>(bytes);
  const std::ptrdiff_t distance = at[3] - at[0];
  if (distance != 3 * size && distance != -3 * size) return 0;
  const std::ptrdiff_t step = distance > 0 ? size : -size;
  return at[1] - at[0] == step && at[2] - at[1] == step ? step : 0;
}

/// Effects: writes a run for each word of neighbours that follow each other at a distance.
/// Requires: `run` has the first block of them. Returns: the last run.
block_run* split_by_words(block_run* run, std::byte* const* at, std::byte* const* end,
                          std::ptrdiff_t distance, std::size_t blocks) noexcept {
  span* const home = run->home;
  const bool upwards = distance > 0;
  std::size_t word = run->word;
  std::size_t begin = run->begin;
  auto bit = static_cast<std::size_t>(std::countr_zero(run->bits));
  const std::size_t room = upwards ? blocks - (word * word_bits + bit) : word * word_bits + bit + 1;
  std::size_t left = count_in_run(at, std::min(static_cast<std::size_t>(end - at), room), distance);
  while (true) {
    const std::size_t count = std::min(left, upwards ? word_bits - bit : bit + 1);
    run->bits = ~std::uint64_t{0} >> (word_bits - count) << (upwards ? bit : bit + 1 - count);
    run->count = static_cast<std::uint16_t>(count);
    left -= count;
    if (left == 0) return run;
    begin += count;
    word = upwards ? word + 1 : word - 1;
    bit = upwards ? 0 : word_bits - 1;
    home->free_map.prefetch(static_cast<std::uint32_t>(word * word_bits));
    ++run;
    run->home = home;
    run->word = static_cast<std::uint32_t>(word);
    run->begin = static_cast<std::uint16_t>(begin);
  }
}

template <bool one_slice>
std::size_t gather_in(std::span<std::byte* const> blocks, size_class class_index,
                      block_run* run) noexcept {
  const class_facts& facts = class_table[class_index];
  const exact_division by_size = divisions[class_index];
  const std::size_t bytes = facts.bytes;
  const std::size_t most = blocks_of_span(class_index);
  const places all;
  const block_run* const first_run = run;
  const auto begin = blocks.data();
  const auto end = begin + blocks.size();
  for (auto at = begin; at != end; ++run) {
    const auto [home, offset] = all.of<one_slice>(*at);
    const std::size_t number = by_size.number_at(offset);
    run->home = home;
    run->begin = static_cast<std::uint16_t>(at - begin);
    run->count = 1;
    // A block that was freed with its size may be anything: nobody has looked at it before.
    if (home == nullptr || number >= most) [[unlikely]] {
      run->home = nullptr;
      ++at;
      continue;
    }
    HEAPWISE_PREFETCH_TO_WRITE(home);
    home->free_map.prefetch(static_cast<std::uint32_t>(number));
    run->bits = std::uint64_t{1} << number % word_bits;
    run->word = static_cast<std::uint32_t>(number / word_bits);
    const std::byte* first_of_word = *at - number % word_bits * bytes;
    const auto first = at++;
    // Mostly the next block is elsewhere if the order is random: found with a constant.
    const auto next = static_cast<std::uint64_t>(at == end ? 0 : *at - first_of_word);
    if (at == end || by_size.number_at(next) >= word_bits) continue;
    if (const std::ptrdiff_t distance = order_of(first, end, bytes); distance != 0) {
      run = split_by_words(run, first, end, distance, most);
      first_of_word = *first - offset + run->word * word_bits * bytes;
      at = begin + run->begin + run->count;
    }
    add_others(*run, at, end, first_of_word, by_size, most);
  }
  return static_cast<std::size_t>(run - first_run);
}

} // namespace

std::size_t gather(std::span<std::byte* const> blocks, size_class class_index,
                   block_run* runs) noexcept {
  return class_table[class_index].slices == 1 ? gather_in<true>(blocks, class_index, runs)
                                              : gather_in<false>(blocks, class_index, runs);
}

} // namespace heapwise::detail
