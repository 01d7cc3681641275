#include "heap/central/mixed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "os/os.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;
namespace os = heapwise::os;

constexpr std::size_t granules = slice_bytes / granule_bytes;

size_class class_for(std::size_t size) { return static_cast<size_class>(class_of(size)); }

/// A span of the heap's own bin of a class that became a mixed one, with some of its blocks live.
class mixed_span {
 public:
  /// Effects: frees the blocks whose number is_free(number), and makes the span a mixed one.
  template <class IsFree>
  mixed_span(std::size_t size, const IsFree& is_free) : of_{class_for(size)} {
    start_without_clock();
    bring_everything_home();
    bin& from = the_bins[of_];
    const std::vector<std::byte*> blocks = take_blocks(from, of_, class_table[of_].blocks);
    home_ = &the_space.span_at(blocks[0]);
    std::vector<std::byte*> freed;
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      REQUIRE(&the_space.span_at(blocks[at]) == home_);
      (is_free(at) ? freed : live).push_back(blocks[at]);
    }
    put_back(from, freed, of_);
    while (home_->use.load() != slice_use::mixed) REQUIRE(from.let_go_sparsest(of_, 1));
  }

  [[nodiscard]] std::byte* begin() const { return the_space.begin_of(*home_); }
  [[nodiscard]] span& record() const { return *home_; }

  std::vector<std::byte*> live;

 private:
  size_class of_;
  span* home_ = nullptr;
};

/// Returns: what the holes of all mixed spans give for a size.
std::vector<std::byte*> cut(std::size_t size, std::size_t wanted) {
  const size_class class_index = class_for(size);
  std::vector<std::byte*> taken;
  while (taken.size() < wanted) {
    std::array<std::byte*, max_batch> room;
    std::byte** top = room.data();
    const std::size_t now =
        std::min<std::size_t>(wanted - taken.size(), class_table[class_index].batch);
    if (the_mixed_spans.take(top, static_cast<std::uint32_t>(now), class_index) == 0) break;
    while (top != room.data()) taken.push_back(*--top);
  }
  return taken;
}

/// Effects: frees blocks of mixed spans past all caches.
void put_back_cut(const std::vector<std::byte*>& blocks, std::size_t size) {
  put_back(the_bins[class_for(size)], blocks, class_for(size));
}

void check_nothing_is_left() {
  CHECK(the_mixed_spans.count() == 0);
  CHECK(the_mixed_spans.free_bytes() == 0);
}

TEST_CASE("live blocks of a mixed span stay what they were, and the last one takes it along") {
  mixed_span some{64, [](std::size_t at) { return at % 4 != 0; }};
  for (std::byte* each : some.live) {
    std::memset(each, 0x5a, 64);
    REQUIRE(the_facts.map.class_at(each) == mixed_class);
    REQUIRE(heapwise_malloc_usable_size(each) == 64);
  }
  CHECK(the_mixed_spans.count() == 1);
  CHECK(the_mixed_spans.free_bytes() == slice_bytes - some.live.size() * 64);
  const std::size_t used = the_space.used_bytes();
  for (std::byte* each : some.live) {
    REQUIRE(std::all_of(each, each + 64, [](std::byte at) { return at == std::byte{0x5a}; }));
    heapwise_free(each);
  }
  empty_own_cache();
  the_bins[class_for(64)].trim(class_for(64));
  the_bins[class_for(64)].trim(class_for(64));
  CHECK(the_space.used_bytes() == used - slice_bytes);
  check_nothing_is_left();
}

TEST_CASE("the record of a mixed span goes back with its slice") {
  if (os::page_bytes() > slice_bytes / granule_bytes) return; // pages are shared between slices
  const std::byte* begin = nullptr;
  const auto is_resident = [&] {
    unsigned char resident = 0;
    REQUIRE(::mincore(&the_space.granule_class(begin), os::page_bytes(), &resident) == 0);
    return (resident & 1) != 0;
  };
  mixed_span some{64, [](std::size_t at) { return at % 4 != 0; }};
  begin = some.begin();
  for (std::byte* each : some.live) heapwise_free(each);
  bring_everything_home();
  check_nothing_is_left();
  CHECK(is_resident());
  the_space.purge(0);
  CHECK_FALSE(is_resident());
}

