#include "heap/central/bin.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "os/os.hpp"
#include "stress/contents.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;
using contract::ending;
using contract::in_child;

constexpr size_class of_64 = static_cast<size_class>(class_of(64));
constexpr size_class of_1024 = static_cast<size_class>(class_of(1024));
constexpr size_class of_32k = class_count;

/// A bin beside the heap's, whose spans lie among theirs.
struct a_bin : bin {
  a_bin() { start_without_clock(); }
};

std::byte* begin_of_span(const std::byte* block) {
  return the_space.begin_of(the_space.span_at(block));
}

/// Effects: dissolves what is empty: the spare span of a bin is let go when it was left alone.
void trim_all(bin& some, size_class class_index) {
  for (int pass = 0; pass < 3; ++pass) {
    some.trim(class_index);
    for (slice_index at = 0; at < the_space.committed_slices(); ++at) {
      some.purge_pages(*the_space.record(at), class_index, false);
    }
  }
}

struct listed_span : span {
  explicit listed_span(std::uint32_t free) : span{} {
    small.fullness = span_lists::unlisted;
    small.set_free(free);
  }
};

TEST_CASE("the fullest span serves first, full ones not at all") {
  constexpr std::uint32_t blocks = 64;
  span_lists lists;
  CHECK(lists.fullest() == nullptr);
  CHECK(lists.emptiest() == nullptr);
  listed_span full{0};
  listed_span nearly_full{1};
  listed_span half{32};
  listed_span empty{64};
  for (listed_span* each : {&half, &full, &empty, &nearly_full}) lists.place(*each, blocks);
  CHECK(full.small.fullness == span_lists::unlisted);
  CHECK(lists.fullest() == &nearly_full);
  CHECK(lists.emptiest() == &empty);
  lists.remove(nearly_full);
  CHECK(lists.fullest() == &half);
  lists.remove(half);
  CHECK(lists.fullest() == &empty);
  half.small.set_free(64);
  lists.place(half, blocks);
  CHECK(lists.fullest() == &half);
  lists.remove(half);
  lists.remove(half); // once more does nothing
  lists.remove(empty);
  CHECK(lists.fullest() == nullptr);
}

TEST_CASE("a span has too many free blocks if it belongs into an emptier list, or is empty") {
  for (const std::uint32_t blocks : {8U, 13U, 64U, 1365U, 4096U}) {
    CAPTURE(blocks);
    for (std::uint32_t free = 0; free < blocks; ++free) {
      CAPTURE(free);
      span_lists lists;
      listed_span some{free};
      lists.place(some, blocks);
      CHECK_FALSE(span_lists::is_too_empty(some));
      const std::uint8_t list = some.small.fullness;
      const bool is_told = some.small.add_free(1);
      const bool is_empty = some.small.free_blocks() == blocks;
      const bool belongs_elsewhere = span_lists::list_of(some, blocks) != list;
      CHECK(span_lists::is_too_empty(some) == (is_empty || belongs_elsewhere));
      CHECK(is_told == span_lists::is_too_empty(some));
    }
  }
}

TEST_CASE("spans in one list are all found, in whichever order they leave") {
  constexpr std::uint32_t blocks = 64;
  for (int first = 0; first < 3; ++first) {
    std::array<listed_span, 3> spans{listed_span{3}, listed_span{3}, listed_span{3}};
    span_lists lists;
    for (span& each : spans) lists.place(each, blocks);
    for (int step = 0; step < 3; ++step) {
      REQUIRE(lists.fullest() != nullptr);
      lists.remove(spans[static_cast<std::size_t>((first + step) % 3)]);
    }
    CHECK(lists.fullest() == nullptr);
  }
}

