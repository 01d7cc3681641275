#include "heap/purge/purge.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t mib = std::size_t{1} << 20;

struct filled {
  std::vector<void*> blocks;

  filled(std::size_t size, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += size) {
      blocks.push_back(heapwise_malloc(size));
      std::memset(blocks.back(), 1, size);
    }
  }
  void free() {
    for (void* const each : blocks) heapwise_free(each);
    blocks.clear();
  }
  /// Leaves the first block of each `kept_part`.
  void thin_out(std::size_t kept_part) {
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      if (at % kept_part != 0) heapwise_free(blocks[at]);
    }
    blocks.clear();
  }
};

// Each in a process of its own: the limit of growth is that of a fresh heap.

TEST_CASE("free slices go back before the heap grows beyond what it was") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    filled holes{192 << 10, 16 * mib};
    // Holes of three slices, of which four slices cannot be taken.
    holes.thin_out(2);
    const std::size_t dirty = the_space.dirty_bytes();
    const std::size_t purged = purged_bytes();
    if (dirty < 7 * mib) std::abort();
    const filled grown{256 << 10, 4 * mib};
    if (purged_bytes() < purged + 6 * mib) std::abort();
    if (the_space.dirty_bytes() > mib) std::abort();
  });
  CHECK_MESSAGE(how.exit_code == 0, how.error);
}

TEST_CASE("free pages of spans that lie idle go back while the heap grows") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    filled idle{8192, 8 * mib};
    idle.thin_out(8);
    bring_everything_home();
    const std::size_t purged = purged_bytes();
    // The first look notes that they changed; a later one gives them back.
    const filled grown{256 << 10, 8 * mib};
    if (purged_bytes() < purged + 5 * mib) std::abort();
  });
  CHECK_MESSAGE(how.exit_code == 0, how.error);
}

TEST_CASE("a large heap grows without a look at all of its spans") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    const filled base{256 << 10, 80 * mib};
    filled holes{192 << 10, 32 * mib};
    holes.thin_out(2);
    const std::size_t purged = purged_bytes();
    const filled grown{256 << 10, 32 * mib};
    if (purged_bytes() != purged) std::abort();
  });
  CHECK_MESSAGE(how.exit_code == 0, how.error);
}

TEST_CASE("a heap that stays as large as it was purges nothing, whatever is free") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    for (int i = 0; i < 8; ++i) {
      filled blocks{256 << 10, 16 * mib};
      blocks.free();
    }
    const std::size_t purged = purged_bytes();
    for (int i = 0; i < 100; ++i) {
      filled blocks{192 << 10, 8 * mib};
      blocks.free();
      filled others{320 << 10, 8 * mib};
      others.free();
    }
    if (purged_bytes() != purged) std::abort();
  });
  CHECK_MESSAGE(how.exit_code == 0, how.error);
}

} // namespace
