#include "heap/base/address_runs.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

std::byte* address(std::size_t number) { return reinterpret_cast<std::byte*>(number); }

TEST_CASE("a run is written downwards, and nothing beside it") {
  constexpr std::size_t first = 0x7f0000010000;
  for (std::size_t count = 0; count <= 21; ++count) {
    for (const std::size_t begin : {std::size_t{1}, std::size_t{2}}) { // aligned for a pair, or not
      CAPTURE(count);
      std::array<std::byte*, 24> places{};
      write_run(places.data() + begin + count, address(first), count, 48);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_in_run = i >= begin && i < begin + count;
        CHECK(places[i] == address(is_in_run ? first + (begin + count - 1 - i) * 48 : 0));
      }
    }
  }
}

TEST_CASE("a run is counted to its end, upwards and downwards") {
  constexpr std::size_t most = 40;
  for (const std::ptrdiff_t distance : {16, -16, 32'768, -80}) {
    for (std::size_t length = 1; length <= most; ++length) {
      CAPTURE(distance);
      CAPTURE(length);
      std::vector<std::byte*> all(most);
      for (std::size_t i = 0; i < most; ++i) {
        const std::size_t number = 0x500000 + i * static_cast<std::size_t>(distance);
        all[i] = address(i < length ? number : number + 8); // the next ones are a little off
      }
      CHECK(count_in_run(all.data(), most, distance) == length);
      for (std::size_t limit = 1; limit <= length; ++limit) {
        CHECK(count_in_run(all.data(), limit, distance) == limit);
      }
    }
  }
}

TEST_CASE("a difference anywhere ends a run, whatever its bits") {
  for (std::size_t wrong = 1; wrong < 24; ++wrong) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      std::array<std::byte*, 24> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = address(0x10000 + i * 16);
      all[wrong] = address(reinterpret_cast<std::size_t>(all[wrong]) ^ std::size_t{1} << bit);
      REQUIRE(count_in_run(all.data(), all.size(), 16) == wrong);
    }
  }
}

} // namespace