TEST_CASE("a fresh span is handed out in the order of its addresses, batch by batch") {
  for (const size_class class_index : {size_class{1}, of_64, size_class{11}, of_1024, of_32k}) {
    CAPTURE(class_table[class_index].bytes);
    a_bin some;
    lone_batch first{class_index};
    REQUIRE(first.refill(some));
    std::vector<std::byte*> blocks = first.take_all();
    CHECK(blocks.size() == class_table[class_index].batch);
    const std::vector<std::byte*> rest =
        take_blocks(some, class_index, class_table[class_index].blocks - blocks.size());
    blocks.insert(blocks.end(), rest.begin(), rest.end());
    REQUIRE(blocks.size() == class_table[class_index].blocks);
    CHECK(blocks[0] == begin_of_span(blocks[0]));
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      REQUIRE(blocks[at] == blocks[0] + at * class_table[class_index].bytes);
    }
    CHECK(some.figures(class_index).spans == 1);
    CHECK(some.free_blocks() == 0);
    put_back(some, blocks, class_index);
    CHECK(some.free_blocks() == class_table[class_index].blocks);
    trim_all(some, class_index);
    CHECK(some.figures(class_index).spans == 0);
    CHECK(some.free_blocks() == 0);
  }
}

TEST_CASE("of neighbours among scattered blocks the lower one comes first") {
  a_bin some;
  const std::vector<std::byte*> blocks = take_blocks(some, of_64, class_table[of_64].blocks);
  for (std::size_t at = 2; at + 1 < blocks.size(); at += 7) {
    put_back(some, {blocks[at + 1], blocks[at]}, of_64);
  }
  lone_batch next{of_64};
  REQUIRE(next.refill(some));
  const std::vector<std::byte*> taken = next.take_all();
  for (std::size_t at = 0; at + 1 < taken.size(); at += 2) {
    REQUIRE(taken[at + 1] == taken[at] + 64);
  }
  put_back(some, taken, of_64);
  std::vector<std::byte*> rest;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (at % 7 != 2 && at % 7 != 3) rest.push_back(blocks[at]);
  }
  put_back(some, rest, of_64);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("scattered blocks come out as a whole batch, the lowest of a span among them") {
  a_bin some;
  std::vector<std::byte*> blocks = take_blocks(some, of_64, 2 * class_table[of_64].blocks);
  std::vector<std::byte*> scattered;
  for (std::size_t at = 1; at < blocks.size(); at += 7) scattered.push_back(blocks[at]);
  put_back(some, scattered, of_64);
  lone_batch next{of_64};
  REQUIRE(next.refill(some));
  std::vector<std::byte*> taken = next.take_all();
  CHECK(taken.size() == class_table[of_64].batch);
  // Within one span every block comes before those above it in the same run.
  std::vector<std::byte*> in_order = taken;
  std::sort(in_order.begin(), in_order.end());
  for (const std::byte* each : in_order) {
    CHECK(std::find(scattered.begin(), scattered.end(), each) != scattered.end());
  }
  CHECK(begin_of_span(in_order.front()) == begin_of_span(in_order.back()));
  const auto lowest = std::min_element(scattered.begin(), scattered.end(), [&](auto* a, auto* b) {
    const bool a_here = begin_of_span(a) == begin_of_span(in_order[0]);
    const bool b_here = begin_of_span(b) == begin_of_span(in_order[0]);
    return a_here != b_here ? a_here : a < b;
  });
  CHECK(in_order.front() == *lowest);
  put_back(some, taken, of_64);
  std::vector<std::byte*> rest;
  std::set_difference(blocks.begin(), blocks.end(), scattered.begin(), scattered.end(),
                      std::back_inserter(rest));
  put_back(some, rest, of_64);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("neighbours that came back in any order come out lowest first") {
  a_bin some;
  const std::vector<std::byte*> blocks = take_blocks(some, of_64, class_table[of_64].blocks);
  std::vector<std::byte*> middle(blocks.begin() + 100, blocks.begin() + 200);
  std::reverse(middle.begin(), middle.end());
  put_back(some, middle, of_64);
  std::vector<std::byte*> taken = take_blocks(some, of_64, 100);
  CHECK(std::equal(taken.begin(), taken.end(), blocks.begin() + 100));
  put_back(some, blocks, of_64);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("batches wait for other threads up to a limit, the last first") {
  for (const size_class class_index : {of_64, of_1024, of_32k}) {
    CAPTURE(class_table[class_index].bytes);
    a_bin some;
    const std::size_t batch = class_table[class_index].batch;
    constexpr std::size_t batches = 200;
    const std::vector<std::byte*> blocks = take_blocks(some, class_index, batches * batch);
    REQUIRE(blocks.size() == batches * batch);
    lone_batch passed{class_index};
    for (std::size_t at = 0; at < batches; ++at) passed.flush(some, blocks.data() + at * batch);
    const bin_figures now = some.figures(class_index);
    CHECK(now.flushes == batches);
    CHECK(now.stocked_blocks >= 16 * batch);
    CHECK(now.stocked_blocks <= batches / 2 * batch);
    CHECK((now.stocked_blocks * class_table[class_index].bytes <= 256 << 10 ||
           now.stocked_blocks == 16 * batch));
    CHECK(now.stocked_blocks + now.free_blocks == now.spans * class_table[class_index].blocks);
    REQUIRE(passed.refill(some));
    const std::size_t last = now.stocked_blocks - batch;
    std::vector<std::byte*> taken = passed.take_all();
    std::reverse(taken.begin(), taken.end());
    CHECK(std::equal(taken.begin(), taken.end(), blocks.begin() + static_cast<long>(last)));
    put_back(some, taken, class_index);
    trim_all(some, class_index);
    CHECK(some.figures(class_index).stocked_blocks == 0);
    CHECK(some.figures(class_index).spans == 0);
  }
}

TEST_CASE("few batches suffice for blocks that come and go, and a trim lets go of them") {
  a_bin some;
  lone_batch passed{of_64};
  std::set<const batch*> batches;
  for (int round = 0; round < 1000; ++round) {
    REQUIRE(passed.refill(some));
    batches.insert(passed.memory());
    const std::vector<std::byte*> blocks = passed.take_all();
    passed.flush(some, blocks.data());
    batches.insert(passed.memory());
    if (round % 100 == 0) trim_all(some, of_64);
  }
  CHECK(batches.size() <= 3);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("a trim takes only the batches that nobody wanted since the last one") {
  a_bin some;
  const std::size_t batch = class_table[of_1024].batch;
  const std::vector<std::byte*> blocks = take_blocks(some, of_1024, 6 * batch);
  some.trim(of_1024);
  lone_batch first{of_1024};
  for (std::size_t at = 0; at < 6; ++at) first.flush(some, blocks.data() + at * batch);
  some.trim(of_1024);
  CHECK(some.figures(of_1024).stocked_blocks == 6 * batch); // they came just now
  lone_batch second{of_1024};
  REQUIRE(first.refill(some));
  REQUIRE(second.refill(some));
  std::vector<std::byte*> taken = first.take_all();
  first.flush(some, taken.data());
  some.trim(of_1024);
  CHECK(some.figures(of_1024).stocked_blocks == 1 * batch); // four were never needed
  put_back(some, second.take_all(), of_1024);
  trim_all(some, of_1024);
  CHECK(some.figures(of_1024).spans == 0);
}

TEST_CASE("one span without blocks in use is kept for the next refill, no second one") {
  a_bin some;
  const std::size_t blocks_of_a_span = class_table[of_1024].blocks;
  const std::vector<std::byte*> blocks = take_blocks(some, of_1024, 3 * blocks_of_a_span);
  CHECK(some.figures(of_1024).spans == 3);
  const std::size_t used = the_space.used_bytes();
  put_back(some, blocks, of_1024);
  CHECK(some.figures(of_1024).spans == 1);
  CHECK(some.free_blocks() == blocks_of_a_span);
  CHECK(the_space.used_bytes() == used - 2 * slice_bytes);
  some.trim(of_1024); // used since the clock looked
  CHECK(some.figures(of_1024).spans == 1);
  const std::vector<std::byte*> again = take_blocks(some, of_1024, blocks_of_a_span);
  CHECK(some.figures(of_1024).spans == 1); // it served
  put_back(some, again, of_1024);
  trim_all(some, of_1024);
  CHECK(some.figures(of_1024).spans == 0);
  CHECK(the_space.used_bytes() == used - 3 * slice_bytes);
}

TEST_CASE("a spare span that a refill passed over is still let go") {
  a_bin some;
  const std::size_t blocks_of_a_span = class_table[of_64].blocks;
  const std::vector<std::byte*> blocks = take_blocks(some, of_64, 2 * blocks_of_a_span);
  // One span has a few single holes, the other one is the spare.
  std::vector<std::byte*> holes{blocks[0], blocks[2], blocks[4]};
  put_back(some, {blocks.begin() + static_cast<long>(blocks_of_a_span), blocks.end()}, of_64);
  put_back(some, holes, of_64);
  lone_batch next{of_64};
  REQUIRE(next.refill(some));
  put_back(some, next.take_all(), of_64);
  std::vector<std::byte*> rest{blocks[1], blocks[3]};
  rest.insert(rest.end(), blocks.begin() + 5, blocks.begin() + static_cast<long>(blocks_of_a_span));
  put_back(some, rest, of_64);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("pages without a block in use go back once, and count as used when handed out") {
  a_bin some;
  const std::size_t page = heapwise::os::page_bytes();
  const std::size_t in_a_page = page / 64;
  const std::vector<std::byte*> blocks = take_blocks(some, of_64, class_table[of_64].blocks);
  for (std::byte* each : blocks) std::memset(each, 1, 64);
  span& home = the_space.span_at(blocks[0]);
  const std::size_t pages = slice_bytes / page;
  // The first page keeps one block, the last page none but the others all.
  std::vector<std::byte*> freed(blocks.begin() + 1, blocks.begin() + static_cast<long>(in_a_page));
  freed.insert(freed.end(), blocks.end() - static_cast<long>(in_a_page), blocks.end());
  put_back(some, freed, of_64);
  CHECK(some.purge_pages(home, of_64, false) == 0); // touched a moment ago
  CHECK(some.purge_pages(home, of_64, false) == page);
  const std::uint64_t given_back = home.small.purged_pages & page_bits(0, pages);
  CHECK(given_back == page_bits(pages - 1, 1));
  CHECK(some.purge_pages(home, of_64, true) == 0); // not twice
  CHECK(*(begin_of_span(blocks[0]) + slice_bytes - page) == std::byte{0});
  lone_batch next{of_64};
  std::vector<std::byte*> taken;
  while (some.free_blocks() > 0) {
    REQUIRE(next.refill(some));
    const std::vector<std::byte*> more = next.take_all();
    taken.insert(taken.end(), more.begin(), more.end());
  }
  CHECK((home.small.purged_pages & page_bits(0, pages)) == 0);
  put_back(some, taken, of_64);
  CHECK(some.purge_pages(home, of_64, true) == page);
  // One block of the page goes out again.
  void* const one = some.take_one(of_64);
  CHECK(one == blocks[1]);
  put_back(some, {static_cast<std::byte*>(one)}, of_64);
  put_back(some, {blocks[0]}, of_64);
  put_back(
      some,
      {blocks.begin() + static_cast<long>(in_a_page), blocks.end() - static_cast<long>(in_a_page)},
      of_64);
  trim_all(some, of_64);
  CHECK(some.figures(of_64).spans == 0);
}

TEST_CASE("a block over two pages keeps both, and purging never takes a byte in use") {
  constexpr size_class class_index = static_cast<size_class>(class_of(1280)); // 3.2 to a page
  a_bin some;
  const std::vector<std::byte*> blocks =
      take_blocks(some, class_index, class_table[class_index].blocks);
  stress::random draw{3};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::byte*> freed;
    std::vector<std::byte*> kept;
    for (std::byte* each : blocks) {
      std::memset(each, 5, class_table[class_index].bytes);
      (draw.below(3) != 0 ? freed : kept).push_back(each);
    }
    if (freed.size() == blocks.size()) continue;
    put_back(some, freed, class_index);
    span& home = the_space.span_at(blocks[0]);
    std::size_t purged = 0;
    while (const std::size_t more = some.purge_pages(home, class_index, true)) purged += more;
    bool intact = true;
    for (const std::byte* each : kept) {
      intact = intact && stress::all_are(each, class_table[class_index].bytes, 5);
    }
    REQUIRE(intact);
    std::size_t zeros = 0;
    for (std::size_t at = 0; at < slice_bytes; ++at) {
      zeros += begin_of_span(blocks[0])[at] == std::byte{0} ? 1 : 0;
    }
    // The rest behind the last block was never written, and belongs to no page that goes back.
    const std::size_t rest =
        slice_bytes - class_table[class_index].blocks * class_table[class_index].bytes;
    REQUIRE(zeros >= purged);
    REQUIRE(zeros <= purged + rest);
    REQUIRE(take_blocks(some, class_index, freed.size()).size() == freed.size());
    REQUIRE((home.small.purged_pages & page_bits(0, 16)) == 0);
  }
  put_back(some, blocks, class_index);
  trim_all(some, class_index);
  CHECK(some.figures(class_index).spans == 0);
}

std::string line_about(const void* block, const char* why) {
  char line[300];
  std::snprintf(line, sizeof line,
                "heapwise: invalid free of %p: %s. Next: run under a memory checker (valgrind, "
                "-fsanitize=address) to see who freed it; HEAPWISE_MALLOC_INVALID_FREE=warn goes "
                "on\n",
                block, why);
  return line;
}

TEST_CASE("a block that is back already, and an address inside a block, end the process") {
  a_bin some;
  const std::vector<std::byte*> blocks = take_blocks(some, of_1024, 10);
  put_back(some, {blocks[3]}, of_1024);
  const ending twice = in_child([&] { put_back(some, {blocks[2], blocks[3]}, of_1024); });
  CHECK(twice.signal == SIGABRT);
  CHECK(twice.error.rfind(line_about(blocks[3], "it was freed before"), 0) == 0);
  const ending together = in_child([&] { put_back(some, {blocks[2], blocks[2]}, of_1024); });
  CHECK(together.signal == SIGABRT);
  CHECK(together.error.rfind(line_about(blocks[2], "it was freed before"), 0) == 0);
  const ending inside = in_child([&] { put_back(some, {blocks[4] + 16}, of_1024); });
  CHECK(inside.signal == SIGABRT);
  CHECK(inside.error.rfind(line_about(blocks[4] + 16, "it is inside of a block, not its start"),
                           0) == 0);
  put_back(some, {blocks[0], blocks[1], blocks[2]}, of_1024);
  put_back(some, {blocks.begin() + 4, blocks.end()}, of_1024);
  trim_all(some, of_1024);
  CHECK(some.figures(of_1024).spans == 0);
}

TEST_CASE("the rest behind the last block of a span is not a block") {
  constexpr size_class class_index = static_cast<size_class>(class_of(28672)); // 9 to 4 slices
  a_bin some;
  const std::vector<std::byte*> blocks = take_blocks(some, class_index, 1);
  std::byte* const behind = begin_of_span(blocks[0]) + class_table[class_index].blocks * 28672UL;
  REQUIRE(the_facts.map.class_at(behind) == class_index);
  const ending how = in_child([&] { put_back(some, {behind}, class_index); });
  CHECK(how.signal == SIGABRT);
  put_back(some, blocks, class_index);
  trim_all(some, class_index);
  CHECK(some.figures(class_index).spans == 0);
}

TEST_CASE("with warnings only, invalid frees change nothing") {
  a_bin some;
  const std::size_t count = class_table[of_1024].blocks;
  const std::vector<std::byte*> blocks = take_blocks(some, of_1024, 2 * count);
  const std::vector<std::byte*> others(blocks.begin() + static_cast<long>(count), blocks.end());
  const ending how = in_child([&] {
    the_options.invalid_free = when_invalid::warn;
    put_back(some, {blocks[0], blocks[0], blocks[1] + 16, blocks[1]}, of_1024);
    if (some.free_blocks() != 2) std::_Exit(1);
    put_back(some, {blocks.begin() + 2, blocks.begin() + static_cast<long>(count)}, of_1024);
    put_back(some, {blocks[5]}, of_1024); // of the span that is kept as the spare one
    put_back(some, {blocks[7]}, of_1024);
    if (some.free_blocks() != count) std::_Exit(2);
    if (some.figures(of_1024).spans != 2) std::_Exit(3);
    put_back(some, others, of_1024);
    trim_all(some, of_1024);
    if (some.figures(of_1024).spans != 0 || some.free_blocks() != 0) std::_Exit(4);
  });
  CHECK(how.exit_code == 0);
  CHECK(std::count(how.error.begin(), how.error.end(), '\n') == 4);
  put_back(some, blocks, of_1024);
  trim_all(some, of_1024);
  CHECK(some.figures(of_1024).spans == 0);
}

TEST_CASE("a bin whose span was written to by somebody else is not sound") {
  a_bin some;
  std::vector<std::byte*> blocks = take_blocks(some, of_64, 10);
  CHECK(some.is_sound(of_64));
  span& home = the_space.span_at(blocks[0]);
  home.free_map.set(0);
  CHECK_FALSE(some.is_sound(of_64)); // more bits than it counts
  home.free_map.clear_run(0, 1);
  CHECK(some.is_sound(of_64));
  home.small.fullness = 3;
  CHECK_FALSE(some.is_sound(of_64)); // it is in another list
  home.small.fullness = span_lists::list_of(home, class_table[of_64].blocks);
  put_back(some, blocks, of_64);
  CHECK(some.is_sound(of_64));
  some.drop_spare(of_64);
  CHECK(some.is_sound(of_64));
}

TEST_CASE("a random history of one bin: nothing is handed out twice, all of it comes home") {
  for (const size_class class_index : {of_64, size_class{9}, of_1024, size_class{30}, of_32k}) {
    CAPTURE(class_table[class_index].bytes);
    a_bin some;
    live_blocks live;
    std::vector<std::byte*> mine;
    stress::random draw{class_index};
    const std::size_t batch = class_table[class_index].batch;
    const std::size_t most = std::min<std::size_t>(40 * batch, 4 * class_table[class_index].blocks);
    for (int step = 0; step < 400; ++step) {
      const std::size_t what = draw.below(8);
      if (what < 3 && mine.size() < most) {
        lone_batch next{class_index};
        REQUIRE(next.refill(some));
        for (std::byte* each : next.take_all()) {
          REQUIRE(live.add(each, class_table[class_index].bytes));
          mine.push_back(each);
        }
      } else if (what < 4) {
        if (void* const one = some.take_one(class_index)) {
          REQUIRE(live.add(one, class_table[class_index].bytes));
          mine.push_back(static_cast<std::byte*>(one));
        }
      } else if (what < 7) {
        for (std::size_t at = mine.size(); at > 1; --at) {
          std::swap(mine[at - 1], mine[draw.below(at)]);
        }
        const std::size_t count =
            what == 4 && mine.size() >= batch ? batch : draw.below(mine.size() + 1);
        const std::vector<std::byte*> returned_blocks(mine.end() - static_cast<long>(count),
                                                      mine.end());
        mine.resize(mine.size() - count);
        for (std::byte* each : returned_blocks) REQUIRE(live.remove(each));
        if (what == 4 && count == batch) {
          lone_batch{class_index}.flush(some, returned_blocks.data());
        } else {
          put_back(some, returned_blocks, class_index);
        }
      } else {
        some.trim(class_index);
        for (const std::byte* each : mine) {
          if (draw.below(4) == 0) some.purge_pages(the_space.span_at(each), class_index, true);
        }
      }
      const bin_figures now = some.figures(class_index);
      REQUIRE(now.free_blocks + now.stocked_blocks + mine.size() ==
              now.spans * class_table[class_index].blocks);
      REQUIRE(some.is_sound(class_index));
    }
    for (std::byte* each : mine) REQUIRE(live.remove(each));
    put_back(some, mine, class_index);
    trim_all(some, class_index);
    CHECK(some.figures(class_index).spans == 0);
    CHECK(some.free_blocks() == 0);
  }
}

} // namespace
