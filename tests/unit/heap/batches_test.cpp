#include "heap/batches.hpp"

#include <cstddef>
#include <cstring>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

TEST_CASE("no two are the same, and those that came back are used first") {
  std::vector<batch*> mine;
  std::set<batch*> distinct;
  for (int i = 0; i < 300; ++i) { // more than one piece of memory holds
    batch* const made = new_batch();
    REQUIRE(made != nullptr);
    made->blocks.fill(reinterpret_cast<std::byte*>(made));
    mine.push_back(made);
    distinct.insert(made);
  }
  REQUIRE(distinct.size() == mine.size());
  bool intact = true;
  for (const batch* each : mine) {
    for (const std::byte* block : each->blocks) {
      intact = intact && block == reinterpret_cast<const std::byte*>(each);
    }
  }
  CHECK(intact);
  for (batch* each : mine) delete_batch(each);
  for (std::size_t i = 0; i < mine.size(); ++i) CHECK(distinct.erase(new_batch()) == 1);
  for (batch* each : mine) delete_batch(each);
}

TEST_CASE("threads never share one") {
  stress::on_threads(4, [](std::size_t me) {
    std::vector<batch*> mine;
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 8; ++i) {
        mine.push_back(new_batch());
        mine.back()->blocks[0] = reinterpret_cast<std::byte*>(me + 1);
      }
      for (batch* each : mine) {
        if (each->blocks[0] != reinterpret_cast<std::byte*>(me + 1)) std::abort();
        delete_batch(each);
      }
      mine.clear();
    }
  });
}

} // namespace
