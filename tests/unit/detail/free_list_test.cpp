#include <heapwise/detail/free_list.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/checking.hpp>

namespace {

using heapwise::detail::encoded_links;
using heapwise::detail::plain_links;

/// Blocks of one size that belong to nobody yet.
class blocks {
 public:
  blocks(std::size_t stride_bytes, std::size_t count)
      : words_{std::make_unique<void*[]>(stride_bytes / sizeof(void*) * count)} {
    for (std::size_t i = 0; i < count; ++i) {
      all_.push_back(words_.get() + i * (stride_bytes / sizeof(void*)));
    }
  }
  [[nodiscard]] const std::vector<void*>& all() const { return all_; }

 private:
  std::unique_ptr<void*[]> words_;
  std::vector<void*> all_;
};

/// A list and what it must hold, oldest first; the full nodes are at the front of it.
template <class Links>
struct twin {
  heapwise::detail::free_list<Links> list;
  std::vector<void*> model{};

  void push(void* block) {
    const std::size_t before = list.full_nodes();
    const bool grew = list.push(block);
    if (grew != (list.full_nodes() == before + 1)) FAIL("grew: ", grew, ", from ", before);
    model.push_back(block);
  }

  void* pop() {
    void* const block = list.pop();
    // A check of doctest would take longer than all else here.
    if (block != (model.empty() ? nullptr : model.back())) FAIL("another block than the last");
    if (block != nullptr) model.pop_back();
    if (list.empty() != model.empty()) FAIL("is empty: ", list.empty());
    return block;
  }

  [[nodiscard]] std::size_t in_full_nodes() const {
    return list.full_nodes() * list.blocks_per_node();
  }
};

/// Takes all full nodes from one list to another, and checks that exactly those arrived.
template <class Links>
void exchange(twin<Links>& from, twin<Links>& to) {
  const std::size_t full = from.in_full_nodes();
  const auto run = from.list.detach_full_nodes();
  REQUIRE(run.count == full / from.list.blocks_per_node());
  REQUIRE(from.in_full_nodes() == 0);
  const auto begin = from.model.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(full);
  const std::vector<void*> nodes{begin, end};
  from.model.erase(begin, end);
  const auto place = static_cast<std::ptrdiff_t>(to.in_full_nodes());
  to.list.attach_full_nodes(run);
  to.model.insert(to.model.begin() + place, nodes.begin(), nodes.end());
}

/// Random pushes, pops and exchanges between two lists, then everything is counted.
template <class Links>
void run_model(std::size_t stride_bytes, Links links, unsigned seed, int steps,
               std::size_t node_blocks_max = heapwise::detail::free_list<Links>::no_limit) {
  CAPTURE(stride_bytes);
  CAPTURE(node_blocks_max);
  CAPTURE(seed);
  std::mt19937 random{seed};
  const blocks memory{stride_bytes, 900};
  std::vector<void*> out = memory.all();
  twin<Links> one{heapwise::detail::free_list<Links>{stride_bytes, links, node_blocks_max}};
  twin<Links> two{heapwise::detail::free_list<Links>{stride_bytes, links, node_blocks_max}};
  REQUIRE(one.list.blocks_per_node() <= node_blocks_max);
  for (int step = 0; step < steps; ++step) {
    twin<Links>& here = random() % 2 == 0 ? one : two;
    twin<Links>& there = &here == &one ? two : one;
    const std::size_t amount = random() % (random() % 4 == 0 ? 400 : 12);
    switch (random() % 5) {
      case 0:
      case 1:
        for (std::size_t i = 0; i < amount && !out.empty(); ++i) {
          here.push(out.back());
          out.pop_back();
        }
        break;
      case 2:
      case 3:
        for (std::size_t i = 0; i < amount; ++i) {
          if (void* const block = here.pop(); block != nullptr) out.push_back(block);
        }
        break;
      default:
        exchange(here, there);
    }
  }
  for (twin<Links>* const each : {&one, &two}) {
    while (void* const block = each->pop()) out.push_back(block);
  }
  std::vector<void*> wanted = memory.all();
  std::sort(out.begin(), out.end());
  std::sort(wanted.begin(), wanted.end());
  REQUIRE(out == wanted);
}

TEST_CASE("the list is a stack for every stride, and nodes move whole") {
  for (std::size_t stride_bytes = 8; stride_bytes <= 512; stride_bytes += 8) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      run_model(stride_bytes, plain_links{}, seed, 60);
      run_model(stride_bytes, encoded_links{0x1234'5678'9ABC}, seed, 60);
    }
  }
}

TEST_CASE("nodes that may stand for few blocks only") {
  for (const std::size_t stride_bytes : std::initializer_list<std::size_t>{8, 16, 24, 64, 128}) {
    for (std::size_t node_blocks_max = 1; node_blocks_max <= 65; ++node_blocks_max) {
      run_model(stride_bytes, plain_links{}, 1, 60, node_blocks_max);
      run_model(stride_bytes, encoded_links{0x1234'5678'9ABC}, 2, 20, node_blocks_max);
    }
  }
  const auto blocks_per_node = [](std::size_t most) {
    return heapwise::detail::free_list<>{64, plain_links{}, most}.blocks_per_node();
  };
  for (const std::size_t each : {1u, 3u, 7u, 13u, 21u, 31u, 43u, 57u, 64u}) {
    CHECK(blocks_per_node(each) == each);
  }
  CHECK(blocks_per_node(2) == 1);
  CHECK(blocks_per_node(63) == 57);
}

TEST_CASE("filled to any level and emptied again") {
  for (const std::size_t stride_bytes : std::initializer_list<std::size_t>{8, 16, 24, 64, 128}) {
    const blocks memory{stride_bytes, 300};
    for (std::size_t level = 0; level <= 300; ++level) {
      twin<plain_links> one{heapwise::detail::free_list<plain_links>{stride_bytes}};
      for (std::size_t i = 0; i < level; ++i) one.push(memory.all()[i]);
      for (std::size_t i = 0; i < level; ++i) one.pop();
      CHECK(one.pop() == nullptr);
    }
  }
}

TEST_CASE("a node of 64-byte blocks stands for 64 of them") {
  CHECK(heapwise::detail::free_list<>{64}.blocks_per_node() == 64);
  CHECK(heapwise::detail::free_list<>{4096}.blocks_per_node() == 64); // one cache line is enough
  CHECK(heapwise::detail::free_list<>{8}.blocks_per_node() == 1);
  CHECK(heapwise::detail::free_list<encoded_links>{64, encoded_links{}}.blocks_per_node() == 1);
}

TEST_CASE("the hot block is known while it is out, and free only once") {
  const blocks owned{64, 3};
  heapwise::detail::free_list<plain_links> list{64};
  CHECK(!list.is_hot(nullptr));
  list.push(owned.all()[0]);
  list.push(owned.all()[1]);
  void* const hot = list.pop();
  CHECK(hot == owned.all()[1]);
  CHECK(list.is_hot(hot));
  CHECK(!list.is_hot(owned.all()[0]));
  CHECK(list.push_hot());
  CHECK(!list.push_hot()); // it is free already
  CHECK(list.pop() == hot);
  CHECK(list.pop() == owned.all()[0]);
  CHECK(list.pop() == nullptr);
}

TEST_CASE("the block that was freed last is handed out without a look at any block") {
  heapwise::detail::free_list<> list{64};
  void* const unmapped = reinterpret_cast<void*>(0x1000);
  list.push(unmapped);
  CHECK(list.pop() == unmapped);
}

} // namespace