TEST_CASE("a block of a mixed span is resized with its content, and keeps its place if it fits") {
  mixed_span some{256, [](std::size_t at) { return at % 2 != 0; }};
  std::byte* const block = some.live.back();
  std::memset(block, 0x33, 256);
  CHECK(heapwise_realloc(block, 250) == block);
  auto* const new_block = static_cast<std::byte*>(heapwise_realloc(block, 5000));
  CHECK(new_block != block);
  CHECK(
      std::all_of(new_block, new_block + 250, [](std::byte at) { return at == std::byte{0x33}; }));
  some.live.back() = new_block;
  for (std::byte* each : some.live) heapwise_free(each);
  bring_everything_home();
  check_nothing_is_left();
}

TEST_CASE("blocks of every class that are cut from holes are as aligned as in spans of their own") {
  mixed_span some{48, [](std::size_t at) { return at != 1 && at != 700; }};
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const std::size_t size = class_table[class_index].bytes;
    CAPTURE(size);
    const std::vector<std::byte*> blocks = cut(size, 4096);
    CHECK(blocks.empty() == (size == max_small_bytes)); // both halves have a live block
    for (const std::byte* each : blocks) {
      REQUIRE(static_cast<std::size_t>(each - some.begin()) % (size & -size) == 0);
      REQUIRE(each >= some.begin());
      REQUIRE(each + size <= some.begin() + slice_bytes);
      REQUIRE(heapwise_malloc_usable_size(const_cast<std::byte*>(each)) == size);
    }
    put_back_cut(blocks, size);
    CHECK(the_mixed_spans.free_bytes() == slice_bytes - 2 * 48);
  }
  put_back_cut(some.live, 48);
  check_nothing_is_left();
}

TEST_CASE("every granule between live blocks can be allocated") {
  for (const std::size_t size : {16UL, 48UL, 80UL, 112UL, 448UL}) {
    CAPTURE(size);
    stress::random draw{size};
    mixed_span some{size, [&](std::size_t at) { return at != 5 && draw.below(10) < 7; }};
    const std::size_t free_bytes = the_mixed_spans.free_bytes();
    CHECK(free_bytes == slice_bytes - some.live.size() * size);
    live_blocks live;
    for (std::byte* each : some.live) REQUIRE(live.add(each, size));
    const std::vector<std::byte*> taken = cut(16, granules);
    CHECK(taken.size() == free_bytes / 16);
    CHECK(the_mixed_spans.free_bytes() == 0);
    for (std::byte* each : taken) REQUIRE(live.add(each, 16));
    CHECK(cut(16, 1).empty());
    put_back_cut(taken, 16);
    for (std::byte* each : some.live) REQUIRE(live.remove(each));
    put_back_cut(some.live, size);
    check_nothing_is_left();
  }
}

TEST_CASE("a hole that opens behind a search is found by the next one") {
  mixed_span some{64, [](std::size_t at) { return at != 0; }};
  std::vector<std::byte*> taken = cut(1024, 10);
  REQUIRE(taken.size() == 10);
  put_back_cut({taken[1]}, 1024); // those around it are in use
  const std::vector<std::byte*> rest = cut(1024, 64);
  CHECK(rest.size() >= 63 - 10);
  const std::vector<std::byte*> again = cut(1024, 64);
  CHECK(rest.size() + again.size() == 63 - 10 + 1);
  taken.erase(taken.begin() + 1);
  for (const auto& each : {taken, rest, again}) put_back_cut(each, 1024);
  put_back_cut(some.live, 64);
  check_nothing_is_left();
}

TEST_CASE("a hole that grew block by block is found by a request that needs all of it") {
  for (const bool upwards : {true, false}) {
    CAPTURE(upwards);
    mixed_span some{64, [](std::size_t at) { return at >= 512; }};
    const std::vector<std::byte*> upper = cut(16384, 8);
    REQUIRE(upper.size() == 2);
    std::vector<std::byte*> first_blocks(some.live.begin(), some.live.begin() + 500);
    if (!upwards) std::reverse(first_blocks.begin(), first_blocks.end());
    for (std::byte* each : first_blocks) put_back_cut({each}, 64);
    const std::vector<std::byte*> lower = cut(16384, 8);
    CHECK(lower.size() == 1);
    put_back_cut(upper, 16384);
    put_back_cut(lower, 16384);
    put_back_cut({some.live.begin() + 500, some.live.end()}, 64);
    check_nothing_is_left();
  }
}

