#include "heap/space/slice_map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

/// A map with memory of its own, and a note for each slice to compare it with.
class noted_map {
 public:
  explicit noted_map(std::size_t slices)
      : memory_((slice_map::bytes_for(slices) + 7) / 8), used_(slices, 0) {
    map_.start(memory_.data(), slices);
  }

  [[nodiscard]] bool is_sound() { return map_.is_sound(map_.slices()); }
  /// Effects: makes a bit wrong, as an overrun would.
  void damage(slice_index at) { memory_[at / 64] ^= std::uint64_t{1} << (at % 64); }

  slice_map& operator*() { return map_; }
  slice_map* operator->() { return &map_; }

  void use(slice_index first, std::size_t count) {
    map_.mark_used(first, count);
    std::memset(used_.data() + first, 1, count);
  }
  void free(slice_index first, std::size_t count) {
    map_.mark_free(first, count);
    std::memset(used_.data() + first, 0, count);
  }

  /// Returns: what `find` should say, by looking at every run of free slices.
  [[nodiscard]] slice_index lowest(std::size_t count, std::size_t alignment,
                                   std::size_t base) const {
    for (slice_index begin = next(0, 0); begin < used_.size();) {
      const slice_index end = next(begin, 1);
      for (slice_index at = begin; at + count <= end; ++at) {
        if ((base + at) % alignment == 0) return at;
      }
      begin = next(end, 0);
    }
    return used_.size();
  }

 private:
  /// Returns: the first slice from `at` on with this note. The C library looks at many at once.
  [[nodiscard]] slice_index next(slice_index at, int note) const {
    const void* const place = std::memchr(used_.data() + at, note, used_.size() - at);
    return place == nullptr
               ? used_.size()
               : static_cast<slice_index>(static_cast<const std::uint8_t*>(place) - used_.data());
  }

  std::vector<std::uint64_t> memory_;
  std::vector<std::uint8_t> used_; // 1 or 0
  slice_map map_;
};

TEST_CASE("runs over the ends of words and of groups are found") {
  noted_map some{3 * slice_map::slices_of_a_group};
  for (const slice_index border : {slice_index{64}, slice_map::slices_of_a_group}) {
    some.use(0, some->slices());
    some.free(border - 3, 7);
    CHECK(some->find(7, 1, 0) == border - 3);
    CHECK(some->find(8, 1, 0) == some->slices());
    CHECK(some->find(4, 4, 0) == border);
    CHECK(some->are_free(border - 3, 7));
    CHECK_FALSE(some->are_free(border - 4, 7));
    CHECK_FALSE(some->are_free(border - 3, 8));
    some.free(0, border - 3);
    some.free(border + 4, some->slices() - border - 4);
    CHECK(some->find(some->slices(), 1, 0) == 0);
  }
}

TEST_CASE("a run that grows at either end is found, however far away it begins") {
  constexpr std::size_t group = slice_map::slices_of_a_group;
  noted_map some{8 * group};
  some.use(0, 8 * group);
  some.free(100, 6 * group);
  CHECK(some->find(6 * group + 1, 1, 0) == 8 * group); // now the bounds are exact
  some.free(100 + 6 * group, 1);
  CHECK(some->find(6 * group + 1, 1, 0) == 100);
  some.free(99, 1);
  CHECK(some->find(6 * group + 2, 1, 0) == 99);
  some.use(99, 2 * group);
  CHECK(some->find(4 * group + 2, 1, 0) == 99 + 2 * group);
}

