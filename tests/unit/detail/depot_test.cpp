#include <heapwise/detail/depot.hpp>

#include <algorithm>
#include <array>
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

template <class Links>
struct scene {
  using list = heapwise::detail::free_list<Links>;
  using depot = heapwise::detail::depot<Links>;

  scene(std::size_t stride_bytes, const Links& links)
      : stride{stride_bytes},
        empty{stride_bytes, links, 64},
        tested{empty, links},
        memory{std::make_unique<void*[]>(stride_bytes / sizeof(void*) * block_count)} {
    for (std::size_t i = 0; i < block_count; ++i) {
      out.push_back(memory.get() + i * (stride_bytes / sizeof(void*)));
    }
  }

  /// Returns: full nodes, at least one.
  typename list::nodes make_nodes() {
    list from = empty;
    while (from.full_nodes() == 0 || out.size() % 3 != 0) push_to(from);
    const auto run = from.detach_full_nodes();
    drain(from);
    return run;
  }
  void push_to(list& to) {
    to.push(out.back());
    out.pop_back();
  }
  void drain(list& from) {
    while (void* const block = from.pop()) out.push_back(block);
  }
  void take_back(typename list::nodes run) {
    list from = empty;
    from.attach_full_nodes(run);
    drain(from);
  }

  /// Returns: which of the blocks it is. Fails if it is none of them.
  [[nodiscard]] std::size_t index_of(const void* block) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(block) -
                                                 reinterpret_cast<const std::byte*>(memory.get()));
    if (offset % stride != 0 || offset / stride >= block_count) FAIL("not a block: ", offset);
    return offset / stride;
  }

  static constexpr std::size_t block_count = 2000;
  std::size_t stride;
  list empty;
  depot tested;
  std::unique_ptr<void*[]> memory;
  std::vector<void*> out; // of the depot
};

template <class Links>
void run_model(std::size_t stride_bytes, const Links& links, unsigned seed) {
  CAPTURE(stride_bytes);
  CAPTURE(seed);
  std::mt19937 random{seed};
  scene<Links> at{stride_bytes, links};
  std::array<int, scene<Links>::block_count> seen{}; // at which step last
  for (int step = 1; step <= 200; ++step) {
    switch (random() % 4) {
      case 0:
        if (at.out.size() > 400) at.tested.give(at.make_nodes());
        break;
      case 1:
        for (std::size_t i = random() % 200; i > 0 && !at.out.empty(); --i) {
          at.tested.give(at.out.back());
          at.out.pop_back();
        }
        break;
      case 2: {
        const std::size_t count = random() % 6;
        const auto run = at.tested.take(count);
        REQUIRE(run.count <= count);
        at.take_back(run);
        break;
      }
      default:
        if (void* const block = at.tested.take_loose(); block != nullptr) at.out.push_back(block);
    }
    std::size_t twice = 0;
    std::size_t visits = 0;
    const auto see = [&](void* block) {
      int& last_step = seen[at.index_of(block)];
      twice += last_step == step ? 1 : 0;
      last_step = step;
      ++visits;
    };
    for (void* const block : at.out) see(block);
    at.tested.visit(see);
    REQUIRE(twice == 0);
    REQUIRE(visits == at.block_count);
  }
}

TEST_CASE("no block is lost or there twice") {
  for (const std::size_t stride_bytes : std::initializer_list<std::size_t>{8, 16, 32, 64, 128}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      run_model(stride_bytes, plain_links{}, seed);
      run_model(stride_bytes, encoded_links{0x1234'5678'9ABC}, seed);
    }
  }
}

TEST_CASE("the only node that was given is taken whole, and so is the last of several") {
  scene<plain_links> at{64, {}};
  for (std::size_t count = 1; count <= 3; ++count) {
    for (std::size_t i = 0; i < count; ++i) at.tested.give(at.make_nodes());
    for (std::size_t i = 0; i < count; ++i) {
      const auto run = at.tested.take(1);
      CHECK(run.count == 1);
      at.take_back(run);
    }
    CHECK(at.tested.take(1).count == 0);
    CHECK(at.tested.take_loose() == nullptr);
  }
}

TEST_CASE("blocks that come one by one leave as nodes") {
  scene<plain_links> at{64, {}};
  const std::size_t per_node = at.empty.blocks_per_node();
  for (std::size_t i = 0; i < 2 * per_node + 2; ++i) {
    at.tested.give(at.out.back());
    at.out.pop_back();
  }
  CHECK(at.tested.take(5).count == 2);
}

} // namespace
