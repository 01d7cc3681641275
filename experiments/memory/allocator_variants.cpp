// Blocks of one size on one thread: out one after the other, and back in the same order.
//
// build: with_sanitizers
#include <cstring>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/rounds.hpp"
#include "sources/sources.hpp"
#include "sources/throughput.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::size_t granule = 16;

/// Sets the first bytes of a block to zero, a cache line of them, as a constructor does.
constexpr std::size_t cleared_bytes = 64;

/// Allocates a block for each slot, writes its number to it, and frees them, oldest first. Returns
/// the sum of the numbers as they were read back.
template <class Source>
std::uint64_t out_and_back(Source& source, std::span<std::uint64_t*> slots, std::size_t bytes,
                           bool clears) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i] = static_cast<std::uint64_t*>(source.allocate(bytes));
    if (clears) std::memset(slots[i], 0, cleared_bytes);
    *slots[i] = i;
    escape(slots[i]);
  }
  std::uint64_t sum = 0;
  for (std::uint64_t* block : slots) {
    sum += *block;
    source.deallocate(block, bytes);
    clobber();
  }
  source.round_ends();
  return sum;
}

template <class Source>
void measure(cell& the_cell) {
  const std::size_t live = the_cell.size("live");
  const std::size_t bytes = the_cell.size("block_size");
  const mapped_array<std::uint64_t*> slots{live};
  Source source{{.round_blocks = live,
                 .round_bytes = live * ((bytes + granule - 1) / granule * granule),
                 .largest_bytes = bytes}};
  const std::uint64_t expected = std::uint64_t{live} * (live - 1) / 2;
  const bool clears = the_cell.text("cleared") == "line" && bytes >= cleared_bytes;
  memory::time_rounds(the_cell, 2 * live, expected,
                      [&] { return out_and_back(source, slots.span(), bytes, clears); });
}

const experiment question{
    .id = "memory/allocator_variants",
    .question = "How many blocks of one size can be allocated and freed in a second?",
    .isolates =
        "The allocator: one thread, one size, blocks out one after the other and back in the same "
        "order. A number is written to each block and read back before it is freed: no two "
        "blocks can be one. pmr_limited sets largest_required_pool_block to the size of the "
        "blocks; pmr_by_list does what latency-lab's C++ library does with blocks that are too "
        "large.",
    .not_shown =
        "Sizes that change (memory/mixed_size_variants), other orders of freeing, other threads, "
        "other libraries under malloc (heap/pair, heap/rl_small). What frees all at once (arena, "
        "pmr_monotonic, heap_cleared) does so at the end of each round, inside the clock, and its "
        "single frees do nothing but count. latency-lab's 14.7 thousand operations a second are "
        "not a "
        "property of pool resources: the report sets no option, but its blocks are aligned to 64 "
        "bytes, and its C++ library serves what needs more alignment than max_align_t, or is too "
        "large for its pools, from a list of all. It looks for each freed block in that list; "
        "with oldest first that grows with the square of what is alive. With libc++ 16 and 20,000 "
        "blocks of 64 bytes, an alignment of 8 gave 2,584 thousand operations a second, one of 64 "
        "gave 6.4 thousand. "
        "pmr_by_list shows it here. --set live=65536 comes near latency-lab's figure, slowly. What "
        "that "
        "report calls an arena is free_list. It has 50,000 blocks of 128 bytes, aligned to 64 "
        "(new_aligned, pmr_aligned), sets 64 bytes of each to zero (cleared=line), and counts an "
        "allocation and its free as one operation.",
    .parameters =
        {{"live", "blocks out at once", {64, 4096}, {64, 1024}},
         {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
         {"cleared",
          "line: the first 64 bytes of a block are set to zero when it is allocated",
          {"no"},
          {"no"},
          "",
          1,
          {"no", "line"}},
         {"region", "that a timed region is made to last, one round at least", {10}, {1}, "ms"}},
    .quantities = {memory::throughput, processor_time},
    .subjects =
        {{"new", "operator new and delete", measure<memory::system_new>},
         {"malloc", "malloc and free", measure<memory::system_malloc>},
         {"pmr_monotonic", "std::pmr::monotonic_buffer_resource", measure<memory::pmr_monotonic>},
         {"pmr_unsynchronized", "std::pmr::unsynchronized_pool_resource, default options",
          measure<memory::pmr_unsynchronized>},
         {"pmr_synchronized", "std::pmr::synchronized_pool_resource, default options",
          measure<memory::pmr_synchronized>},
         {"pmr_limited", "the unsynchronized one, pools up to the blocks' size",
          measure<memory::pmr_limited>},
         {"new_aligned", "operator new and delete, aligned to 64 bytes",
          measure<memory::aligned_new>},
         {"pmr_aligned", "std::pmr::unsynchronized_pool_resource, aligned to 64 bytes",
          measure<memory::pmr_aligned>},
         {"pmr_by_list", "a resource that looks for freed blocks in a list",
          measure<memory::pmr_by_list>},
         {"arena", "an arena, emptied each round", measure<memory::arena>},
         {"free_list", "a list of free blocks", measure<memory::free_list>},
         {"pool", "heapwise::pool", measure<memory::our_pool>},
         {"heap_inlined", "heapwise/heap.hpp, inlined", measure<memory::our_heap>},
         {"heap_cleared", "heapwise::heap, cleared each round", measure<memory::our_cleared_heap>},
         {"empty_loop", "the same loop with blocks that are there", measure<memory::nothing>}},
    .baseline = "new",
    .repeats = 8,
    .expectations = {{.says = "a list of all blocks costs at least five times as much for 64 times "
                              "as many",
                      .quantity = "throughput",
                      .subject = "pmr_by_list",
                      .over = "pmr_by_list",
                      .parameters = {{"live", 4096}},
                      .over_parameters = {{"live", 64}},
                      .at_most = 0.2},
                     {.says = "an arena is at least as fast as new",
                      .quantity = "throughput",
                      .subject = "arena",
                      .over = "new",
                      .at_least = 1}},
    .answers = {{.quantity = "throughput"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
