#include "heap/central/batches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heap/base/options.hpp"
#include "heap/base/shards.hpp"
#include "heap/central/bins.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

constexpr size_class of_large = class_count; // few blocks in a batch: a short array

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

TEST_CASE("no two are the same, and those that came back are used before new memory") {
  for (const size_class class_index : {size_class{1}, of_large}) {
    const std::size_t room = class_table[class_index].batch;
    std::vector<batch*> mine;
    std::set<batch*> distinct;
    for (int i = 0; i < 1000; ++i) { // more than one piece of memory holds
      batch* const fresh_batch = new_batch(class_index);
      REQUIRE(fresh_batch != nullptr);
      CHECK(fresh_batch->bottom == nullptr);
      std::fill_n(fresh_batch->blocks(), room, reinterpret_cast<std::byte*>(fresh_batch));
      mine.push_back(fresh_batch);
      distinct.insert(fresh_batch);
    }
    REQUIRE(distinct.size() == mine.size());
    for (batch* each : mine) {
      CHECK(std::all_of(each->blocks(), each->blocks() + room, [&](const std::byte* block) {
        return block == reinterpret_cast<const std::byte*>(each);
      }));
    }
    for (batch* each : mine) delete_batch(each, class_index);
    std::set<std::uintptr_t> pieces;
    for (batch*& each : mine) {
      each = new_batch(class_index);
      CHECK(each->bottom == nullptr);
      distinct.insert(each);
      pieces.insert(reinterpret_cast<std::uintptr_t>(each) / piece_bytes);
    }
    // Only a piece that was used in part has new ones.
    CHECK(distinct.size() <= mine.size() + piece_bytes / (sizeof(batch) + 8 * room));
    for (batch* each : mine) delete_batch(each, class_index);
    CHECK(unused_batch_bytes() / piece_bytes >= pieces.size() - 1);
    trim_batches();
    CHECK(trim_batches() / piece_bytes >= pieces.size() - 1);
    CHECK(unused_batch_bytes() == 0);
  }
}

TEST_CASE("memory that is needed again and again is not given back") {
  std::vector<batch*> mine(200);
  const auto use = [&] {
    for (batch*& each : mine) each = new_batch(1);
    for (batch* each : mine) delete_batch(each, 1);
  };
  for (int round = 0; round < 2; ++round) { // what earlier tests left goes back
    use();
    trim_batches();
  }
  for (int round = 0; round < 3; ++round) {
    use();
    CHECK(unused_batch_bytes() > 0);
    CHECK(trim_batches() == 0);
  }
  CHECK(trim_batches() > 0);
}

TEST_CASE("a long random history of both sizes: none is handed out twice") {
  stress::random draw{5};
  std::vector<std::pair<batch*, size_class>> mine;
  std::set<batch*> in_use;
  for (int step = 0; step < 30'000; ++step) {
    const bool shrinks = step / 3000 % 2 == 1;
    if (mine.empty() || draw.below(10) < (shrinks ? 3 : 7)) {
      const size_class class_index = draw.below(2) == 0 ? size_class{1} : of_large;
      batch* const fresh_batch = new_batch(class_index);
      REQUIRE(in_use.insert(fresh_batch).second);
      REQUIRE(fresh_batch->bottom == nullptr);
      std::fill_n(fresh_batch->blocks(), class_table[class_index].batch,
                  reinterpret_cast<std::byte*>(fresh_batch));
      mine.emplace_back(fresh_batch, class_index);
    } else {
      std::swap(mine[draw.below(mine.size())], mine.back());
      const auto [old_batch, class_index] = mine.back();
      mine.pop_back();
      for (std::size_t at = 0; at < class_table[class_index].batch; ++at) {
        REQUIRE(old_batch->blocks()[at] == reinterpret_cast<const std::byte*>(old_batch));
      }
      in_use.erase(old_batch);
      delete_batch(old_batch, class_index);
    }
    if (draw.below(300) == 0) trim_batches();
  }
  for (const auto& [each, class_index] : mine) delete_batch(each, class_index);
}

TEST_CASE("threads never share one") {
  stress::on_threads(4, [](std::size_t me) {
    const auto mark = reinterpret_cast<std::byte*>(me + 1);
    std::vector<batch*> mine;
    for (std::size_t round = 0; round < 200; ++round) {
      const size_class class_index = round % 2 == 0 ? size_class{1} : of_large;
      for (int i = 0; i < 8; ++i) {
        mine.push_back(new_batch(class_index));
        mine.back()->blocks()[0] = mark;
      }
      for (batch* each : mine) {
        if (each->blocks()[0] != mark) std::abort();
        delete_batch(each, class_index);
      }
      mine.clear();
    }
  });
}

TEST_CASE("batches of two shards lie in different memory, and go back to where they are of") {
  the_options.shards = 2;
  choose_shards();
  use_shards(2);
  REQUIRE(shard_count() == 2);
  batch* const of_first = new_batch(of_large, 0);
  batch* const of_second = new_batch(of_large, 1);
  REQUIRE(of_first != nullptr);
  REQUIRE(of_second != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(of_first) / piece_bytes !=
        reinterpret_cast<std::uintptr_t>(of_second) / piece_bytes);
  delete_batch(of_second, of_large);
  delete_batch(of_first, of_large);
  CHECK(new_batch(of_large, 1) == of_second);
  CHECK(new_batch(of_large, 0) == of_first);
  delete_batch(of_first, of_large);
  delete_batch(of_second, of_large);
}

} // namespace
