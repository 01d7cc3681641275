#include <heapwise/detail/heap_cache.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

TEST_CASE("only the first byte of a granule of the heap has a class") {
  constexpr std::uintptr_t base = 3 * slice_bytes;
  constexpr std::size_t slices = 2;
  std::atomic<std::uint8_t> classes[slices] = {5, 7};
  const heap_map map{base, slices, classes};
  const auto class_at = [&](std::uintptr_t at) {
    return map.class_at(reinterpret_cast<const void*>(at));
  };
  CHECK(class_at(base) == 5);
  CHECK(class_at(base + slice_bytes - granule_bytes) == 5);
  CHECK(class_at(base + slice_bytes) == 7);
  CHECK(class_at(base + 2 * slice_bytes - granule_bytes) == 7);
  CHECK(class_at(base + 2 * slice_bytes) == no_class);
  CHECK(class_at(base - granule_bytes) == no_class);
  CHECK(class_at(0) == no_class);
  CHECK(class_at(~std::uintptr_t{0}) == no_class);
  CHECK(class_at(~std::uintptr_t{0} - granule_bytes + 1) == no_class);
  for (std::uintptr_t odd = 1; odd < granule_bytes; ++odd) {
    CAPTURE(odd);
    CHECK(class_at(base + odd) == no_class);
    CHECK(class_at(base + slice_bytes + odd) == no_class);
  }
}

// If one of these fails, programs compiled before the change and a library from after it do not fit
// together: give `layout` another number (heapwise/detail/heap_cache.hpp), and change the test.
TEST_CASE("the layout that programs are compiled for is layout_3") {
  static_assert(noexcept(layout_3::refill(1)));
  CHECK(offsetof(heap_map, base) == 0);
  CHECK(offsetof(heap_map, granules) == 8);
  CHECK(offsetof(heap_map, classes) == 16);
  CHECK(offsetof(heap_cache, map) == 0);
  CHECK(offsetof(heap_cache, tops) == 24);
  CHECK(offsetof(heap_cache, ends) == 24 + 8 * 58);
  CHECK(offsetof(heap_cache, hot) == 24 + 16 * 58);
  CHECK(slice_bytes == 65536);
  CHECK(granule_bytes == 16);
  std::uint64_t classes = 0;
  for (std::size_t size = 0; size <= max_small_bytes; ++size) {
    for (std::size_t alignment = 1; alignment <= max_small_bytes; alignment *= 2) {
      classes = (classes ^ aligned_class_of(size, alignment)) * 0x100000001B3U;
    }
  }
  CHECK(classes == 13631622014906003099U);
}

TEST_CASE("a map of a heap that has not begun knows no address") {
  const heap_map map;
  CHECK(map.class_at(nullptr) == no_class);
  CHECK(map.class_at(&map) == no_class);
}

} // namespace
