// Many blocks out, many blocks back: the first scenario of the published reports.
#include <algorithm>

#include "harness/distinct.hpp"
#include "harness/mapped_array.hpp"
#include "sources/subjects.hpp"

namespace {

using namespace heapwise::bench;

template <bool touching, class Source>
void allocate_all(Source& source, const mapped_array<void*>& blocks) {
  for (void*& block : blocks) {
    block = source.allocate();
    if constexpr (touching) touch(block);
    escape(block);
  }
}

template <bool touching, class Source>
void free_all(Source& source, const mapped_array<void*>& blocks) {
  for (void* block : blocks) {
    if constexpr (touching) touch(block);
    source.deallocate(block);
    clobber();
  }
}

/// Brings the blocks into the order in which they will be freed. The user has written to each of
/// them by then, so no page is touched for the first time while freeing is timed.
void use_blocks(const mapped_array<void*>& blocks, bool shuffled, random_numbers& random) {
  for (void* block : blocks) touch(block);
  if (shuffled) return random.shuffle(blocks.span());
  if (!std::is_sorted(blocks.begin(), blocks.end())) std::sort(blocks.begin(), blocks.end());
}

template <bool touching, class Source>
void one_repeat(cell& given, sample& yields, const mapped_array<void*>& blocks) {
  const std::size_t count = blocks.size();
  Source source{{.block_size = given.size("block_size"), .block_count = count, .resident = true}};
  escape(&source);
  yields.time("alloc_fresh", count, [&] { allocate_all<touching>(source, blocks); });
  use_blocks(blocks, given.text("free_order") == "random", given.random());
  yields.time("free", count, [&] { free_all<touching>(source, blocks); });
  const std::size_t fresh = given.inspects(yields) ? count_distinct(blocks.span()) : count;
  yields.time("alloc_reused", count, [&] { allocate_all<touching>(source, blocks); });
  free_all<false>(source, blocks);
  const std::size_t reused = given.inspects(yields) ? count_distinct(blocks.span()) : count;
  given.check("work", fresh == count && reused == count,
              "%zu fresh and %zu reused distinct blocks of %zu", fresh, reused, count);
}

template <class Source>
struct measure {
  static void run(cell& given) {
    const mapped_array<void*> blocks{given.size("iterations")};
    const bool touching = given.text("touch") == "write";
    given.each_repeat([&](sample& yields) {
      touching ? one_repeat<true, Source>(given, yields, blocks)
               : one_repeat<false, Source>(given, yields, blocks);
      if (pools::calls_malloc<Source>) given.expect_calls(2 * blocks.size());
    });
  }
};

const experiment question{
    .id = "pool/bulk",
    .question =
        "What does a block cost when many are taken, then all given back, then taken again?",
    .isolates =
        "The allocator's own work on one thread: the pool is made outside the clock, and the "
        "blocks have been written to before they are freed.",
    .not_shown =
        "What the user does with a block, and the page faults of first use (pool/growth has them): "
        "our pools get pages that were written to, boost and foonathan cut all blocks before the "
        "clock starts, malloc keeps from the first repeat, which is dropped, what it uses in the "
        "others; only the pmr pools fetch memory inside the clock: minor_faults of the samples "
        "tells. "
        "touch=write is the published reports' method: one byte is written to each block inside "
        "the clock, "
        "when "
        "freeing too, which costs more than some pools do; the published reports' figures belong "
        "to it.",
    .parameters = {{"iterations", "blocks taken in each region", {1'000'000}, {2'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   {"touch",
                    "none, or write: one byte of each block inside the clock",
                    {"none", "write"},
                    {"none", "write"}},
                   {"free_order",
                    "address or random: the order in which blocks are freed",
                    {"address"},
                    {"address", "random"}}},
    .quantities = {{"alloc_fresh", "ns/op", better::lower, "one allocation from a new pool"},
                   {"free", "ns/op", better::lower, "one free"},
                   {"alloc_reused", "ns/op", better::lower,
                    "one allocation of a block that was freed before"}},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