TEST_CASE("a long random history: the place found is the lowest") {
  constexpr std::size_t slices = 2 * slice_map::slices_of_a_group + 1000;
  noted_map some{slices};
  stress::random draw{11};
  std::vector<std::pair<slice_index, std::size_t>> spans;
  std::size_t base = 0;
  for (int step = 0; step < 3000; ++step) {
    const std::size_t count = 1 + draw.below(draw.below(10) == 0 ? 700 : 6);
    const std::size_t alignment = draw.below(4) == 0 ? std::size_t{1} << draw.below(8) : 1;
    if (step % 500 == 0) base = draw.below(300); // what is known of alignments holds for one base
    const slice_index index = some->find(count, alignment, base);
    REQUIRE(index == some.lowest(count, alignment, base));
    if (index != slices && draw.below(5) != 0) {
      some.use(index, count);
      spans.emplace_back(index, count);
    }
    if (step % 8 == 0) REQUIRE(some.is_sound());
    while (!spans.empty() && (index == slices || draw.below(2) == 0)) {
      std::swap(spans[draw.below(spans.size())], spans.back());
      auto& [first, length] = spans.back();
      const std::size_t kept = draw.below(3) == 0 ? draw.below(length) : 0;
      some.free(first + kept, length - kept);
      length = kept;
      if (kept == 0) spans.pop_back();
      if (draw.below(3) == 0) break;
    }
  }
}

TEST_CASE("a search for an aligned place does not look at what is used or too short again") {
  constexpr std::size_t alignment = 16;
  constexpr std::size_t blocks = 4096;
  constexpr std::size_t most_words = 16;
  noted_map some{2 * blocks * alignment};
  for (const std::size_t count : {1U, 3U}) { // longer ones after shorter ones
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t before = some->visited();
      const slice_index first = some->find(count, alignment, 0);
      CHECK(some->visited() - before <= most_words);
      some.use(first, count);
      some.use(first + count, 1); // between two searches another block comes and goes
      some.free(first + count, 1);
    }
  }
  REQUIRE(some.is_sound());
  some.free(32 * alignment, 1);
  CHECK(some->find(1, alignment, 0) == 32 * alignment);
}

TEST_CASE("a search that finds a place looks once at each word before it, whatever holes it has") {
  constexpr std::size_t words = slice_map::slices_of_a_group / slices_of_a_word - 2;
  noted_map some{2 * slice_map::slices_of_a_group};
  some.use(0, words * slices_of_a_word);
  for (slice_index at = 1; at < words * slices_of_a_word; at += 3) some.free(at, 1);
  for (const std::size_t count : {2U, 60U, 64U, 100U, 4000U}) {
    const std::size_t before = some->visited();
    const slice_index first = some->find(count, 1, 0);
    CHECK(first == some.lowest(count, 1, 0));
    const std::size_t looked_at = (count + first) / slices_of_a_word + 2;
    CHECK(some->visited() - before <= looked_at + 2);
  }
}

TEST_CASE("a bit that changed by itself is noticed") {
  noted_map some{slice_map::slices_of_a_group + 100};
  some.use(0, 70);
  some.use(slice_map::slices_of_a_group - 5, 10);
  REQUIRE(some.is_sound());
  for (const slice_index at : {slice_index{3}, slice_index{90}, slice_map::slices_of_a_group}) {
    some.damage(at);
    CHECK_FALSE(some.is_sound());
    some.damage(at);
  }
  CHECK(some.is_sound());
}

TEST_CASE("a search does not look at holes that are too short") {
  // 16 GiB in which each tenth slice is free.
  constexpr std::size_t slices = std::size_t{1} << 18;
  constexpr std::size_t searches = 1000;
  noted_map some{2 * slices};
  some.use(0, slices);
  std::size_t holes = 0;
  for (slice_index at = 5; at < slices; at += 10, ++holes) some.free(at, 1);
  REQUIRE(some->find(2, 1, 0) == slices); // the first one looks at all
  std::vector<slice_index> taken;
  const std::size_t before = some->visited();
  for (std::size_t i = 0; i < searches; ++i) {
    const slice_index first = some->find(2, 1, 0);
    REQUIRE(first == slices + 2 * i);
    some.use(first, 2);
    taken.push_back(first);
  }
  for (const slice_index each : taken) some.free(each, 2);
  const std::size_t visited = (some->visited() - before) / searches;
  CHECK(visited < 2 * (slices / slice_map::slices_of_a_group));
  CHECK(visited < holes / 100);
}

} // namespace
