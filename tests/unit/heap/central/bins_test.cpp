#include "heap/central/bins.hpp"

#include <csignal>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "heap/cache/caches.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

constexpr size_class of_64 = static_cast<size_class>(class_of(64));
constexpr std::size_t batch_blocks = class_table[of_64].batch;
constexpr std::size_t span_blocks = class_table[of_64].blocks;

/// Effects: as on a machine with many processors, from now on. Nothing is free in any bin.
void start_with_shards() {
  start_without_clock();
  the_options.shards = 3;
  choose_shards();
  use_shards(3);
  REQUIRE(shard_count() == 3);
  empty_own_cache();
  for (int pass = 0; pass < 2; ++pass) trim_bins();
  drop_spares();
}

std::size_t shard_of(const std::byte* block) { return the_space.span_at(block).shard.load(); }

TEST_CASE("each bin knows its shard, and so do its spans") {
  start_with_shards();
  for (std::size_t shard = 0; shard < 3; ++shard) {
    const std::vector<std::byte*> blocks = take_blocks(all_bins[shard][of_64], of_64, 200);
    REQUIRE(blocks.size() == 200);
    for (const std::byte* each : blocks) CHECK(shard_of(each) == shard);
    put_back_blocks(blocks.data(), blocks.size(), of_64);
  }
}

TEST_CASE("blocks of all shards go home, whichever bin is given them") {
  start_with_shards();
  std::vector<std::vector<std::byte*>> taken;
  for (bins& shard : std::span{all_bins}.first(3)) {
    taken.push_back(take_blocks(shard[of_64], of_64, 400));
  }
  std::vector<std::byte*> mixed; // no two neighbours of one shard
  for (std::size_t i = 0; i < 400; ++i) {
    for (const auto& blocks : taken) mixed.push_back(blocks[i]);
  }
  all_bins[1][of_64].put_back(mixed.data(), mixed.size(), of_64);
  for (bins& shard : std::span{all_bins}.first(3)) {
    CHECK(shard[of_64].free_blocks() % span_blocks == 0); // whole spans are free
    CHECK(shard[of_64].figures(of_64).spans * span_blocks == shard[of_64].free_blocks());
  }
  CHECK(free_bytes_in_spans() >= figures_of(of_64).free_blocks * 64);
}

TEST_CASE("batches of foreign blocks wait where there is room, and go home when trimmed") {
  start_with_shards();
  const std::vector<std::byte*> blocks = take_blocks(all_bins[2][of_64], of_64, 100 * batch_blocks);
  batch* full = new_batch(of_64);
  std::size_t whole = 0; // batches that wait
  for (std::size_t at = 0; at < blocks.size(); at += batch_blocks) {
    std::copy_n(blocks.begin() + static_cast<std::ptrdiff_t>(at), batch_blocks, full->blocks());
    flush_batch(0, full, of_64);
  }
  for (bins& shard : std::span{all_bins}.first(3)) whole += shard[of_64].stocked();
  CHECK(whole > all_bins[2][of_64].stocked()); // this thread's shard is another one, or it is full
  delete_batch(full, of_64);
  for (int pass = 0; pass < 2; ++pass) trim_bins();
  drop_spares();
  CHECK(figures_of(of_64).stocked_blocks == 0);
  CHECK(figures_of(of_64).spans == 0);
}

TEST_CASE("before a shard grows, one that has plenty helps out") {
  start_with_shards();
  const std::size_t many = (std::size_t{1} << 20) / 64;
  std::vector<std::vector<std::byte*>> kept;
  for (bins& shard : std::span{all_bins}.first(3)) { // half of what they have
    const std::vector<std::byte*> blocks = take_blocks(shard[of_64], of_64, many);
    std::vector<std::byte*> freed;
    std::vector<std::byte*> left;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      (i % 2 == 0 ? freed : left).push_back(blocks[i]);
    put_back(shard[of_64], freed, of_64);
    kept.push_back(left);
  }
  const std::size_t spans = figures_of(of_64).spans;
  std::vector<std::byte*> taken;
  batch* next = new_batch(of_64);
  while (taken.size() < many) { // more than the thread's own shard has
    const std::uint32_t count = refill_batch(0, next, of_64);
    REQUIRE(count > 0);
    taken.insert(taken.end(), next->blocks(), next->blocks() + count);
  }
  delete_batch(next, of_64);
  CHECK(figures_of(of_64).spans == spans);
  put_back_blocks(taken.data(), taken.size(), of_64);
  for (const auto& blocks : kept) put_back_blocks(blocks.data(), blocks.size(), of_64);
}

TEST_CASE("a block that is freed twice is seen by the bin that it belongs to") {
  start_with_shards();
  const contract::ending how = contract::in_child([] {
    std::vector<std::byte*> blocks = take_blocks(all_bins[2][of_64], of_64, 10);
    blocks.push_back(blocks[4]);
    all_bins[0][of_64].put_back(blocks.data(), blocks.size(), of_64);
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error.find("freed before") != std::string::npos);
}

TEST_CASE("pages of every shard are given back") {
  start_with_shards();
  const std::vector<std::byte*> blocks = take_blocks(all_bins[1][of_64], of_64, span_blocks);
  const std::vector<std::byte*> most(blocks.begin() + 1, blocks.end());
  put_back(all_bins[1][of_64], most, of_64);
  span& home = the_space.span_at(blocks[0]);
  CHECK(all_bins[0][of_64].purge_pages(home, of_64, true) == 0); // not its own
  CHECK(bin_of(home, of_64).purge_pages(home, of_64, true) > 0);
  put_back(all_bins[1][of_64], {blocks[0]}, of_64);
}

} // namespace