TEST_CASE("holes are not lost for ever: freed bytes are allocated again, whatever was cut before") {
  constexpr std::size_t sizes[] = {16, 48, 64, 112, 320, 1024, 2560, 8192};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    stress::random draw{seed};
    mixed_span some{64, [&](std::size_t at) { return at != 9 && draw.below(4) != 0; }};
    std::vector<std::pair<std::byte*, std::size_t>> mine;
    for (std::byte* each : some.live) mine.emplace_back(each, 64);
    for (int step = 0; step < 300; ++step) {
      if (mine.size() > 1 && draw.below(2) == 0) {
        std::swap(mine[draw.below(mine.size())], mine.back());
        put_back_cut({mine.back().first}, mine.back().second);
        mine.pop_back();
      } else {
        const std::size_t size = sizes[draw.below(std::size(sizes))];
        for (std::byte* each : cut(size, 1 + draw.below(5))) mine.emplace_back(each, size);
      }
    }
    std::size_t used = 0;
    for (const auto& [block, size] : mine) used += size;
    REQUIRE(the_mixed_spans.free_bytes() == slice_bytes - used);
    for (std::byte* each : cut(16, granules)) mine.emplace_back(each, 16);
    CHECK(the_mixed_spans.free_bytes() == 0);
    for (const auto& [block, size] : mine) put_back_cut({block}, size);
    check_nothing_is_left();
  }
}

TEST_CASE("pages of holes go back, not those of blocks, and are counted again when cut") {
  mixed_span some{1024, [](std::size_t at) { return at != 0 && at != 63; }};
  const std::size_t page = heapwise::os::page_bytes();
  std::memset(some.live[0], 3, 1024);
  std::memset(some.live[1], 3, 1024);
  span& home = some.record();
  CHECK(the_mixed_spans.purge_pages(home, false) == 0); // touched a moment ago
  the_mixed_spans.purge_pages(home, false);
  CHECK((home.mixed.purged_pages & page_bits(0, 16)) == page_bits(1, 14));
  CHECK(the_mixed_spans.purge_pages(home, true) == 0); // not twice
  CHECK(some.live[0][1023] == std::byte{3});
  CHECK(some.live[1][0] == std::byte{3});
  const std::vector<std::byte*> taken = cut(8192, 1);
  REQUIRE(taken.size() == 1);
  const auto first = static_cast<std::size_t>(taken[0] - some.begin()) / page;
  CHECK((home.mixed.purged_pages & page_bits(0, 16)) == (page_bits(1, 14) & ~page_bits(first, 2)));
  std::memset(taken[0], 1, 8192);
  put_back_cut(taken, 8192);
  CHECK(the_mixed_spans.purge_pages(home, true) == 2 * page);
  CHECK(taken[0][0] == std::byte{0});
  put_back_cut(some.live, 1024);
  CHECK(the_mixed_spans.purge_pages(home, true) == 0); // no longer a mixed one
  check_nothing_is_left();
}

TEST_CASE("a free block of a mixed span, or an address that is not a block, ends the process") {
  mixed_span some{64, [](std::size_t at) { return at % 2 == 0; }};
  put_back_cut({some.live[0]}, 64);
  CHECK(contract::in_child([&] { put_back_cut({some.live[0]}, 64); }).signal == SIGABRT);
  const auto aborts = [&](std::byte* freed) {
    const contract::ending how = contract::in_child([&] {
      heapwise_free(freed);
      empty_own_cache(); // at the latest now
    });
    return how.signal == SIGABRT;
  };
  CHECK(aborts(some.live[0]));
  CHECK(aborts(some.live[1] + 16));
  CHECK(aborts(some.live[1] + 8));
  put_back_cut({some.live.begin() + 1, some.live.end()}, 64);
  check_nothing_is_left();
}

