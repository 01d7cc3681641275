// Many blocks out, many blocks back: the first scenario of the published reports.
#include <algorithm>
#include <optional>

#include "harness/memory/mapped_array.hpp"
#include "sources/checks.hpp"
#include "sources/subjects.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

template <touching how, class Source>
void allocate_all(Source& source, const mapped_array<void*>& blocks, std::size_t bytes) {
  for (void*& block : blocks) {
    block = source.allocate();
    use_new<how>(block, bytes);
    escape(block);
  }
}

template <touching how, class Source>
void free_all(Source& source, const mapped_array<void*>& blocks, std::size_t bytes) {
  for (void* block : blocks) {
    use_last<how>(block, bytes);
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

template <touching how, class Source>
void one_repeat(cell& the_cell, sample& the_sample, const mapped_array<void*>& blocks) {
  const std::size_t count = blocks.size();
  const std::size_t bytes = the_cell.size("block_size");
  std::optional<Source> pool;
  the_sample.time("alloc_fresh", count, [&] {
    pool.emplace(pools::demand{.block_size = bytes, .block_count = count});
    escape(&*pool);
    allocate_all<how>(*pool, blocks, bytes);
  });
  Source& source = *pool;
  use_blocks(blocks, the_cell.text("free_order") == "random", the_cell.random());
  the_sample.time("free", count, [&] { free_all<how>(source, blocks, bytes); });
  const std::size_t fresh = pools::count_served(the_cell, the_sample, blocks.span());
  the_sample.time("alloc_reused", count, [&] { allocate_all<how>(source, blocks, bytes); });
  the_sample.set_processor_time(3 * count);
  // By address, or the memory that a malloc keeps would be shuffled in what is called fresh.
  std::sort(blocks.begin(), blocks.end());
  free_all<touching::none>(source, blocks, bytes);
  const std::size_t reused = pools::count_served(the_cell, the_sample, blocks.span());
  the_cell.check("work", fresh == count && reused == count,
                 "{} fresh and {} reused distinct blocks of {}", fresh, reused, count);
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const mapped_array<void*> blocks{the_cell.size("iterations")};
    pools::chunk_memory::prepare(blocks.size() * the_cell.size("block_size"));
    with_touching(the_cell, [&]<touching how> {
      the_cell.each_repeat([&](sample& the_sample) {
        one_repeat<how, Source>(the_cell, the_sample, blocks);
        if (pools::calls_malloc<Source>) the_cell.expect_calls(2 * blocks.size());
      });
    });
  }
};

const experiment question{
    .id = "pool/bulk",
    .question =
        "What does a block cost when many are taken, then all given back, then taken again?",
    .isolates =
        "The allocator's own work on one thread, with the blocks in use: one byte or every byte of "
        "a block is written when it is allocated, and written or read before it is freed. The pool "
        "is made inside the clock. All pools get their chunks from one region that is resident "
        "after the first repeat, which is dropped.",
    .not_shown =
        "Page faults of first use (pool/growth has them), runs that stay in the cache "
        "(pool/up_and_down). A pool is set up again for each repeat, and a malloc is not: its "
        "alloc_fresh takes memory that it kept from the repeat before, where all was freed by "
        "address, or fetches it again if it gave it back. minor_faults of the samples tells. "
        "Using the blocks is in every figure, the same for all. touch=none leaves the first write "
        "to each block to somebody else: a pool that writes into its free blocks then pays for "
        "the cache misses that a program would have anyway, and a pool that does not looks faster "
        "than it is.",
    .parameters = {{"iterations", "blocks taken in each region", {1'000'000}, {2'000}},
                   {"block_size", "bytes of a block", {16, 32, 64, 256}, {16, 64}, "bytes", 8},
                   touch_parameter(),
                   {"free_order",
                    "address or random: the order in which blocks are freed",
                    {"address", "random"},
                    {"address", "random"}}},
    .quantities = {{"alloc_fresh", "ns/op", better::lower,
                    "one allocation from a new pool, and its share of making the pool"},
                   {"free", "ns/op", better::lower, "one free"},
                   {"alloc_reused", "ns/op", better::lower,
                    "one allocation of a block that was freed before"},
                   processor_time},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
    .repeats = 4,
    .answers = {{.quantity = "alloc_fresh",
                 .subject = "unsynchronized",
                 .over = "boost_pool",
                 .parameters = {{"touch", "write"}, {"block_size", 64}}},
                {.quantity = "free",
                 .subject = "unsynchronized",
                 .over = "boost_pool",
                 .parameters = {{"touch", "write"}, {"block_size", 64}}},
                {.quantity = "alloc_reused",
                 .subject = "unsynchronized",
                 .over = "boost_pool",
                 .parameters = {{"touch", "write"}, {"block_size", 64}}}},
    .yardsticks = {"bare_list"},
    .work_parameters = {"block_size", "touch"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
