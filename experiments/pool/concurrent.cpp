// The interleaved loop on several threads that share one pool: the third scenario of the published
// reports.
#include <atomic>

#include "sources/pairs.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

/// Blocks that policies with caches may keep per thread without another thread's running dry.
constexpr std::size_t blocks_per_thread = 4096;

/// `Way` says how a thread gets at the shared source: itself, or a handle of its own.
template <touching how, class Source, class Way>
void measure_with(cell& the_cell, Way way) {
  const std::size_t count = the_cell.size("iterations");
  const std::size_t bytes = the_cell.size("block_size");
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  pools::refuse_more_threads<Source>(the_cell);
  const std::size_t pairs = count * static_cast<std::size_t>(threads);
  the_cell.each_repeat([&](sample& the_sample) {
    Source source{{.block_size = bytes,
                   .block_count = blocks_per_thread * static_cast<std::size_t>(threads)}};
    std::atomic<std::size_t> served{0};
    the_sample.time_team("alloc_free", threads, pairs, [&](team_member& member) {
      auto&& mine = way(source);
      escape(&mine);
      member.start();
      const std::size_t got = pools::allocate_and_free<how>(mine, count, bytes);
      member.stop();
      served += got;
    });
    the_sample.set_processor_time(pairs);
    the_cell.check("work", served == pairs, "{} pairs of {} on {} threads", served.load(), pairs,
                   threads);
    if (pools::calls_malloc<Source>) the_cell.expect_calls(pairs);
  });
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    with_touching(the_cell, [&]<touching how> {
      measure_with<how, Source>(the_cell, [](Source& source) -> Source& { return source; });
    });
  }
};

template <class Source>
struct measure_local {
  static void run(cell& the_cell) {
    with_touching(the_cell, [&]<touching how> {
      measure_with<how, Source>(the_cell, [](Source& source) { return source.local_source(); });
    });
  }
};

const experiment question{
    .id = "pool/concurrent",
    .question = "What does a pair of allocation and free cost when several threads share one pool?",
    .isolates = "Contention inside the allocator: every thread runs the loop of pool/interleaved.",
    .not_shown =
        "Blocks that one thread allocates and another frees. With more threads than processors "
        "the figure also holds the scheduler. unsynchronized is there for one thread alone: what "
        "the others pay for being safe. The figure is wall time over the pairs of all threads, as "
        "in the published reports: perfect scaling on P processors divides it by P. The published "
        "machine had 4 processors.",
    .parameters = {{"iterations", "pairs of each thread", {1'000'000}, {2'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   touch_parameter({"write"}),
                   {"threads", "threads at once", {1, 2, 4, 8, 16}, {1, 2}}},
    .quantities = {{"alloc_free", "ns/op", better::lower,
                    "wall time over all pairs; one op is a pair, with the use of the block"},
                   processor_time},
    .subjects = pools::for_one_or_many_threads<measure, measure_local>(),
    .baseline = "malloc@glibc",
    .repeats = 6,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