TEST_CASE("blocks that wait in a cache when their span becomes a mixed one find their way home") {
  start_without_clock();
  bring_everything_home();
  constexpr std::size_t size = 64;
  const size_class class_index = class_for(size);
  std::vector<std::byte*> blocks =
      take_blocks(the_bins[class_index], class_index, class_table[class_index].blocks);
  span& home = the_space.span_at(blocks[0]);
  const std::vector<std::byte*> cached(blocks.begin(), blocks.begin() + 100);
  const std::vector<std::byte*> stocked(blocks.begin() + 100,
                                        blocks.begin() + 100 + class_table[class_index].batch);
  put_back(the_bins[class_index], {blocks.begin() + 300, blocks.end()}, class_index);
  for (std::byte* each : cached) heapwise_free(each); // into this thread's cache
  lone_batch{class_index}.flush(the_bins[class_index], stocked.data());
  while (home.use.load() != slice_use::mixed)
    REQUIRE(the_bins[class_index].let_go_sparsest(class_index, 1));
  put_back(the_bins[class_index],
           {blocks.begin() + 100 + class_table[class_index].batch, blocks.begin() + 300},
           class_index);
  bring_everything_home();
  check_nothing_is_left();
}

TEST_CASE("the heap mixes spans by itself when sizes change, before it grows") {
  start_without_clock();
  bring_everything_home();
  constexpr std::size_t old_size = 128;
  constexpr std::size_t old_bytes = std::size_t{48} << 20;
  std::vector<void*> old;
  for (std::size_t at = 0; at < old_bytes / old_size; ++at)
    old.push_back(heapwise_malloc(old_size));
  stress::random draw{11};
  std::vector<void*> survivors;
  for (void* each : old) {
    if (draw.below(4) == 0) {
      survivors.push_back(each);
    } else {
      heapwise_free(each);
    }
  }
  heapwise_malloc_purge();
  const std::size_t used = the_space.used_bytes();
  std::vector<void*> later;
  for (std::size_t at = 0; at < (std::size_t{8} << 20) / 320; ++at) {
    later.push_back(heapwise_malloc(320));
    std::memset(later.back(), 1, 320);
  }
  CHECK(the_mixed_spans.count() > 0);
  CHECK(the_space.used_bytes() < used + (std::size_t{2} << 20));
  for (void* each : survivors) heapwise_free(each);
  for (void* each : later) heapwise_free(each);
  bring_everything_home();
  check_nothing_is_left();
}

/// Blocks of sizes that change from round to round, some of which survive every change.
class changing_sizes {
 public:
  explicit changing_sizes(std::uint64_t seed) : draw_{seed} {}

  void grow(std::size_t low, std::size_t high, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      const std::size_t size = low + draw_.below(high - low);
      const std::size_t alignment = draw_.below(8) == 0 ? std::size_t{16} << draw_.below(8) : 16;
      void* const block = heapwise_aligned_alloc(alignment, size);
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
      REQUIRE(heapwise_malloc_usable_size(block) >= size);
      REQUIRE(live_.add(block, size));
      blocks_.push_back(block);
    }
  }
  void shrink(std::size_t of_hundred) {
    std::vector<void*> kept;
    for (void* each : blocks_) {
      if (draw_.below(100) >= of_hundred) {
        kept.push_back(each);
        continue;
      }
      REQUIRE(live_.remove(each));
      heapwise_free(each);
    }
    blocks_ = std::move(kept);
  }
  void mix() { // as the heap does when there is much of it
    bring_everything_home();
    for (size_class class_index = 1; class_index <= class_count; ++class_index) {
      while (class_table[class_index].slices == 1 && draw_.below(4) != 0 &&
             the_bins[class_index].let_go_sparsest(class_index, 1)) {
      }
    }
  }

 private:
  stress::random draw_;
  live_blocks live_;
  std::vector<void*> blocks_;
};

/// Returns: the most spans that one of `count` requests made mixed ones.
std::size_t most_adopted_at_once(std::vector<void*>& blocks, std::size_t size, std::size_t count) {
  std::size_t most = 0;
  for (std::size_t each = 0; each < count; ++each) {
    const std::size_t before = the_mixed_spans.count();
    blocks.push_back(heapwise_malloc(size));
    most = std::max(most, the_mixed_spans.count() - before);
  }
  return most;
}

