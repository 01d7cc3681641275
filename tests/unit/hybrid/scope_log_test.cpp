#include <heapwise/hybrid/detail/scope_log.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::fake_blocks;
using namespace heapwise::detail::hybrids;

void* block(std::uintptr_t number) { return reinterpret_cast<void*>(number * 32); }

TEST_CASE("scopes nest: each gives back its own, last noted first") {
  fake_blocks source;
  chunk_map memory{source};
  scope_log log;
  CHECK_FALSE(log.open());
  REQUIRE(log.begin(memory));
  REQUIRE(log.note(block(1), memory));
  REQUIRE(log.note(block(2), memory));
  REQUIRE(log.begin(memory));
  REQUIRE(log.note(block(3), memory));
  CHECK(log.depth() == 2);
  CHECK(log.take() == block(3));
  CHECK(log.take() == nullptr);
  CHECK(log.depth() == 1);
  CHECK(log.take() == block(2));
  CHECK(log.take() == block(1));
  CHECK(log.take() == nullptr);
  CHECK_FALSE(log.open());
  log.clear(memory);
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("a block that was struck out is given back by nobody") {
  fake_blocks source;
  chunk_map memory{source};
  scope_log log;
  CHECK_FALSE(log.strike(block(1)));
  REQUIRE(log.begin(memory));
  for (std::uintptr_t i = 1; i <= 5; ++i) REQUIRE(log.note(block(i), memory));
  REQUIRE(log.begin(memory));
  CHECK(log.strike(block(3))); // of the outer scope, while an inner one is open
  CHECK_FALSE(log.strike(block(3)));
  CHECK(log.strike(block(5)));
  REQUIRE(log.note(block(3), memory)); // the same block again, in the inner one
  CHECK(log.take() == block(3));
  CHECK(log.take() == nullptr);
  CHECK(log.take() == block(4));
  CHECK(log.take() == block(2));
  CHECK(log.take() == block(1));
  CHECK(log.take() == nullptr);
  log.clear(memory);
}

TEST_CASE("a scope that allocates and frees for ever does not grow") {
  fake_blocks source;
  chunk_map memory{source};
  scope_log log;
  REQUIRE(log.begin(memory));
  constexpr std::uintptr_t live = 40;
  for (std::uintptr_t i = 1; i <= 100'000; ++i) {
    REQUIRE(log.note(block(i), memory));
    if (i > live) REQUIRE(log.strike(block(i - live))); // first noted, first freed
  }
  CHECK(source.bytes_out() < 10'000);
  std::size_t left = 0;
  while (log.take() != nullptr) ++left;
  CHECK(left == live);
  log.clear(memory);
}

TEST_CASE("random scopes against a model") {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    fake_blocks source;
    chunk_map memory{source};
    scope_log log;
    std::mt19937 draw{seed};
    std::vector<std::vector<std::uintptr_t>> scopes;
    std::uintptr_t next = 1;
    for (int step = 0; step < 50'000; ++step) {
      const auto what = draw() % 100;
      if (scopes.empty() || (what < 2 && scopes.size() < 5)) {
        REQUIRE(log.begin(memory));
        scopes.emplace_back();
      } else if (what == 2) {
        for (; !scopes.back().empty(); scopes.back().pop_back()) {
          REQUIRE(log.take() == block(scopes.back().back()));
        }
        REQUIRE(log.take() == nullptr);
        scopes.pop_back();
      } else if (what < 60) {
        REQUIRE(log.note(block(next), memory));
        scopes.back().push_back(next++);
      } else {
        auto& some = scopes[draw() % scopes.size()];
        if (some.empty()) continue;
        const auto position = some.begin() + static_cast<std::ptrdiff_t>(draw() % some.size());
        REQUIRE(log.strike(block(*position)));
        some.erase(position);
      }
      REQUIRE(log.depth() == scopes.size());
    }
    log.clear(memory);
    CHECK(source.pieces_out() == 0);
  }
}

TEST_CASE("without memory nothing is noted, and nothing is lost") {
  fake_blocks source;
  chunk_map memory{source};
  scope_log log;
  source.fail_after(0);
  CHECK_FALSE(log.begin(memory));
  CHECK_FALSE(log.open());
  source.fail_after(1);
  REQUIRE(log.begin(memory));
  std::uintptr_t noted = 0;
  while (log.note(block(noted + 1), memory)) ++noted;
  CHECK(noted > 50);
  for (; noted > 0; --noted) REQUIRE(log.take() == block(noted));
  CHECK(log.take() == nullptr);
  log.clear(memory);
}

} // namespace
