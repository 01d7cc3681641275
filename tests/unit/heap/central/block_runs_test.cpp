#include "heap/central/block_runs.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

std::vector<block_run> gathered(const std::vector<std::byte*>& blocks, size_class class_index) {
  std::vector<block_run> runs(blocks.size());
  runs.resize(gather(blocks, class_index, runs.data()));
  return runs;
}

/// Returns: the blocks that a run names, the lowest first.
std::vector<std::byte*> named_by(const block_run& run, size_class class_index) {
  std::vector<std::byte*> blocks;
  for (std::uint32_t bit = 0; bit < block_map::word_bits; ++bit) {
    if ((run.bits >> bit & 1) == 0) continue;
    const std::size_t number = run.word * std::size_t{block_map::word_bits} + bit;
    blocks.push_back(the_space.begin_of(*run.home) + number * class_table[class_index].bytes);
  }
  return blocks;
}

/// Returns: whether the runs name each block once, in the places where they say.
bool name_all(const std::vector<block_run>& runs, const std::vector<std::byte*>& blocks,
              size_class class_index) {
  std::size_t at = 0;
  for (const block_run& run : runs) {
    if (run.home == nullptr || run.begin != at || run.count == 0) return false;
    std::vector<std::byte*> some(blocks.begin() + run.begin,
                                 blocks.begin() + run.begin + run.count);
    std::sort(some.begin(), some.end());
    if (some != named_by(run, class_index)) return false;
    at += run.count;
  }
  return at == blocks.size();
}

TEST_CASE("blocks in order are as many runs as they have words of the map") {
  start_without_clock();
  constexpr size_class class_index = 1;
  bin some;
  std::vector<std::byte*> blocks = take_blocks(some, class_index, class_table[class_index].blocks);
  for (const bool upwards : {true, false}) {
    CAPTURE(upwards);
    const std::vector<block_run> runs = gathered(blocks, class_index);
    CHECK(name_all(runs, blocks, class_index));
    CHECK(runs.size() == class_table[class_index].blocks / block_map::word_bits);
    std::reverse(blocks.begin(), blocks.end());
  }
  put_back(some, blocks, class_index);
  some.drop_spare(class_index);
}

TEST_CASE("blocks in any order are named once each, of spans of any size") {
  start_without_clock();
  for (const size_class class_index :
       {size_class{1}, size_class{3}, size_class{11}, size_class{30}, class_count}) {
    CAPTURE(class_table[class_index].bytes);
    bin some;
    const std::vector<std::byte*> blocks =
        take_blocks(some, class_index, 3 * class_table[class_index].blocks);
    stress::random draw{class_index};
    for (int round = 0; round < 60; ++round) {
      // Pieces of the whole, upwards or downwards, and single blocks between them.
      std::vector<std::byte*> all = blocks;
      std::vector<std::byte*> batch;
      for (std::size_t left = 1 + draw.below(6); left > 0; --left) {
        const std::size_t first = draw.below(all.size());
        const std::size_t count = std::min(1 + draw.below(70), all.size() - first);
        const auto begin = all.begin() + static_cast<long>(first);
        const auto end = begin + static_cast<long>(count);
        if (draw.below(3) == 0) std::reverse(begin, end);
        if (draw.below(3) == 0) {
          for (std::size_t at = count; at > 1; --at) {
            std::swap(*(begin + static_cast<long>(at) - 1),
                      *(begin + static_cast<long>(draw.below(at))));
          }
        }
        batch.insert(batch.end(), begin, end);
        all.erase(begin, end);
        if (all.empty()) break;
      }
      REQUIRE(name_all(gathered(batch, class_index), batch, class_index));
    }
    put_back(some, blocks, class_index);
    some.drop_spare(class_index);
  }
}

TEST_CASE("an address that is not a block, or comes twice, is never part of another run") {
  start_without_clock();
  constexpr size_class class_index =
      static_cast<size_class>(class_of(48)); // 16 bytes of a slice are left
  bin some;
  const std::vector<std::byte*> blocks =
      take_blocks(some, class_index, class_table[class_index].blocks);
  std::byte* const behind = blocks.front() + class_table[class_index].blocks * 48UL;
  int nowhere = 0;
  std::byte* const foreign = reinterpret_cast<std::byte*>(&nowhere);
  for (std::byte* const odd : {blocks[1] + 16, behind, foreign}) {
    const std::vector<std::byte*> batch{blocks[0], odd, blocks[1]};
    const std::vector<block_run> runs = gathered(batch, class_index);
    REQUIRE(runs.size() == 3);
    CHECK(runs[1].home == nullptr);
    CHECK(runs[1].begin == 1);
    CHECK(runs[1].count == 1);
    CHECK(named_by(runs[0], class_index) == std::vector{blocks[0]});
    CHECK(named_by(runs[2], class_index) == std::vector{blocks[1]});
  }
  for (const unsigned other : {0U, 1U, 2U, 3U, 4U, 5U}) {
    const std::vector<std::byte*> batch{blocks[0], blocks[1], blocks[2],    blocks[3],
                                        blocks[4], blocks[5], blocks[other]};
    CHECK(name_all(gathered(batch, class_index), batch, class_index));
    CHECK(gathered(batch, class_index).size() == 2);
  }
  put_back(some, blocks, class_index);
  some.drop_spare(class_index);
}

} // namespace
