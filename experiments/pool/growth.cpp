// A pool that starts small and grows, against one that has all blocks from the start.
#include <optional>
#include <string_view>

#include "harness/memory/mapped_array.hpp"
#include "sources/checks.hpp"
#include "sources/subjects.hpp"

namespace {

using namespace heapwise::bench;

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const bool growing = the_cell.text("growth") == "geometric";
    if (!growing && pools::grows_always<Source>) {
      the_cell.refuse("growth", "this allocator cannot be given all its blocks in advance");
    }
    const mapped_array<void*> blocks{the_cell.size("iterations")};
    the_cell.each_repeat(
        [&](sample& the_sample) { one_repeat(the_cell, the_sample, blocks, growing); });
  }

  static void one_repeat(cell& the_cell, sample& the_sample, const mapped_array<void*>& blocks,
                         bool growing) {
    const pools::demand wanted{.block_size = the_cell.size("block_size"),
                               .block_count = blocks.size(),
                               .growing = growing,
                               .first_count = the_cell.size("first_count")};
    std::optional<Source> source;
    the_sample.time("alloc", blocks.size(), [&] {
      source.emplace(wanted);
      escape(&*source);
      for (void*& block : blocks) {
        block = source->allocate();
        touch(block);
        escape(block);
      }
    });
    const std::size_t distinct = pools::count_served(the_cell, the_sample, blocks.span());
    the_sample.time("free", blocks.size(), [&] {
      for (void* block : blocks) {
        source->deallocate(block);
        clobber();
      }
      source.reset();
    });
    the_sample.set_processor_time(2 * blocks.size());
    the_cell.check("work", distinct == blocks.size(), "{} distinct blocks of {}", distinct,
                   blocks.size());
    if (pools::calls_malloc<Source>) the_cell.expect_calls(blocks.size());
  }
};

const experiment question{
    .id = "pool/growth",
    .question =
        "What does it cost to let a pool grow instead of giving it all blocks at the start?",
    .isolates =
        "Growth: the same allocations from a pool of the full size and from one that starts "
        "with first_count blocks and grows by chunks.",
    .not_shown =
        "The worst single allocation (pool/latency). Pools are made and destroyed inside the "
        "clock, and one byte of each block is written there, so that both sides pay the page "
        "faults of first use and give everything back. A malloc keeps what it likes from one "
        "repeat to the next: minor_faults of the samples tells. malloc and the pmr pools "
        "cannot be given their blocks in advance: growth=fixed is refused for them.",
    .parameters = {{"iterations", "blocks taken, all out at once", {1'000'000}, {4'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   {"growth",
                    "fixed: all blocks in advance; geometric: starts small",
                    {"geometric", "fixed"},
                    {"geometric", "fixed"}},
                   {"first_count", "blocks at the start of a growing pool", {1024}, {256}}},
    .quantities = {{"alloc", "ns/op", better::lower,
                    "one allocation and one byte written, and its share of making the pool"},
                   {"free", "ns/op", better::lower,
                    "one free, and its share of destroying the pool"},
                   processor_time},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
    .yardsticks = {"bare_list"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
