#include "heap/large/large_quarantine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

constexpr std::uint32_t most_slices = 32;

/// Records without memory: the quarantine looks at their lengths only.
struct held_blocks {
  held_spans<most_slices> held;
  std::vector<std::unique_ptr<span>> spans;
  std::mt19937 random{1};

  span& add(std::uint32_t slices) {
    spans.push_back(std::make_unique<span>());
    spans.back()->slices = slices;
    held.add(*spans.back());
    return *spans.back();
  }
  span& take() { return held.take(random() % held.older_half()); }
};

TEST_CASE("neither slices nor blocks exceed their limits, and each block leaves once") {
  held_blocks blocks;
  std::set<const span*> left;
  for (int each = 0; each < 1000; ++each) {
    blocks.add(static_cast<std::uint32_t>(1 + blocks.random() % held_spans<most_slices>::longest));
    while (blocks.held.has_excess()) CHECK(left.insert(&blocks.take()).second);
    std::size_t count = 0;
    std::uint32_t slices = 0;
    blocks.held.each([&](const span& one) {
      ++count;
      slices += one.slices;
    });
    CHECK(slices == blocks.held.slices());
    CHECK(slices <= most_slices);
    CHECK(count <= held_spans<most_slices>::most_spans);
    CHECK(count + left.size() == blocks.spans.size());
  }
}

TEST_CASE("a block that was just freed does not leave") {
  for (std::uint32_t slices = 1; slices <= held_spans<most_slices>::longest; ++slices) {
    held_blocks blocks;
    for (int each = 0; each < 200; ++each) {
      const span& newest = blocks.add(slices);
      while (blocks.held.has_excess()) REQUIRE(&blocks.take() != &newest);
    }
  }
}

TEST_CASE("which block leaves cannot be foreseen") {
  std::set<std::size_t> distances;
  held_blocks blocks;
  for (std::size_t each = 0; each < 2000; ++each) {
    blocks.add(1);
    if (!blocks.held.has_excess()) continue;
    const span& left = blocks.take();
    for (std::size_t at = 0; at < blocks.spans.size(); ++at) {
      if (blocks.spans[at].get() == &left) distances.insert(each - at);
    }
  }
  CHECK(distances.size() > held_spans<most_slices>::most_spans);
  CHECK(*distances.begin() >= held_spans<most_slices>::most_spans / 2);
}

} // namespace
