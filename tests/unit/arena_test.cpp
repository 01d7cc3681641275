#include <heapwise/arena.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/adapt/memory_resource.hpp>

#include "stress/threads.hpp"

namespace {

using heapwise::arena;
using heapwise::fake_blocks;

TEST_CASE("a block is aligned, overlaps no other, and keeps its contents until a reset") {
  fake_blocks source;
  arena some{source};
  stress::random draw{1};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::byte*, std::size_t>> live;
    for (int i = 0; i < 3000; ++i) {
      const std::size_t size = draw.below(100) == 0 ? draw.below(300'000) : draw.below(200);
      const std::size_t alignment = std::size_t{1} << draw.below(9);
      auto* const memory = static_cast<std::byte*>(some.allocate(size, alignment));
      REQUIRE(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
      std::memset(memory, i & 0xff, size);
      live.emplace_back(memory, size);
    }
    bool intact = true;
    for (std::size_t i = 0; i < live.size(); ++i) {
      const auto& [memory, size] = live[i];
      for (std::size_t at = 0; at < size; ++at) {
        intact = intact && memory[at] == static_cast<std::byte>(i & 0xff);
      }
    }
    CHECK(intact);
    some.reset();
  }
}

TEST_CASE("blocks follow each other, and come again at the same places after a reset") {
  arena some;
  std::array<void*, 1000> first{};
  for (void*& each : first) each = some.allocate(16);
  for (std::size_t i = 1; i < first.size(); ++i) {
    REQUIRE(static_cast<std::byte*>(first[i]) == static_cast<std::byte*>(first[i - 1]) + 16);
  }
  const std::size_t reserved = some.reserved_bytes();
  some.reset();
  for (void* each : first) REQUIRE(some.allocate(16) == each);
  CHECK(some.reserved_bytes() == reserved);
}

TEST_CASE("chunks are kept by a reset, and go back by a release and at the end") {
  fake_blocks source;
  {
    arena some{source, 4096};
    CHECK(source.requests() == 0);
    for (int i = 0; i < 10'000; ++i) static_cast<void>(some.allocate(100));
    const std::size_t requests = source.requests();
    CHECK(requests > 3);
    CHECK(requests < 30); // they grow
    CHECK(some.reserved_bytes() == source.bytes_out());
    some.reset();
    for (int i = 0; i < 10'000; ++i) static_cast<void>(some.allocate(100));
    CHECK(source.requests() == requests);
    some.release();
    CHECK(source.bytes_out() == 0);
    CHECK(some.reserved_bytes() == 0);
    CHECK(some.try_allocate(1) != nullptr);
    CHECK(source.pieces_out() == 1);
  }
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("a chunk left by a reset that is too small is kept for later") {
  fake_blocks source;
  arena some{source, 4096};
  static_cast<void>(some.allocate(2000));
  some.reset();
  static_cast<void>(some.allocate(100'000));
  static_cast<void>(some.allocate(100'000));
  const std::size_t reserved = some.reserved_bytes();
  some.reset();
  for (int round = 0; round < 2; ++round) {
    static_cast<void>(some.allocate(100'000));
    static_cast<void>(some.allocate(100'000));
    some.reset();
  }
  CHECK(some.reserved_bytes() == reserved);
}

/// Effects: runs frames, each of which is a list of sizes, with a reset before each.
/// Returns: the largest quotient of reserved bytes and bytes of the largest frame so far, of the
/// frames from `first_counted` on. Before that, a single chunk may be larger than a frame.
template <class Sizes>
double worst_ratio(arena& some, int frames, int first_counted, const Sizes& sizes_of) {
  std::size_t largest = 0;
  double worst = 0;
  for (int frame = 0; frame < frames; ++frame) {
    some.reset();
    std::size_t sum = 0;
    for (const std::size_t size : sizes_of(frame)) {
      static_cast<void>(some.allocate(size));
      sum += size;
    }
    largest = std::max(largest, sum);
    const double ratio = static_cast<double>(some.reserved_bytes()) / static_cast<double>(largest);
    if (frame >= first_counted) worst = std::max(worst, ratio);
  }
  return worst;
}

TEST_CASE("frames of unequal requests: what is reserved stays near the largest frame") {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = 1024 * kib;
  fake_blocks source;
  arena powers{source};
  std::mt19937 random{1}; // the same numbers with every library
  CHECK(worst_ratio(powers, 1000, 10, [&](int) {
          std::array<std::size_t, 20> sizes{};
          for (std::size_t& each : sizes) each = (64 * kib << random() % 9) + random() % 4096;
          return sizes;
        }) < 1.5);
  CHECK(powers.reserved_bytes() == source.bytes_out());
  arena mixed;
  random.seed(1);
  CHECK(worst_ratio(mixed, 1000, 10, [&](int) {
          std::array<std::size_t, 20> sizes{};
          for (std::size_t& each : sizes) {
            const bool large = random() % 10 == 0;
            each = large ? (4 + random() % 16) * mib : random() % (256 * kib);
          }
          return sizes;
        }) < 1.5);
  arena growing; // each frame needs a little more than the one before
  CHECK(worst_ratio(growing, 1000, 10, [&](int frame) {
          return std::array{5 * mib + static_cast<std::size_t>(frame) * 16 * kib};
        }) < 1.1);
}

/// The most bytes that were out at once.
class peak_blocks final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    took(size_bytes);
    return heapwise::os_blocks().allocate(size_bytes, alignment);
  }
  void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                std::size_t alignment) noexcept override {
    void* const larger = heapwise::os_blocks().enlarge(memory, size_bytes, larger_bytes, alignment);
    if (larger != nullptr) took(larger_bytes - size_bytes);
    return larger;
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    out_ -= size_bytes;
    heapwise::os_blocks().deallocate(memory, size_bytes, alignment);
  }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }

 private:
  void took(std::size_t bytes) noexcept { most_ = std::max(most_, out_ += bytes); }
  std::size_t out_ = 0;
  std::size_t most_ = 0;
};

TEST_CASE("frames that grow do not need the old memory and the new at once") {
  peak_blocks source;
  arena some{source};
  std::size_t bytes = 0;
  for (bytes = 1'000'000; bytes < 2'000'000; bytes += 50'000) {
    some.reset();
    std::memset(some.allocate(bytes), 1, bytes);
  }
  CHECK(static_cast<double>(source.most()) < 1.1 * static_cast<double>(bytes));
}

TEST_CASE("a large request leaves the chunk in use if that has more room") {
  fake_blocks source;
  arena some{source};
  auto* const first = static_cast<std::byte*>(some.allocate(32));
  static_cast<void>(some.allocate(1'000'000));
  CHECK(some.allocate(32) == first + 32);
  const arena::marker here = some.mark();
  void* const next = some.allocate(32);
  auto* const large = static_cast<std::byte*>(some.allocate(2'000'000));
  std::memset(large, 1, 2'000'000);
  CHECK(some.allocate(32) == first + 96);
  const std::size_t requests = source.requests();
  for (int round = 0; round < 3; ++round) {
    some.rewind(here);
    CHECK(some.allocate(32) == next);
    CHECK(some.allocate(2'000'000) == large); // the chunk was free again
    CHECK(some.allocate(32) == first + 96);
  }
  CHECK(source.requests() == requests);
  static_cast<void>(some.allocate(200'000)); // fits into neither
  CHECK(source.requests() == requests + 1);
}

TEST_CASE("a frame like an earlier one needs nothing from the source") {
  fake_blocks source;
  arena some{source, 4096};
  stress::random draw{3};
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 300; ++i) sizes.push_back(draw.below(8) == 0 ? draw.below(90'000) : 100);
  for (int frame = 0; frame < 4; ++frame) {
    for (const std::size_t size : sizes) REQUIRE(some.try_allocate(size) != nullptr);
    source.fail_after(0);
    some.reset();
  }
}

TEST_CASE(
    "when the source refuses a chunk of all, the request alone is tried, and no chunk is lost") {
  alignas(64) static std::array<std::byte, 64 * 1024> buffer;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  arena some{source, 16 * 1024};
  static_cast<void>(some.allocate(15'000));
  static_cast<void>(some.allocate(35'000)); // leaves 14 KiB of the buffer
  some.reset();
  CHECK(some.try_allocate(40'000) == nullptr);
  CHECK(some.try_allocate(15'000) != nullptr);
  CHECK(some.try_allocate(25'000) != nullptr);
  CHECK(some.try_allocate(10'000) != nullptr); // a usual chunk would be 16 KiB
}

TEST_CASE("the first chunk is as large as asked for, and those behind it may be as well") {
  constexpr std::size_t mib = std::size_t{1} << 20;
  fake_blocks source;
  arena some{source, 64 * mib};
  static_cast<void>(some.allocate(1));
  CHECK(some.reserved_bytes() == 64 * mib);
  static_cast<void>(some.allocate(63 * mib));
  CHECK(source.requests() == 1);
  static_cast<void>(some.allocate(2 * mib));
  CHECK(some.reserved_bytes() == 128 * mib);
  arena small{source, 4096};
  for (int i = 0; i < 40; ++i) static_cast<void>(small.allocate(mib));
  CHECK(small.reserved_bytes() < 60 * mib); // chunks that grow stop at 4 MiB
}

TEST_CASE("without memory it says so, and what there was stays usable") {
  fake_blocks source;
  arena some{source};
  auto* const kept = static_cast<unsigned char*>(some.allocate(100));
  kept[99] = 7;
  source.fail_after(0);
  CHECK(some.try_allocate(1'000'000) == nullptr);
  CHECK_THROWS_AS(static_cast<void>(some.allocate(1'000'000)), std::bad_alloc);
  CHECK(kept[99] == 7);
  CHECK(some.try_allocate(100) != nullptr); // there is room in the chunk
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size : {most, most - 16, most - 4096, most / 2 + 1}) {
    CHECK(some.try_allocate(size) == nullptr);
  }
  CHECK(some.try_allocate(16, std::size_t{1} << 62) == nullptr);
}

TEST_CASE("objects are constructed, and one of no bytes has an address") {
  arena some;
  struct point {
    int x, y;
  };
  const point* const object = some.create<point>(3, 4);
  CHECK(object->x == 3);
  CHECK(object->y == 4);
  CHECK(some.allocate(0) != nullptr);
}

TEST_CASE("no bytes have an address in an arena that has no chunk yet, or no longer") {
  arena some;
  for (const auto alignment : {std::size_t{1}, std::size_t{16}, std::size_t{4096}}) {
    CHECK(some.try_allocate(0, alignment) != nullptr);
    some.release();
  }
}

TEST_CASE("as a memory resource: containers grow in it, and a reset frees them") {
  fake_blocks source;
  arena some{source};
  heapwise::arena_resource resource{some};
  for (int round = 0; round < 2; ++round) {
    std::pmr::vector<int> numbers{&resource};
    for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
    CHECK(numbers[9'999] == 9'999);
    CHECK(source.bytes_out() > 10'000 * sizeof(int));
    std::pmr::vector<int>{&resource}.swap(numbers);
    some.reset();
  }
  heapwise::arena_resource same{some};
  arena other;
  CHECK(resource.is_equal(same));
  CHECK(!resource.is_equal(heapwise::arena_resource{other}));
  CHECK(!resource.is_equal(*std::pmr::new_delete_resource()));
}

} // namespace
