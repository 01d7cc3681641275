#include <heapwise/detail/size_classes.hpp>

#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

// Said once more, in the slowest way: the sizes there are, by hand.
constexpr std::size_t sizes[] = {
    16,   32,   48,   64,    80,    96,    112,   128,   160,   192,   224,   256,   320,   384,
    448,  512,  640,  768,   896,   1024,  1152,  1280,  1408,  1536,  1664,  1792,  1920,  2048,
    2304, 2560, 2816, 3072,  3328,  3584,  3840,  4096,  4608,  5120,  5632,  6144,  6656,  7168,
    7680, 8192, 9216, 10240, 11264, 12288, 13312, 14336, 15360, 16384, 20480, 24576, 28672, 32768};

size_class slow_class_of(std::size_t size_bytes) {
  size_class of = 1;
  while (sizes[of - 1] < size_bytes) ++of;
  return of;
}

TEST_CASE("the classes are the sizes of the list, each filled with as many blocks as fit") {
  REQUIRE(class_count == std::size(sizes));
  for (size_class of = 1; of <= class_count; ++of) {
    CAPTURE(of);
    const class_facts& facts = class_table[of];
    const std::size_t span_bytes = facts.slices * slice_bytes;
    CHECK(facts.bytes == sizes[of - 1]);
    CHECK(facts.blocks == span_bytes / facts.bytes);
    CHECK(facts.blocks >= 8);
    CHECK((facts.slices == 1 || facts.blocks < 16)); // no larger than it has to be
    CHECK(facts.batch >= min_batch);
    CHECK(facts.batch <= max_batch);
  }
  CHECK(class_table[no_class].bytes == 0);
}

TEST_CASE("every size is in the smallest class that holds it") {
  bool right = true;
  for (std::size_t size = 0; size <= max_small_bytes; ++size) {
    right = right && class_of(size) == slow_class_of(size);
  }
  CHECK(right);
}

TEST_CASE("every size at every alignment is in the smallest class whose blocks are so aligned") {
  bool right = true;
  for (std::size_t alignment = 1; alignment <= max_small_bytes; alignment *= 2) {
    for (std::size_t size = 0; size <= max_small_bytes; size += size < 2100 ? 1 : 61) {
      size_class expected = slow_class_of(size);
      while (sizes[expected - 1] % alignment != 0) ++expected;
      right = right && aligned_class_of(size, alignment) == expected;
    }
  }
  CHECK(right);
}

TEST_CASE("dividing by multiplying is exact for every byte of every span") {
  bool right = true;
  for (size_class of = 1; of <= class_count; ++of) {
    const class_facts& facts = class_table[of];
    for (std::size_t offset = 0; offset < facts.slices * slice_bytes; ++offset) {
      right = right && block_at(of, offset) == offset / facts.bytes;
    }
  }
  CHECK(right);
}

} // namespace
