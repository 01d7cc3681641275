#include <heapwise/detail/block_stack.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/checking.hpp>

namespace {

using heapwise::detail::block_stack;
using heapwise::detail::encoded_links;
using heapwise::detail::plain_links;

struct block {
  void* word;
};

/// A stack and what it must hold, oldest first.
template <class Links>
struct twin {
  block_stack<Links> stack;
  std::vector<void*> model{};

  void push(void* freed) {
    // A check of doctest would take longer than all else here.
    if (stack.is_last(freed)) {
      if (!stack.push_last()) FAIL("the last block is refused");
      if (stack.push_last()) FAIL("the last block is taken twice");
    } else {
      if (!stack.push(freed)) FAIL("a block is refused");
      if (stack.push(freed)) FAIL("a block is taken twice");
    }
    model.push_back(freed);
    if (!stack.is_top(freed)) FAIL("what was freed is not the top");
  }

  void* pop() {
    void* const taken = stack.pop();
    if (taken != (model.empty() ? nullptr : model.back())) FAIL("another block than the last");
    if (taken == nullptr) return nullptr;
    model.pop_back();
    if (stack.is_top(taken)) FAIL("what was taken is still the top");
    if (!model.empty() && !stack.is_top(model.back())) FAIL("what is below is not the top");
    return taken;
  }

  void check_contents() {
    REQUIRE(stack.empty() == model.empty());
    std::vector<void*> seen;
    stack.visit([&](void* each) { seen.push_back(each); });
    std::vector<void*> wanted = model;
    std::sort(seen.begin(), seen.end());
    std::sort(wanted.begin(), wanted.end());
    REQUIRE(seen == wanted);
  }
};

/// Runs of random length up and down, some of them of one block.
template <class Links>
void run_model(Links links, unsigned seed) {
  CAPTURE(seed);
  std::mt19937 random{seed};
  std::array<block, 300> memory{};
  twin<Links> tested{block_stack<Links>{links}};
  std::vector<void*> out;
  for (block& each : memory) out.push_back(&each);
  for (int step = 0; step < 300; ++step) {
    const std::size_t amount = random() % 3 == 0 ? 1 : random() % 100;
    const bool frees = random() % 2 == 0;
    for (std::size_t i = 0; i < amount; ++i) {
      if (!frees) {
        if (void* const taken = tested.pop(); taken != nullptr) {
          static_cast<block*>(taken)->word = &out;
          out.push_back(taken);
        }
      } else if (!out.empty()) {
        std::swap(out[random() % out.size()], out.back());
        tested.push(out.back());
        out.pop_back();
      }
      // The user writes to what it has: at once to what it was handed, now and then to all.
      if (i % 16 != 0) continue;
      for (void* const each : out) static_cast<block*>(each)->word = &out;
    }
    tested.check_contents();
  }
}

TEST_CASE("blocks come back last in, first out") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    run_model(plain_links{}, seed);
    run_model(encoded_links{0x1234'5678'9ABC}, seed);
  }
}

TEST_CASE("the block taken last is known until it comes back or another was added behind it") {
  std::array<block, 3> memory{};
  block_stack<> stack;
  CHECK_FALSE(stack.is_last(nullptr));
  for (block& each : memory) stack.push(&each);
  CHECK_FALSE(stack.is_last(&memory[2]));
  CHECK(stack.pop() == &memory[2]);
  CHECK(stack.is_last(&memory[2]));
  CHECK_FALSE(stack.is_top(&memory[2]));
  CHECK(stack.push_last());
  CHECK(stack.is_top(&memory[2]));
  CHECK(stack.pop() == &memory[2]);
  CHECK(stack.pop() == &memory[1]);
  stack.push(&memory[2]);
  CHECK(stack.is_last(&memory[1]));
  CHECK(stack.push_last());
  CHECK(stack.pop() == &memory[1]);
  CHECK(stack.pop() == &memory[2]);
  CHECK(stack.pop() == &memory[0]);
  CHECK(stack.pop() == nullptr);
}

} // namespace
