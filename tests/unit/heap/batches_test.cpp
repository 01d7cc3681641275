#include "heap/batches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

constexpr size_class of_large = class_count; // few blocks in a batch: short paper

TEST_CASE("no two are the same, and those that came back are used first") {
  for (const size_class of : {size_class{1}, of_large}) {
    const std::size_t room = class_table[of].batch;
    std::vector<batch*> mine;
    std::set<batch*> distinct;
    for (int i = 0; i < 300; ++i) { // more than one piece of memory holds
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
    for (std::size_t i = 0; i < mine.size(); ++i) CHECK(distinct.erase(new_batch(of)) == 1);
    for (batch* each : mine) {
      CHECK(each->bottom == nullptr);
      delete_batch(each, of);
    }
  }
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
