// Markers, arrays and destructors in an arena.
#include <heapwise/arena.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/block_source.hpp>

namespace {

using heapwise::arena;
using heapwise::fake_blocks;

/// Writes its number down when it is destroyed.
struct noted {
  noted(std::vector<int>& log, int number) : into{&log}, mine{number} {
    if (number < 0) throw std::runtime_error{"noted"};
  }
  ~noted() { into->push_back(mine); }
  noted(const noted&) = delete;
  noted& operator=(const noted&) = delete;
  std::vector<int>* into;
  int mine;
  std::string text = std::string(100, 'x'); // the sanitizer would see the leak
};

using numbers = std::vector<int>;

TEST_CASE("objects are destroyed when their memory is freed, the newest first") {
  numbers log;
  {
    arena some;
    for (int i = 0; i < 4; ++i) static_cast<void>(some.create<noted>(log, i));
    some.reset();
    CHECK(log == numbers{3, 2, 1, 0});
    static_cast<void>(some.create<noted>(log, 7));
    some.release();
    CHECK(log == numbers{3, 2, 1, 0, 7});
    static_cast<void>(some.create<noted>(log, 8));
    arena target{std::move(some)};
    CHECK(log.size() == 5);
    static_cast<void>(target.create<noted>(log, 9));
  }
  CHECK(log == numbers{3, 2, 1, 0, 7, 9, 8});
}

TEST_CASE("a constructor that throws leaves nothing to be destroyed") {
  numbers log;
  arena some;
  static_cast<void>(some.create<noted>(log, 1));
  CHECK_THROWS_AS(static_cast<void>(some.create<noted>(log, -1)), std::runtime_error);
  some.reset();
  CHECK(log == numbers{1});
}

/// The third of them throws.
struct third_throws {
  static inline int objects = 0;
  static inline int ended = 0;
  third_throws() {
    if (objects == 2) throw std::runtime_error{"third"};
    ++objects;
  }
  ~third_throws() { ++ended; }
};

TEST_CASE("arrays are zero, aligned, and destroyed from their end") {
  arena some;
  void* const dirty = some.allocate(4000);
  std::memset(dirty, 0xFF, 4000);
  some.reset();
  const auto zeros = some.create_array<long>(500);
  CHECK(zeros.size() == 500);
  for (const long each : zeros) CHECK(each == 0);
  struct alignas(256) wide {
    char bytes[256];
  };
  CHECK(reinterpret_cast<std::uintptr_t>(some.create_array<wide>(3).data()) % 256 == 0);
  const auto texts = some.create_array<std::string>(20);
  for (std::string& each : texts) each.assign(100, 'x');
  CHECK(some.create_array<std::string>(0).empty());
  CHECK_THROWS_AS(static_cast<void>(some.create_array<long>(SIZE_MAX / 4)), std::bad_alloc);
  CHECK_THROWS_AS(static_cast<void>(some.create_array<third_throws>(5)), std::runtime_error);
  CHECK(third_throws::ended == 2);
  some.reset();
  CHECK(third_throws::ended == 2);
}

TEST_CASE("rewind frees what came after the mark, and nothing else") {
  numbers log;
  fake_blocks source;
  arena some{source, 4096};
  auto* const first = some.create<noted>(log, 1);
  const arena::marker here = some.mark();
  void* const next = some.allocate(8);
  static_cast<void>(some.create<noted>(log, 2));
  for (int i = 0; i < 100; ++i) static_cast<void>(some.allocate(1000)); // further chunks
  static_cast<void>(some.create<noted>(log, 3));
  const arena::marker later = some.mark();
  static_cast<void>(some.create<noted>(log, 4));
  some.rewind(later);
  CHECK(log == numbers{4});
  const std::size_t reserved = some.reserved_bytes();
  for (int round = 0; round < 3; ++round) {
    some.rewind(here);
    CHECK(log == numbers{4, 3, 2});
    CHECK(first->mine == 1);
    CHECK(some.allocate(8) == next);
    for (int i = 0; i < 100; ++i) static_cast<void>(some.allocate(1000));
    CHECK(some.reserved_bytes() == reserved);
  }
  some.reset();
  CHECK(log == numbers{4, 3, 2, 1});
}

TEST_CASE("a mark of an empty arena stays right when its chunks are replaced") {
  fake_blocks source;
  arena some{source, 4096};
  const arena::marker unused = some.mark();
  static_cast<void>(some.allocate(100));
  some.rewind(unused);
  const arena::marker empty = some.mark();
  static_cast<void>(some.allocate(100'000)); // replaces the only chunk
  CHECK(source.pieces_out() == 1);
  some.rewind(empty);
  auto* const again = static_cast<char*>(some.allocate(100'000));
  std::memset(again, 1, 100'000);
  CHECK(source.pieces_out() == 1);
  CHECK(source.requests() == 2);
}

TEST_CASE("marks nest as calls do") {
  arena some;
  const auto depth = [&](const auto& self, int left) -> void {
    const arena::marker here = some.mark();
    auto* const mine = static_cast<int*>(some.allocate(777 * sizeof(int), alignof(int)));
    for (int i = 0; i < 777; ++i) mine[i] = left;
    if (left > 0) self(self, left - 1);
    for (int i = 0; i < 777; ++i) REQUIRE(mine[i] == left);
    some.rewind(here);
  };
  depth(depth, 100);
  const std::size_t reserved = some.reserved_bytes();
  for (int i = 0; i < 20; ++i) depth(depth, 100);
  CHECK(some.reserved_bytes() == reserved);
}

} // namespace
