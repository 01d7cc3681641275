// What the research allocator promises, whatever its refill strategy is.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "hybrids.hpp"
#include "stress/contents.hpp"

namespace {

using heapwise::fake_blocks;
using heapwise::hybrid_options;
using heapwise::hybrid_statistics;
using heapwise::strategy;
using stress::all_are;

constexpr hybrid_options alone{.reserve_slices = 2, .background = false};
const std::vector<std::size_t> sizes = {0,    1,    16,   32,    33,      64,      128,      129,
                                        256,  257,  500,  512,   1000,    2048,    4095,     4096,
                                        4097, 5000, 9999, 65536, 300'000, 600'000, 3'000'000};

TEST_CASE("the next request uses a chunk that had no number yet") {
  heapwise::fake_blocks source;
  heapwise::hybrid<heapwise::refill::lock_free_refill> heap{{}, source};
  static_cast<void>(heap.open_scopes()); // the thread's cache is there
  const std::size_t before = source.pieces_out();
  std::size_t refused = 0;
  for (; refused < 10; ++refused) {
    source.fail_after(1); // the chunk, or else what its number needs
    if (heap.try_allocate(512) != nullptr) break;
  }
  CHECK(refused == 1);
  CHECK(source.pieces_out() == before + 2);
}

TEST_CASE_TEMPLATE("blocks are large enough, apart from each other, and theirs", H,
                   CONTRACT_HYBRIDS) {
  H heap{alone};
  for (const strategy how :
       {strategy::automatic, strategy::fixed, strategy::segregated, strategy::best_fit}) {
    std::vector<void*> blocks;
    for (int round = 0; round < 5; ++round) {
      for (const std::size_t size : sizes) {
        void* const block = heap.allocate(size, how);
        REQUIRE(heap.usable_bytes(block) >= size);
        REQUIRE(heap.owns(block));
        REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 32 == 0);
        std::memset(block, static_cast<int>(blocks.size()), heap.usable_bytes(block));
        blocks.push_back(block);
      }
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      REQUIRE(all_are(blocks[i], heap.usable_bytes(blocks[i]), static_cast<unsigned char>(i)));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool with_size = i % 2 == 0;
      REQUIRE((with_size ? heap.deallocate(blocks[i], sizes[i % sizes.size()], how)
                         : heap.deallocate(blocks[i])));
    }
  }
}

TEST_CASE_TEMPLATE("blocks are aligned as asked, by each strategy", H, CONTRACT_HYBRIDS) {
  H heap{alone};
  for (const strategy how : {strategy::automatic, strategy::segregated, strategy::best_fit}) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
      for (const std::size_t size : {1U, 40U, 64U, 100U, 300U, 1024U, 5000U, 700'000U}) {
        void* const block = heap.allocate_aligned(size, alignment, how);
        REQUIRE(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
        std::memset(block, 1, size);
        REQUIRE(heap.deallocate(block));
      }
    }
  }
  for (const std::size_t alignment : {0U, 3U, 48U, 8192U}) {
    CHECK(heap.try_allocate_aligned(10, alignment) == nullptr);
    CHECK_THROWS_AS((void)heap.allocate_aligned(10, alignment), std::bad_alloc);
  }
}

TEST_CASE_TEMPLATE("a block freed by size and alignment is of its own kind again", H,
                   CONTRACT_HYBRIDS) {
  H heap{alone};
  for (const strategy how : {strategy::automatic, strategy::segregated, strategy::best_fit}) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
      for (const std::size_t size : {1U, 40U, 100U, 256U, 300U, 1024U, 5000U, 700'000U}) {
        void* const plain = heap.allocate(size, how);
        const std::size_t usable = heap.usable_bytes(plain);
        REQUIRE(heap.deallocate(plain, size, how));
        void* const aligned = heap.allocate_aligned(size, alignment, how);
        REQUIRE(heap.deallocate_aligned(aligned, size, alignment, how));
        // If the aligned block had gone where plain ones are, it would be handed out here.
        void* const again = heap.allocate(size, how);
        REQUIRE((how == strategy::best_fit || heap.usable_bytes(again) == usable || size > 4096));
        REQUIRE(heap.deallocate(again));
      }
    }
  }
  CHECK(heap.deallocate_aligned(nullptr, 10, 256));
}

/// Effects: allocates `count` blocks and frees them, five at a time.
template <class H>
void take_and_free(H& heap, std::size_t size, int count) {
  std::array<void*, 5> blocks;
  for (int i = 0; i < count; i += static_cast<int>(blocks.size())) {
    for (void*& each : blocks) each = heap.allocate(size);
    for (void* const each : blocks) heap.deallocate(each);
  }
}

