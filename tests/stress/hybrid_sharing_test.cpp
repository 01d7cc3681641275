// All threads at one research allocator, with the library's points of interest opened wide: blocks
// go from thread to thread, threads and scopes come and go, and nothing is lost or given twice.
#include "schedule.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "contents.hpp"
#include "contract/hybrids.hpp"
#include "mailbox.hpp"
#include "threads.hpp"

namespace {

using heapwise::fake_blocks;
using heapwise::hybrid_options;
using heapwise::strategy;

/// What a block is signed with: its size, and a byte that fills the rest.
struct signature {
  std::size_t size;
  unsigned char fill;
};

std::size_t size_of(stress::random& draw) {
  const std::size_t kind = draw.below(20);
  const std::size_t most = kind < 12 ? 260 : kind < 18 ? 4200 : kind < 19 ? 30'000 : 600'000;
  return sizeof(signature) + draw.below(most);
}

void sign(void* block, std::size_t size, std::uint64_t word) {
  const signature mine{size, static_cast<unsigned char>(word)};
  const std::size_t most = std::min<std::size_t>(size, 2000); // speed
  std::memset(block, mine.fill, most);
  std::memcpy(block, &mine, sizeof mine);
}

bool is_intact(const void* block) {
  signature mine{};
  std::memcpy(&mine, block, sizeof mine);
  const std::size_t most = std::min<std::size_t>(mine.size, 2000);
  const auto* const bytes = static_cast<const unsigned char*>(block);
  return stress::all_are(bytes + sizeof mine, most - sizeof mine, mine.fill);
}

template <class Heap>
std::size_t live_of(const Heap& heap) {
  const heapwise::hybrid_statistics is = heap.statistics();
  std::size_t live = 0;
  for (const auto* each : {&is.fixed, &is.segregated, &is.best_fit}) {
    live += each->allocations - each->deallocations;
  }
  return live;
}

TEST_CASE_TEMPLATE("allocated here, freed there, any size", H, CONTRACT_HYBRIDS) {
  fake_blocks source; // not for several threads: that the allocator comes one at a time shows here
  {
    H heap{hybrid_options{}, source};
    stress::mailbox mail;
    std::atomic<std::size_t> wrong{0};
    const std::size_t steps = stress::scaled(30'000);
    stress::on_threads(5, [&](std::size_t me) {
      stress::random draw{me};
      stress::seed_schedule(77, me);
      for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t size = size_of(draw);
        void* const block = heap.try_allocate(size, static_cast<strategy>(draw.below(4)));
        if (block == nullptr) {
          ++wrong;
          continue;
        }
        sign(block, size, draw());
        void* const received = mail.exchange(draw.below(stress::mailbox::size), block);
        if (received == nullptr) continue;
        if (!is_intact(received) || !heap.deallocate(received)) ++wrong;
      }
    });
    CHECK(wrong == 0);
    for (std::size_t i = 0; i < stress::mailbox::size; ++i) {
      void* const block = mail.exchange(i, nullptr);
      if (block != nullptr) CHECK(is_intact(block));
      CHECK(heap.deallocate(block));
    }
    CHECK(live_of(heap) == 0);
    // The thread that fills reserves may take more between the two looks.
    if constexpr (!std::is_same_v<H, heapwise::hybrid<heapwise::refill::reserved>>) {
      CHECK(heap.statistics().reserved_bytes == source.bytes_out());
    }
  }
  CHECK(source.pieces_out() == 0);
}

TEST_CASE_TEMPLATE("nothing is given out twice, and nothing is lost", H, CONTRACT_HYBRIDS) {
  H heap;
  constexpr std::size_t threads = 4;
  const std::size_t rounds = stress::scaled(20);
  std::size_t settled = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::vector<void*>> taken(threads);
    stress::on_threads(threads, [&](std::size_t me) {
      stress::seed_schedule(round, me);
      for (std::size_t i = 0; i < 3000; ++i) {
        taken[me].push_back(heap.allocate(i % 3 == 0 ? 512 : 120));
        if (i % 5 != 4) continue;
        heap.deallocate(taken[me].back());
        taken[me].pop_back();
      }
    });
    std::set<void*> distinct;
    std::size_t count = 0;
    for (const auto& mine : taken) {
      distinct.insert(mine.begin(), mine.end());
      count += mine.size();
    }
    REQUIRE(distinct.size() == count);
    for (const auto& mine : taken) {
      for (void* const each : mine) heap.deallocate(each);
    }
    // A round needs what the last one gave back; a few slices more where threads met.
    const std::size_t reserved = heap.statistics().reserved_bytes;
    if (round == 1) settled = reserved;
    if (round > 1) CHECK(reserved <= settled + 4 * heapwise::detail::hybrids::chunk_bytes);
  }
}

