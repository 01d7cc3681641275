#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

namespace {

bool is_aligned(const void* block, std::size_t alignment) {
  return block != nullptr && reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

bool all_are_aligned() {
  for (std::size_t alignment = 1; alignment <= std::size_t{64} << 10; alignment *= 2) {
    for (const std::size_t size : std::initializer_list<std::size_t>{
             0, 1, 24, 100, 1000, 5000, 9000, 30'000, 40'000, 100'000}) {
      for (int each = 0; each < 5; ++each) {
        void* const block = heapwise_gc_malloc_aligned(alignment, size);
        if (!is_aligned(block, alignment)) return false;
        if (heapwise_gc_base(block) != block || heapwise_gc_usable_size(block) < size) return false;
        std::memset(block, 0x5A, size);
      }
    }
  }
  return true;
}

} // namespace

TEST_CASE("an aligned block begins at a multiple of its alignment, and has its size") {
  CHECK(all_are_aligned());
}

TEST_CASE("an alignment that is not a power of two of at most 64 KiB is refused") {
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{24}, std::size_t{128} << 10}) {
    errno = 0;
    CHECK(heapwise_gc_malloc_aligned(alignment, 100) == nullptr);
    CHECK(errno == EINVAL);
  }
}

TEST_CASE("an aligned block is zero, and can be freed and lost as any other") {
  heapwise_gc_init(nullptr);
  gc_test::hidden lost;
  gc_test::elsewhere([&] {
    auto* const block = static_cast<unsigned char*>(heapwise_gc_malloc_aligned(256, 1000));
    for (std::size_t each = 0; each < 1000; ++each) CHECK(block[each] == 0);
    heapwise_gc_free(heapwise_gc_malloc_aligned(4096, 100));
    lost = gc_test::hidden{block};
    gc_test::leave_windows();
    for (int each = 0; each < 100; ++each) heapwise_gc_malloc_aligned(256, 1000);
  });
  heapwise_gc_collect();
  CHECK_FALSE(gc_test::survived(lost));
}