TEST_CASE_TEMPLATE("a freed block is used again", H, CONTRACT_HYBRIDS) {
  fake_blocks source;
  H heap{alone, source};
  for (const std::size_t size : {20U, 100U, 200U, 400U, 3000U, 10'000U, 2'000'000U}) {
    CAPTURE(size);
    // Where the system gives new addresses every time, the table of them has to reach its size.
    take_and_free(heap, size, 10'000);
    const std::size_t before = source.bytes_out();
    take_and_free(heap, size, 2'000);
    CHECK(source.bytes_out() == before);
  }
}

TEST_CASE_TEMPLATE("nullptr does nothing, and an address outside blocks is refused", H,
                   CONTRACT_HYBRIDS) {
  H heap{alone};
  H other{alone};
  CHECK(heap.deallocate(nullptr));
  CHECK(heap.deallocate(nullptr, 10));
  int local = 0;
  const auto on_heap = std::make_unique<int>(1);
  CHECK_FALSE(heap.deallocate(&local));
  CHECK_FALSE(heap.deallocate(on_heap.get()));
  for (const std::size_t size : sizes) {
    auto* const block = static_cast<std::byte*>(other.allocate(size));
    CHECK_FALSE(heap.deallocate(block));
    CHECK_FALSE(heap.owns(block));
    CHECK_FALSE(other.deallocate(block + 1));
    CHECK_FALSE(other.deallocate(block + 16));
    CHECK_FALSE(other.owns(block + 8));
    CHECK(other.deallocate(block));
  }
}

TEST_CASE_TEMPLATE("a scope frees what was allocated in it, and only that", H, CONTRACT_HYBRIDS) {
  H heap{alone};
  std::vector<void*> outside;
  for (const std::size_t size : sizes) {
    outside.push_back(heap.allocate(size));
    std::memset(outside.back(), 0x5A, size);
  }
  heap.begin_scope();
  for (const std::size_t size : sizes) std::memset(heap.allocate(size), 1, size);
  {
    const typename H::scope inner{heap};
    CHECK(heap.open_scopes() == 2);
    for (const std::size_t size : sizes) std::memset(heap.allocate(size), 2, size);
  }
  CHECK(heap.open_scopes() == 1);
  CHECK(heap.end_scope() == sizes.size());
  CHECK(heap.end_scope() == 0);
  const hybrid_statistics after = heap.statistics();
  const auto live = [](const heapwise::strategy_statistics& statistics) {
    return statistics.allocations - statistics.deallocations;
  };
  CHECK(live(after.fixed) + live(after.segregated) + live(after.best_fit) == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    REQUIRE(all_are(outside[i], sizes[i], 0x5A));
    REQUIRE(heap.deallocate(outside[i]));
  }
}

TEST_CASE_TEMPLATE("a block that is freed by hand inside a scope is not freed again at its end", H,
                   CONTRACT_HYBRIDS) {
  H heap{alone};
  void* const outer = heap.allocate(300);
  {
    const typename H::scope whole{heap};
    std::vector<void*> blocks;
    for (const std::size_t size : sizes) blocks.push_back(heap.allocate(size));
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      CHECK((i % 4 == 0 ? heap.deallocate(blocks[i]) : heap.deallocate(blocks[i], sizes[i])));
    }
    CHECK(heap.deallocate(outer)); // allocated before it, freed inside
    CHECK(heap.end_scope() == sizes.size() / 2);
    heap.begin_scope(); // for the object's end
  }
  // If one were free twice, two allocations would get the same block.
  std::set<void*> distinct;
  std::size_t count = 0;
  for (int round = 0; round < 100; ++round) {
    for (const std::size_t size : sizes) {
      if (size > 5000) continue;
      distinct.insert(heap.allocate(size));
      ++count;
    }
  }
  CHECK(distinct.size() == count);
}

TEST_CASE_TEMPLATE("a thread that ends ends its scopes, and its cache is everybody's", H,
                   CONTRACT_HYBRIDS) {
  fake_blocks source;
  H heap{alone, source};
  std::size_t settled = 0;
  for (int round = 0; round < 50; ++round) {
    std::thread{[&heap] {
      heap.begin_scope();
      heap.begin_scope();
      for (int i = 0; i < 1000; ++i) std::memset(heap.allocate(200), 1, 200);
    }}.join();
    if (round == 0) settled = source.bytes_out();
  }
  CHECK(source.bytes_out() == settled);
  CHECK(heap.open_scopes() == 0);
  CHECK(heap.statistics().fixed.deallocations == 50'000);
}

std::size_t slices_of(const std::vector<void*>& blocks) {
  std::set<std::uintptr_t> slices;
  for (void* const each : blocks) {
    slices.insert(reinterpret_cast<std::uintptr_t>(each) / heapwise::detail::hybrids::slice_bytes);
  }
  return slices.size();
}

TEST_CASE_TEMPLATE("blocks that a thread kept for itself are left to others when it ends", H,
                   CONTRACT_HYBRIDS) {
  H heap{alone};
  CHECK(heap.open_scopes() == 0); // this thread has its cache: it will not inherit the other's
  std::thread{[&heap] { heap.deallocate(heap.allocate(256)); }}.join();
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < heapwise::detail::hybrids::slice_bytes / 256; ++i) {
    blocks.push_back(heap.allocate(256));
  }
  CHECK(slices_of(blocks) == 1);
}

TEST_CASE_TEMPLATE("a block that no scope could note is free again", H, CONTRACT_HYBRIDS) {
  fake_blocks source;
  H heap{alone, source};
  heap.begin_scope();
  std::size_t noted = 0;
  (void)heap.allocate(512);
  source.fail_after(0);
  for (++noted; heap.try_allocate(512) != nullptr;) ++noted;
  for (int i = 0; i < 200; ++i) CHECK(heap.try_allocate(512) == nullptr);
  CHECK(heap.end_scope() == noted);
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < noted; ++i) blocks.push_back(heap.allocate(512));
  CHECK(slices_of(blocks) <= noted * 512 / heapwise::detail::hybrids::slice_bytes + 1);
}

TEST_CASE_TEMPLATE("counts are by strategy", H, CONTRACT_HYBRIDS) {
  H heap{alone};
  for (int i = 0; i < 10; ++i) (void)heap.allocate(100);
  for (int i = 0; i < 20; ++i) heap.deallocate(heap.allocate(1000));
  for (int i = 0; i < 30; ++i) heap.deallocate(heap.allocate(100, strategy::best_fit));
  std::thread{[&heap] { heap.deallocate(heap.allocate(10, strategy::segregated)); }}.join();
  const hybrid_statistics is = heap.statistics();
  CHECK(is.fixed.allocations == 10);
  CHECK(is.fixed.deallocations == 0);
  CHECK(is.fixed.requested_bytes == 1000);
  CHECK(is.segregated.allocations == 21);
  CHECK(is.segregated.deallocations == 21);
  CHECK(is.best_fit.allocations == 30);
  CHECK(is.best_fit.deallocations == 30);
  CHECK(is.best_fit_locks_taken >= 60);
  CHECK(is.fixed.allocate_ns == 0);
  CHECK(is.reserved_bytes > 0);
  CHECK(is.cache_refills >= 1);
}

TEST_CASE_TEMPLATE("a reset frees everything and forgets the scopes", H, CONTRACT_HYBRIDS) {
  fake_blocks source;
  H heap{alone, source};
  const auto fill = [&heap] {
    std::set<void*> seen;
    for (int i = 0; i < 2000; ++i) {
      for (const std::size_t size : {20U, 200U, 400U, 4096U, 9000U}) {
        void* const block = heap.allocate(size);
        std::memset(block, 1, size);
        seen.insert(block);
      }
    }
    return seen.size();
  };
  heap.begin_scope();
  CHECK(fill() == 10'000);
  (void)heap.allocate(4'000'000);
  const std::size_t full = source.bytes_out();
  heap.reset();
  CHECK(heap.open_scopes() == 0);
  CHECK(source.bytes_out() < full - 20'000'000); // the best fit's
  CHECK(fill() == 10'000);
  CHECK(source.bytes_out() <= full);
}

TEST_CASE_TEMPLATE("all memory goes back to the source", H, CONTRACT_HYBRIDS) {
  for (const bool background : {false, true}) {
    CAPTURE(background);
    fake_blocks source;
    {
      H heap{{.background = background}, source};
      heap.begin_scope();
      for (const std::size_t size : sizes) {
        for (int i = 0; i < 200; ++i) (void)heap.allocate(size > 100'000 ? 1 : size);
        (void)heap.allocate(size);
      }
      // A thread that fills reserves may take more between the two looks.
      if (!background) CHECK(heap.statistics().reserved_bytes == source.bytes_out());
    }
    CHECK(source.pieces_out() == 0);
    CHECK(source.bytes_out() == 0);
  }
}

TEST_CASE_TEMPLATE("a source that fails at any request: nullptr, and nothing is lost", H,
                   CONTRACT_HYBRIDS) {
  const auto work = [](H& heap) {
    std::vector<void*> got;
    std::size_t refused = 0;
    const auto all = [&] {
      for (int i = 0; i < 40; ++i) {
        for (const std::size_t size : sizes) {
          void* const block = heap.try_allocate(size > 100'000 && i != 0 ? 9000 : size);
          if (block == nullptr) {
            ++refused;
          } else {
            got.push_back(block);
          }
        }
      }
    };
    all();
    for (void* const each : got) REQUIRE(heap.deallocate(each));
    got.clear();
    try {
      heap.begin_scope();
      all();
      heap.end_scope();
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    return refused;
  };
  fake_blocks counting;
  {
    H heap{alone, counting};
    REQUIRE(work(heap) == 0);
  }
  for (std::size_t successes = 0; successes <= counting.requests(); ++successes) {
    CAPTURE(successes);
    fake_blocks source;
    source.fail_after(successes);
    {
      H heap{alone, source};
      const std::size_t refused = work(heap);
      CHECK((refused == 0) == (successes == counting.requests()));
      source.fail_after(static_cast<std::size_t>(-1));
      CHECK(work(heap) == 0);
    }
    REQUIRE(source.pieces_out() == 0);
  }
}

/// Has chunks, and nothing smaller.
class chunks_only final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    const bool is_chunk = size_bytes >= heapwise::detail::hybrids::chunk_bytes;
    return is_chunk ? heapwise::os_blocks().allocate(size_bytes, alignment) : nullptr;
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    heapwise::os_blocks().deallocate(memory, size_bytes, alignment);
  }
};

TEST_CASE_TEMPLATE("requests that fail obtain no memory that is never used", H, CONTRACT_HYBRIDS) {
  chunks_only source;
  H heap{alone, source};
  for (int i = 0; i < 10; ++i) {
    void* const block = heap.try_allocate(1000, strategy::segregated);
    if (block != nullptr) heap.deallocate(block);
  }
  CHECK(heap.statistics().reserved_bytes <= heapwise::detail::hybrids::chunk_bytes);
}

TEST_CASE("time is only counted where it was asked for") {
  heapwise::hybrid<heapwise::refill::class_arena, heapwise::timed> heap;
  for (int i = 0; i < 100; ++i) heap.deallocate(heap.allocate(1000));
  const hybrid_statistics is = heap.statistics();
  CHECK(is.segregated.allocate_ns > 0);
  CHECK(is.segregated.deallocate_ns > 0);
  CHECK(is.fixed.allocate_ns == 0);
}

TEST_CASE("a reserve spares the allocations their carving") {
  constexpr hybrid_options options{.reserve_slices = 8, .background = false};
  heapwise::hybrid<heapwise::refill::reserved> heap{options};
  const std::size_t per_slice = heapwise::detail::hybrids::slice_bytes / 512;
  for (std::size_t i = 0; i < 8 * per_slice; ++i) (void)heap.allocate(512);
  CHECK(heap.statistics().refill.refills == 0);
  CHECK(heap.statistics().refill.refills_ahead == 8 * 11);
  (void)heap.allocate(512);
  CHECK(heap.statistics().refill.refills == 1);
}

TEST_CASE("a reset waits for the thread that fills the reserves") {
  constexpr hybrid_options options{.reserve_slices = 8};
  heapwise::hybrid<heapwise::refill::reserved> heap{options};
  for (int round = 0; round < 50; ++round) {
    std::set<void*> distinct;
    for (int i = 0; i < 1000; ++i) distinct.insert(heap.allocate(i % 2 == 0 ? 100 : 4096));
    REQUIRE(distinct.size() == 1000);
    heap.reset();
  }
}

TEST_CASE("the busiest lock is one of those that were taken") {
  heapwise::hybrid<heapwise::refill::class_arena> heap;
  for (int i = 0; i < 100; ++i) heap.deallocate(heap.allocate(512));
  heap.deallocate(heap.allocate(4096));
  const heapwise::refill_counts is = heap.statistics().refill;
  CHECK(is.locks_taken == 202);
  CHECK(is.busiest_lock == 200);
  CHECK(is.list_waits == 0);
}

} // namespace
