// What a service may ask of the heap while it runs.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/base/running_options.hpp"
#include "heap/purge/purge.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t one_mib = std::size_t{1} << 20;

/// Returns: a block all of whose pages are resident.
void* make_resident(std::size_t bytes) {
  void* const block = heapwise_malloc(bytes);
  if (block != nullptr) std::memset(block, 1, bytes);
  return block;
}

TEST_CASE("a release gives back as much as was asked for, and leaves the rest") {
  start_without_clock();
  heapwise_malloc_purge();
  void* const blocks[] = {make_resident(100 * one_mib), make_resident(one_mib)};
  for (void* each : blocks) heapwise_free(each);
  const std::size_t dirty = the_space.dirty_bytes();
  CHECK(dirty >= 100 * one_mib);
  CHECK(heapwise_malloc_release(0) == 0);
  const std::size_t some = heapwise_malloc_release(20 * one_mib);
  CHECK(some >= 20 * one_mib);
  CHECK(some <= 36 * one_mib);
  CHECK(the_space.dirty_bytes() == dirty - some);
  CHECK(heapwise_malloc_release(SIZE_MAX) >= dirty - some);
  CHECK(the_space.dirty_bytes() == 0);
}

TEST_CASE("a release that needs more takes what threads keep, and pages between blocks in use") {
  start_without_clock();
  heapwise_malloc_purge();
  std::vector<void*> kept;
  std::vector<void*> freed;
  for (int i = 0; i < 40'000; ++i) (i % 64 == 0 ? kept : freed).push_back(make_resident(256));
  for (void* each : freed) heapwise_free(each);
  CHECK(the_space.dirty_bytes() < one_mib);
  CHECK(heapwise_malloc_release(one_mib) >= one_mib);
  CHECK(own_cached_bytes() == 0);
  for (void* each : kept) heapwise_free(each);
}

TEST_CASE("a limit holds from the call on, and a limit of 0 ends it") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    void* const before = heapwise_malloc(32 * one_mib);
    heapwise_malloc_set_limit(64 * one_mib);
    void* const fits = heapwise_malloc(16 * one_mib);
    if (before == nullptr || fits == nullptr) std::_Exit(1);
    errno = 0;
    if (heapwise_malloc(64 * one_mib) != nullptr || errno != ENOMEM) std::_Exit(2);
    heapwise_malloc_set_limit(one_mib); // less than is in use
    if (heapwise_malloc(one_mib) != nullptr) std::_Exit(3);
    heapwise_free(before);
    heapwise_malloc_set_limit(0);
    if (heapwise_malloc(64 * one_mib) == nullptr) std::_Exit(4);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("growth beyond the soft limit gives back what is free, and no request fails") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    heapwise_malloc_set_soft_limit(48 * one_mib);
    std::vector<void*> freed;
    for (int i = 0; i < 64; ++i) {
      freed.push_back(make_resident(one_mib));
      static_cast<void>(make_resident(100'000)); // stays in between
    }
    for (void* each : freed) heapwise_free(each);
    const std::size_t purged_before = purged_bytes();
    void* const larger = make_resident(80 * one_mib); // does not fit between those
    if (larger == nullptr) std::_Exit(1);
    if (purged_bytes() < purged_before + 32 * one_mib) std::_Exit(2);
    if (bytes_over_soft_limit() < 32 * one_mib) std::_Exit(3);
    heapwise_malloc_set_soft_limit(0);
    if (bytes_over_soft_limit() != 0) std::_Exit(4);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("the delay of the purge follows the last call, before that the environment") {
  the_options.purge_delay_ms = 500;
  CHECK(purge_delay_ms() == 500);
  heapwise_malloc_set_purge_delay(0);
  CHECK(purge_delay_ms() == 0);
  heapwise_malloc_set_purge_delay(UINT32_MAX);
  CHECK(purge_delay_ms() == UINT32_MAX);
  the_running_options.purge_delay = 0;
  CHECK(purge_delay_ms() == 500);
}

TEST_CASE("a block grows at its place or not at all") {
  start_without_clock();
  void* const small = heapwise_malloc(100);
  const std::size_t usable = heapwise_malloc_usable_size(small);
  CHECK(heapwise_malloc_grow(small, 1) == usable);
  CHECK(heapwise_malloc_grow(small, usable) == usable);
  CHECK(heapwise_malloc_grow(small, usable + 1) == usable);
  CHECK(heapwise_malloc_grow(small, SIZE_MAX) == usable);
  heapwise_free(small);

  auto* const large = static_cast<unsigned char*>(make_resident(100'000));
  const std::size_t grown = heapwise_malloc_grow(large, 120'000); // in its last slice
  CHECK(grown >= 120'000);
  CHECK(heapwise_malloc_usable_size(large) == grown);
  CHECK(stress::all_are(large, 100'000, 1));
  std::memset(large, 2, grown);
  CHECK(heapwise_malloc_grow(large, 50'000) == grown);
  CHECK(heapwise_malloc_grow(large, SIZE_MAX) == grown);
  heapwise_free(large);
}

TEST_CASE("a request says how much may be used, and each size up to that frees the block") {
  start_without_clock();
  constexpr std::size_t sizes[] = {0, 1, 16, 17, 100, 1'000, 5'000, 32'768, 32'769, 100'000};
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    std::size_t usable = 0;
    void* const block = heapwise_malloc_at_least(size, &usable);
    REQUIRE(block != nullptr);
    CHECK(usable >= size);
    CHECK(usable == heapwise_malloc_usable_size(block));
    std::memset(block, 1, usable);
    heapwise_free_sized(block, usable);
  }
  std::size_t usable = 1;
  CHECK(heapwise_malloc_at_least(SIZE_MAX, &usable) == nullptr);
  CHECK(usable == 0);
}

TEST_CASE("an array is resized unless its size overflows") {
  start_without_clock();
  auto* const array = static_cast<int*>(heapwise_reallocarray(nullptr, 10, sizeof(int)));
  REQUIRE(array != nullptr);
  array[9] = 7;
  errno = 0;
  CHECK(heapwise_reallocarray(array, SIZE_MAX / 2, sizeof(int)) == nullptr);
  CHECK(errno == ENOMEM);
  CHECK(array[9] == 7);
  auto* const longer = static_cast<int*>(heapwise_reallocarray(array, 1'000, sizeof(int)));
  REQUIRE(longer != nullptr);
  CHECK(longer[9] == 7);
  CHECK(heapwise_malloc_usable_size(longer) >= 1'000 * sizeof(int));
  heapwise_free(longer);
}

} // namespace
