// A pool for each type of object: what it costs to use many pools at once.
#include <atomic>
#include <deque>

#include "harness/memory/mapped_array.hpp"
#include "sources/pairs.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

/// Blocks of a pool. Few are out at once; caches keep some for each thread.
constexpr std::size_t blocks_each = 512;

/// A pair from one pool after the other, in one random order.
/// Returns: how often there was a block.
template <touching how, class Sources>
std::size_t visit(Sources& sources, std::span<const std::uint32_t> order, std::size_t rounds,
                  std::size_t bytes) {
  std::size_t served = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const std::uint32_t which : order) {
      served += pools::allocate_and_free<how>(sources[which], 1, bytes);
    }
  }
  return served;
}

/// `Ways` makes of all sources what one thread uses.
template <class Source, touching how, class Ways>
void measure_with(cell& the_cell, Ways ways) {
  pools::refuse_more_threads<Source>(the_cell);
  const std::size_t bytes = the_cell.size("block_size");
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const mapped_array<std::uint32_t> order{the_cell.size("pools")};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  the_cell.random().shuffle(order.span());
  const std::size_t rounds = std::max<std::size_t>(1, the_cell.size("iterations") / order.size());
  const std::size_t warm = order.size();
  const std::size_t pairs = rounds * order.size() * static_cast<std::size_t>(threads);
  std::deque<Source> sources;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sources.emplace_back(pools::demand{.block_size = bytes, .block_count = blocks_each});
  }
  the_cell.each_repeat([&](sample& the_sample) {
    std::atomic<std::size_t> served{0};
    the_sample.time_team("alloc_free", threads, pairs, [&](team_member& member) {
      auto&& mine = ways(sources);
      visit<how>(mine, order.span(), 1, bytes);
      member.start();
      const std::size_t got = visit<how>(mine, order.span(), rounds, bytes);
      member.stop();
      served += got;
    });
    the_sample.set_processor_time(pairs);
    the_cell.check("work", served == pairs, "{} pairs of {} from {} pools", served.load(), pairs,
                   order.size());
    if (pools::calls_malloc<Source>) {
      the_cell.expect_calls(pairs + warm * static_cast<std::size_t>(threads));
    }
  });
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    with_touching(the_cell, [&]<touching how> {
      measure_with<Source, how>(the_cell,
                                [](std::deque<Source>& all) -> std::deque<Source>& { return all; });
    });
  }
};

template <class Source>
struct measure_local {
  static void run(cell& the_cell) {
    with_touching(the_cell, [&]<touching how> {
      measure_with<Source, how>(the_cell, [](std::deque<Source>& all) {
        std::deque<decltype(all.front().local_source())> mine;
        for (Source& each : all) mine.push_back(each.local_source());
        return mine;
      });
    });
  }
};

const experiment question{
    .id = "pool/many_pools",
    .question = "What does a pair cost if a program uses many pools at once?",
    .isolates =
        "How a pool finds what it keeps for the thread: pairs of allocation and free, one from "
        "each pool in turn, in one random order. Every pool has been used before the clock starts.",
    .not_shown =
        "Many blocks of each pool. With many pools their own data, and one block of each, leave "
        "the nearest cache: unsynchronized, which has nothing to find, shows what that costs. "
        "malloc has no pools; it is asked for the same blocks. Making and destroying pools is not "
        "timed.",
    .parameters = {{"iterations", "pairs of each thread, whole turns", {400'000}, {4'000}},
                   {"pools", "in use at once", {1, 64, 256, 2000}, {1, 256}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   touch_parameter({"write"}),
                   {"threads", "threads at once, all use every pool", {1, 2}, {1, 2}}},
    .quantities = {{"alloc_free", "ns/op", better::lower,
                    "wall time over all pairs; one op is a pair, with the use of the block"},
                   processor_time},
    .subjects = pools::for_one_or_many_threads<measure, measure_local>(),
    .baseline = "malloc@glibc",
    .repeats = 4,
    .answers = {{.quantity = "alloc_free",
                 .subject = "thread_cached",
                 .parameters = {{"pools", 2000}, {"threads", 1}},
                 .over_parameters = {{"pools", 1}}}},
    .work_parameters = {"touch"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
