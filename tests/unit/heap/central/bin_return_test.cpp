#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "heap/central/bin.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

/// Returns: whether the map of its span says that a block is free.
bool is_home(const std::byte* block, size_class class_index) {
  const span& home = the_space.span_at(block);
  const auto offset = static_cast<std::size_t>(block - the_space.begin_of(home));
  return home.free_map.test(static_cast<std::uint32_t>(offset / class_table[class_index].bytes));
}

std::size_t count_home(const std::vector<std::byte*>& blocks, size_class class_index) {
  return static_cast<std::size_t>(std::count_if(
      blocks.begin(), blocks.end(), [&](std::byte* each) { return is_home(each, class_index); }));
}

/// Effects: moves a piece of `all` to the end of a batch: in order, in the reverse one, or mixed.
void move_piece(std::vector<std::byte*>& all, std::vector<std::byte*>& batch,
                stress::random& draw) {
  const std::size_t first = draw.below(all.size());
  const std::size_t count = std::min(1 + draw.below(70), all.size() - first);
  const auto begin = all.begin() + static_cast<long>(first);
  const auto end = begin + static_cast<long>(count);
  if (draw.below(3) == 0) std::reverse(begin, end);
  if (draw.below(3) == 0) {
    for (std::size_t at = count; at > 1; --at) {
      std::swap(*(begin + static_cast<long>(at) - 1), *(begin + static_cast<long>(draw.below(at))));
    }
  }
  batch.insert(batch.end(), begin, end);
  all.erase(begin, end);
}

/// Effects: takes one block of each span out of `blocks`. Returns: these.
std::vector<std::byte*> take_one_of_each_span(std::vector<std::byte*>& blocks) {
  std::vector<std::byte*> taken;
  std::vector<std::byte*> left;
  std::set<const span*> seen;
  for (std::byte* const each : blocks) {
    (seen.insert(&the_space.span_at(each)).second ? taken : left).push_back(each);
  }
  blocks = left;
  return taken;
}

/// Returns: how often a part is in the text.
std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("blocks in order, upwards and downwards, all come back to their span") {
  start_without_clock();
  for (const size_class class_index : {size_class{1}, size_class{3}, size_class{11}, class_count}) {
    CAPTURE(class_table[class_index].bytes);
    bin some;
    std::vector<std::byte*> blocks =
        take_blocks(some, class_index, 3 * class_table[class_index].blocks);
    for (const bool upwards : {true, false}) {
      CAPTURE(upwards);
      put_back(some, {blocks.begin(), blocks.end() - 1}, class_index);
      CHECK(count_home(blocks, class_index) == blocks.size() - 1);
      CHECK(some.is_sound(class_index));
      std::vector<std::byte*> again = take_blocks(some, class_index, blocks.size() - 1);
      again.push_back(blocks.back());
      CHECK(count_home(again, class_index) == 0);
      std::sort(again.begin(), again.end());
      if (upwards) std::reverse(again.begin(), again.end());
      blocks = again;
    }
    put_back(some, blocks, class_index);
    some.drop_spare(class_index);
  }
}

TEST_CASE("blocks in any order come back, and no other block is free then") {
  start_without_clock();
  for (const size_class class_index :
       {size_class{1}, size_class{3}, size_class{11}, size_class{30}, class_count}) {
    CAPTURE(class_table[class_index].bytes);
    bin some;
    std::vector<std::byte*> blocks =
        take_blocks(some, class_index, 3 * class_table[class_index].blocks);
    const std::vector<std::byte*> held = take_one_of_each_span(blocks); // so that none leaves
    stress::random draw{class_index};
    for (int round = 0; round < 60; ++round) {
      std::vector<std::byte*> kept = blocks;
      std::vector<std::byte*> batch;
      for (std::size_t left = 1 + draw.below(6); left > 0 && !kept.empty(); --left) {
        move_piece(kept, batch, draw);
      }
      const std::size_t free_before = some.free_blocks();
      put_back(some, batch, class_index);
      REQUIRE(some.free_blocks() == free_before + batch.size());
      REQUIRE(count_home(batch, class_index) == batch.size());
      REQUIRE(count_home(kept, class_index) == 0);
      REQUIRE(count_home(held, class_index) == 0);
      REQUIRE(some.is_sound(class_index));
      const std::vector<std::byte*> again = take_blocks(some, class_index, batch.size());
      blocks = kept;
      blocks.insert(blocks.end(), again.begin(), again.end());
    }
    put_back(some, blocks, class_index);
    put_back(some, held, class_index);
    some.drop_spare(class_index);
  }
}

TEST_CASE("an address that is not a block, or comes twice, is told, and its neighbours come back") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    the_options.invalid_free = when_invalid::warn;
    constexpr auto of_48 = static_cast<size_class>(class_of(48)); // 16 bytes of a slice are left
    bin& home = the_bins[of_48];
    const std::vector<std::byte*> blocks = take_blocks(home, of_48, class_table[of_48].blocks);
    std::byte* const behind = blocks.front() + class_table[of_48].blocks * 48UL;
    int nowhere = 0;
    const std::vector<std::byte*> odd_ones{blocks[1] + 16, behind,
                                           reinterpret_cast<std::byte*>(&nowhere)};
    std::size_t expected = home.free_blocks();
    // In each place of the ways back: single ones, neighbours in any order, neighbours in order.
    for (std::byte* const odd : odd_ones) {
      for (const std::size_t distance : {std::size_t{1}, std::size_t{2}, std::size_t{70}}) {
        for (std::size_t place = 0; place < 10; ++place) {
          std::vector<std::byte*> valid;
          for (std::size_t i = 0; i < 9; ++i) valid.push_back(blocks[i * distance]);
          std::vector<std::byte*> batch = valid;
          batch.insert(batch.begin() + static_cast<long>(place), odd);
          put_back(home, batch, of_48);
          expected += 9;
          if (home.free_blocks() != expected || count_home(valid, of_48) != 9) ::_exit(1);
          const std::vector<std::byte*> again = take_blocks(home, of_48, 9);
          expected -= 9;
          if (home.free_blocks() != expected || !home.is_sound(of_48)) ::_exit(2);
        }
      }
    }
    // The same block again, right behind itself or later.
    for (std::size_t other = 0; other < 9; ++other) {
      for (const std::size_t distance : {std::size_t{1}, std::size_t{2}, std::size_t{70}}) {
        std::vector<std::byte*> batch;
        for (std::size_t i = 0; i < 9; ++i) batch.push_back(blocks[i * distance]);
        batch.push_back(batch[other]);
        put_back(home, batch, of_48);
        if (home.free_blocks() != expected + 9) ::_exit(3);
        if (take_blocks(home, of_48, 9).size() != 9 || !home.is_sound(of_48)) ::_exit(4);
      }
    }
    ::_exit(0);
  });
  CHECK(how.exit_code == 0);
  CHECK(count_in(how.error, "freed before") == 27);
  CHECK(count_in(how.error, "inside of a block") == 60);
  CHECK(count_in(how.error, "not an address of this heap") == 30);
}

} // namespace