TEST_CASE_TEMPLATE("scopes of many threads, and threads that end in theirs", H, CONTRACT_HYBRIDS) {
  H heap;
  std::atomic<std::size_t> wrong{0};
  const std::size_t rounds = stress::scaled(60);
  stress::on_threads(4, [&](std::size_t me) {
    for (std::size_t round = 0; round < rounds; ++round) {
      std::thread{[&, me] {
        stress::random draw{me * 1000 + round};
        std::vector<std::vector<std::pair<void*, std::size_t>>> scopes;
        for (int i = 0; i < 400; ++i) {
          const std::size_t what = draw.below(20);
          if (scopes.empty() || what == 0) {
            heap.begin_scope();
            scopes.emplace_back();
          } else if (what == 1) {
            for (const auto& each : scopes.back()) wrong += is_intact(each.first) ? 0 : 1;
            if (heap.end_scope() != scopes.back().size()) ++wrong;
            scopes.pop_back();
          } else if (what < 14) {
            const std::size_t size = size_of(draw);
            void* const block = heap.allocate(size);
            sign(block, size, draw());
            scopes.back().emplace_back(block, size);
          } else if (auto& some = scopes[draw.below(scopes.size())]; !some.empty()) {
            const std::size_t index = draw.below(some.size());
            if (!is_intact(some[index].first) || !heap.deallocate(some[index].first)) ++wrong;
            some[index] = some.back();
            some.pop_back();
          }
        }
      }}.join();
    }
  });
  CHECK(wrong == 0);
  CHECK(live_of(heap) == 0);
}

TEST_CASE_TEMPLATE("allocators come and go while threads that used them end", H, CONTRACT_HYBRIDS) {
  const std::size_t rounds = stress::scaled(40);
  H survivor;
  stress::on_threads(4, [&](std::size_t index) {
    for (std::size_t i = 0; i < rounds; ++i) {
      if (index % 2 == 0) {
        H passing;
        for (int k = 0; k < 50; ++k) (void)passing.allocate(100);
      } else {
        std::thread{[&] {
          for (int k = 0; k < 50; ++k) survivor.deallocate(survivor.allocate(100));
        }}.join();
      }
    }
  });
  CHECK(live_of(survivor) == 0);
}

TEST_CASE_TEMPLATE("an allocator is destroyed while other threads hold caches of it", H,
                   CONTRACT_HYBRIDS) {
  const std::size_t rounds = stress::scaled(30);
  for (std::size_t i = 0; i < rounds; ++i) {
    fake_blocks source;
    auto doomed = std::make_unique<H>(hybrid_options{}, source);
    std::barrier<> used{3};
    std::barrier<> ends{3};
    stress::on_threads(3, [&](std::size_t index) {
      doomed->begin_scope();
      for (int k = 0; k < 50; ++k) doomed->deallocate(doomed->allocate(100));
      for (int k = 0; k < 50; ++k) (void)doomed->allocate(100);
      used.arrive_and_wait();
      if (index == 0) doomed.reset();
      ends.arrive_and_wait();
      // The dead one's slot goes to one of these: it must not find the old cache there.
      H next;
      for (int k = 0; k < 50; ++k) next.deallocate(next.allocate(100));
    });
    REQUIRE(source.pieces_out() == 0);
  }
}

} // namespace
