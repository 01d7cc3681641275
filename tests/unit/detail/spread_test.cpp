#include <heapwise/detail/spread.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::detail::spread;

const void* page(std::uintptr_t number) { return reinterpret_cast<const void*>(number << 12); }

TEST_CASE("pieces at any distance from each other get all places, about equally often") {
  constexpr std::uintptr_t distances[] = {1, 2, 8, 9, 16, 64, 512};
  constexpr std::size_t counts[] = {1, 3, 15, 48, 64};
  for (const std::uintptr_t distance : distances) {
    for (const std::size_t places : counts) {
      CAPTURE(distance);
      CAPTURE(places);
      constexpr std::size_t of_each = 16;
      std::vector<std::size_t> uses(places);
      for (std::size_t i = 0; i < places * of_each; ++i) {
        const std::size_t place = spread(page(0x7f00'0000 + i * distance), places);
        REQUIRE(place < places);
        ++uses[place];
      }
      for (const std::size_t times : uses) {
        CHECK(times >= of_each / 4);
        CHECK(times <= of_each * 3);
      }
    }
  }
}

} // namespace