/// Effects: fills 128 MiB with blocks of one size, frees three of four of the last quarter, and
/// asks for blocks of another size. Calls `look` with the bytes in use before.
template <class Look>
void change_the_size_of_few(Look look) {
  constexpr std::size_t blocks = (std::size_t{128} << 20) / 128;
  std::vector<void*> survivors;
  std::vector<void*> freed;
  stress::random draw{12};
  for (std::size_t at = 0; at < blocks; ++at) {
    void* const block = heapwise_malloc(128);
    (at > blocks / 4 * 3 && draw.below(4) != 0 ? freed : survivors).push_back(block);
  }
  for (void* each : freed) heapwise_free(each);
  heapwise_malloc_purge();
  const std::size_t used = the_space.used_bytes();
  std::vector<void*> later;
  for (std::size_t at = 0; at < (std::size_t{4} << 20) / 320; ++at) {
    later.push_back(heapwise_malloc(320));
  }
  look(used);
  for (void* each : survivors) heapwise_free(each);
  for (void* each : later) heapwise_free(each);
}

TEST_CASE("the heap mixes spans even if most of it is in use") {
  start_without_clock();
  bring_everything_home();
  change_the_size_of_few([](std::size_t used) {
    CHECK(the_mixed_spans.count() > 0);
    CHECK(the_space.used_bytes() < used + (std::size_t{1} << 20));
  });
  bring_everything_home();
  check_nothing_is_left();
}

TEST_CASE("beside another thread the heap grows where one thread alone would mix") {
  start_without_clock();
  bring_everything_home();
  std::atomic<bool> joined{false};
  std::atomic<bool> done{false};
  std::thread other{[&] {
    heapwise_free(heapwise_malloc(64));
    joined = true;
    joined.notify_one();
    done.wait(false);
  }};
  joined.wait(false);
  change_the_size_of_few([](std::size_t used) {
    CHECK(the_mixed_spans.count() == 0);
    CHECK(the_space.used_bytes() >= used + (std::size_t{3} << 20));
  });
  done = true;
  done.notify_one();
  other.join();
  bring_everything_home();
  check_nothing_is_left();
}

TEST_CASE("one request makes few spans mixed ones, whether their holes fit it or not") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    stress::random draw{7};
    std::vector<void*> kept;
    std::vector<void*> freed;
    for (std::size_t each = 0; each < (std::size_t{64} << 20) / 64; ++each) {
      (draw.below(4) == 0 ? kept : freed).push_back(heapwise_malloc(64));
    }
    for (void* each : freed) heapwise_free(each);
    bring_everything_home();
    the_space.purge(0);
    // A hole of 4 KiB would be 64 free neighbours: there is none.
    if (most_adopted_at_once(kept, 4096, 256) > 4) std::_Exit(1);
    if (the_mixed_spans.count() != 0) std::_Exit(2);
    if (most_adopted_at_once(kept, 256, 20'000) > 4) std::_Exit(3);
    if (the_mixed_spans.count() == 0) std::_Exit(4);
    for (void* each : kept) heapwise_free(each);
    bring_everything_home();
    if (the_mixed_spans.count() != 0) std::_Exit(5);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a model of changing sizes: no block is shared, none is damaged, all memory comes back") {
  constexpr std::pair<std::size_t, std::size_t> ranges[] = {{0, 64},      {200, 1000}, {16, 300},
                                                            {3000, 9000}, {0, 33000},  {40, 50}};
  start_without_clock();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    changing_sizes model{seed};
    bool were_mixed = false;
    for (const auto& [low, high] : ranges) {
      model.grow(low, high, std::min<std::size_t>(6'000, (std::size_t{4} << 20) / high));
      model.shrink(75);
      model.mix();
      were_mixed = were_mixed || the_mixed_spans.count() > 0;
      model.grow(16, 2000, 500);
      heapwise_malloc_purge();
    }
    CHECK(were_mixed);
    model.shrink(100);
    bring_everything_home();
    check_nothing_is_left();
  }
}

} // namespace
