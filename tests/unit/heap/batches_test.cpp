#include "heap/batches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

constexpr size_class of_large = class_count; // few blocks in a batch: a short array

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

TEST_CASE("no two are the same, and those that came back are used before new memory") {
  for (const size_class of : {size_class{1}, of_large}) {
    const std::size_t room = class_table[of].batch;
    std::vector<batch*> mine;
    std::set<batch*> distinct;
    for (int i = 0; i < 1000; ++i) { // more than one piece of memory holds
      batch* const made = new_batch(of);
      REQUIRE(made != nullptr);
      CHECK(made->bottom == nullptr);
      std::fill_n(made->blocks(), room, reinterpret_cast<std::byte*>(made));
      mine.push_back(made);
      distinct.insert(made);
    }
    REQUIRE(distinct.size() == mine.size());
    for (batch* each : mine) {
      CHECK(std::all_of(each->blocks(), each->blocks() + room, [&](const std::byte* block) {
        return block == reinterpret_cast<const std::byte*>(each);
      }));
    }
    for (batch* each : mine) delete_batch(each, of);
    std::set<std::uintptr_t> pieces;
    for (batch*& each : mine) {
      each = new_batch(of);
      CHECK(each->bottom == nullptr);
      distinct.insert(each);
      pieces.insert(reinterpret_cast<std::uintptr_t>(each) / piece_bytes);
    }
    // Only a piece that was used in part has new ones.
    CHECK(distinct.size() <= mine.size() + piece_bytes / (sizeof(batch) + 8 * room));
    for (batch* each : mine) delete_batch(each, of);
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
      const size_class of = draw.below(2) == 0 ? size_class{1} : of_large;
      batch* const made = new_batch(of);
      REQUIRE(in_use.insert(made).second);
      REQUIRE(made->bottom == nullptr);
      std::fill_n(made->blocks(), class_table[of].batch, reinterpret_cast<std::byte*>(made));
      mine.emplace_back(made, of);
    } else {
      std::swap(mine[draw.below(mine.size())], mine.back());
      const auto [gone, of] = mine.back();
      mine.pop_back();
      for (std::size_t at = 0; at < class_table[of].batch; ++at) {
        REQUIRE(gone->blocks()[at] == reinterpret_cast<const std::byte*>(gone));
      }
      in_use.erase(gone);
      delete_batch(gone, of);
    }
    if (draw.below(300) == 0) trim_batches();
  }
  for (const auto& [each, of] : mine) delete_batch(each, of);
}

TEST_CASE("threads never share one") {
  stress::on_threads(4, [](std::size_t me) {
    const auto mark = reinterpret_cast<std::byte*>(me + 1);
    std::vector<batch*> mine;
    for (std::size_t round = 0; round < 200; ++round) {
      const size_class of = round % 2 == 0 ? size_class{1} : of_large;
      for (int i = 0; i < 8; ++i) {
        mine.push_back(new_batch(of));
        mine.back()->blocks()[0] = mark;
      }
      for (batch* each : mine) {
        if (each->blocks()[0] != mark) std::abort();
        delete_batch(each, of);
      }
      mine.clear();
    }
  });
}

} // namespace
