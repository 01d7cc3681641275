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
  const heap_map map{
      .base = base, .granules = slices * slice_bytes / granule_bytes, .classes = classes};
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

TEST_CASE("a map of a heap that has not begun knows no address") {
  const heap_map map;
  CHECK(map.class_at(nullptr) == no_class);
  CHECK(map.class_at(&map) == no_class);
}

} // namespace
