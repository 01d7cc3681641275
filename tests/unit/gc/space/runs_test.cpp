#include "gc/space/runs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

using namespace heapwise::gc;

namespace {

alignas(64) std::array<mark, marks_of_slice> marks;

/// As next_free_run, one mark at a time.
free_run look_at_each(std::uint32_t from, std::uint32_t count, std::uint32_t most) {
  while (from < count && marks[from].load() != 0) ++from;
  std::uint32_t end = from;
  while (end < count && end - from < most && marks[end].load() == 0) ++end;
  return {from, end};
}

/// Effects: `marked` of a hundred marks are set on average, with either value.
void set_marks_at_random(std::mt19937& random, std::uint32_t marked) {
  for (mark& each : marks) {
    each.store(random() % 100 >= marked ? std::uint8_t{0}
                                        : (random() % 2 == 0 ? reached : handed_out));
  }
}

} // namespace

TEST_CASE("runs of free blocks are those that are found one by one, whatever the marks") {
  std::mt19937 random{1};
  for (const std::uint32_t marked : {0U, 3U, 50U, 90U, 99U, 100U}) {
    set_marks_at_random(random, marked);
    for (const std::uint32_t count : {2U, 7U, 8U, 9U, 1365U, 4096U}) {
      for (const std::uint32_t most : {1U, 5U, 85U, 256U}) {
        for (int each = 0; each < 50; ++each) {
          const std::uint32_t from = static_cast<std::uint32_t>(random()) % (count + 1);
          const free_run run = next_free_run(marks.data(), from, count, most);
          const free_run expected = look_at_each(from, count, most);
          CAPTURE(marked);
          CAPTURE(count);
          CAPTURE(most);
          CAPTURE(from);
          REQUIRE(run.first == expected.first);
          REQUIRE(run.end == expected.end);
        }
      }
    }
  }
}

TEST_CASE("a run ends at the last block of a slice, whatever lies behind it") {
  for (mark& each : marks) each.store(0);
  marks[10].store(reached);
  CHECK(next_free_run(marks.data(), 5, 9, 100).end == 9);
  CHECK(next_free_run(marks.data(), 9, 9, 100).first == 9);
  for (std::uint32_t each = 0; each < 9; ++each) marks[each].store(reached);
  CHECK(next_free_run(marks.data(), 0, 9, 100).first == 9);
}
