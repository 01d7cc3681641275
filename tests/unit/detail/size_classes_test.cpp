#include <heapwise/detail/size_classes.hpp>

#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

// Said once more, in the slowest way: the sizes there are, by hand.
constexpr std::size_t sizes[] = {
    16,   32,   48,   64,   80,   96,    112,   128,   160,   192,   224,   256,   320,   384,
    448,  512,  640,  768,  896,  1024,  1040,  1152,  1280,  1408,  1536,  1664,  1792,  2048,
    2112, 2304, 2560, 2816, 3072, 3328,  3584,  4096,  4368,  4672,  4992,  5440,  5888,  6144,
    7168, 8192, 8736, 9344, 9984, 10880, 11776, 12288, 14336, 16384, 20480, 24576, 28672, 32768};

size_class slow_class_of(std::size_t size_bytes) {
  size_class class_index = 1;
  while (sizes[class_index - 1] < size_bytes) ++class_index;
  return class_index;
}

TEST_CASE("the classes are the sizes of the list, each filled with as many blocks as fit") {
  REQUIRE(class_count == std::size(sizes));
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    CAPTURE(class_index);
    const class_facts& facts = class_table[class_index];
    const std::size_t span_bytes = facts.slices * slice_bytes;
    CHECK(facts.bytes == sizes[class_index - 1]);
    CHECK(facts.blocks == span_bytes / facts.bytes);
    CHECK(facts.blocks >= 8);
    CHECK((facts.slices == 1 || facts.blocks < 16)); // no larger than it has to be
    CHECK(facts.batch >= min_batch);
    CHECK(facts.batch <= max_batch);
  }
  CHECK(class_table[no_class].bytes == 0);
}

TEST_CASE("a power of two with a header of 16 bytes has a class of its own above 1 KiB") {
  for (const std::size_t power : {1024U, 2048U, 4096U, 8192U}) {
    CAPTURE(power);
    const class_facts& facts = class_table[class_of(power + 16)];
    CHECK(facts.bytes < power + power / 8);
    // One block less in a span than blocks of the power itself.
    CHECK(facts.blocks + 1 == facts.slices * slice_bytes / power);
  }
}

TEST_CASE("between 4 and 16 KiB a span wastes less than a sixteenth, or keeps an alignment") {
  for (size_class class_index = class_of(4097); class_index <= class_of(16384); ++class_index) {
    CAPTURE(class_index);
    const class_facts& facts = class_table[class_index];
    const std::size_t span_bytes = facts.slices * slice_bytes;
    const bool is_full = (span_bytes - facts.blocks * facts.bytes) * 16 < span_bytes;
    CHECK((is_full || facts.bytes % 1024 == 0));
  }
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
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const class_facts& facts = class_table[class_index];
    for (std::size_t offset = 0; offset < facts.slices * slice_bytes; ++offset) {
      right = right && block_at(class_index, offset) == offset / facts.bytes;
    }
  }
  CHECK(right);
}

} // namespace
