// Blocks of mixed sizes on one thread: one tape, played to each allocator.
//
// build: with_sanitizers
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/rounds.hpp"
#include "sources/sources.hpp"
#include "sources/throughput.hpp"
#include "workload/replay.hpp"

namespace {

using namespace heapwise::bench;

/// What the tape asks of a source, at most.
memory::demand demand_of(const tape& plays) {
  constexpr std::size_t granule = 16;
  memory::demand wanted{.round_blocks = plays.allocations, .round_bytes = 0, .largest_bytes = 0};
  for (const operation each : plays.operations) {
    if (each.frees()) continue;
    wanted.round_bytes += (each.bytes() + granule - 1) / granule * granule;
    wanted.largest_bytes = std::max<std::size_t>(wanted.largest_bytes, each.bytes());
  }
  return wanted;
}

/// What a block, 16 bytes at least, is marked with in its first eight bytes and in its last.
std::uint64_t mark_of(operation allocation) { return allocation.slot() * 0x9e3779b97f4a7c15U + 1; }

void mark(void* block, operation allocation) {
  const std::uint64_t mark = mark_of(allocation);
  std::memcpy(block, &mark, sizeof mark);
  std::memcpy(static_cast<std::byte*>(block) + allocation.bytes() - sizeof mark, &mark,
              sizeof mark);
}

bool is_marked(const void* block, operation allocation) {
  const std::uint64_t mark = mark_of(allocation);
  const auto* const end = static_cast<const std::byte*>(block) + allocation.bytes();
  return std::memcmp(block, &mark, sizeof mark) == 0 &&
         std::memcmp(end - sizeof mark, &mark, sizeof mark) == 0;
}

template <class Source>
constexpr bool makes_blocks = !std::is_same_v<Source, memory::nothing>;

/// Plays the tape without a clock. Returns how many blocks bore their marks to their end.
template <class Source>
std::uint64_t count_whole(Source& source, const tape& plays, void** slots) {
  std::uint64_t whole = 0;
  for (const operation each : plays.operations) {
    void*& slot = slots[each.slot()];
    if (each.frees()) {
      whole += !makes_blocks<Source> || is_marked(slot, each) ? 1 : 0;
      source.deallocate(slot, each.bytes());
    } else {
      slot = source.allocate(each.bytes());
      mark(slot, each);
    }
  }
  source.round_ends();
  return whole;
}

/// Four sizes in turn: all blocks are allocated, then all are freed in the same order.
tape make_batch(std::span<operation> memory) {
  constexpr std::array<std::uint32_t, 4> sizes{32, 64, 128, 256};
  const std::size_t count = memory.size() / 2;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t bytes = sizes[i % sizes.size()];
    memory[i] = operation::allocation(i, bytes);
    memory[count + i] = operation::release(i, bytes);
  }
  return describe_tape(memory);
}

template <class Source>
void measure(cell& the_cell) {
  const mapped_array<operation> memory{std::max(the_cell.size("tape") / 2, std::size_t{1}) * 2};
  const tape plays = the_cell.text("lives") == "batch"
                         ? make_batch(memory.span())
                         : make_tape(memory.span(), small_and_medium, the_cell.random().next());
  const mapped_array<void*> slots{plays.slots};
  Source source{demand_of(plays)};
  const std::uint64_t whole = count_whole(source, plays, slots.data());
  memory::time_rounds(the_cell, plays.operations.size(), plays.operations.size(), [&] {
    replay(source, plays.operations, slots.data());
    source.round_ends();
    return std::uint64_t{plays.operations.size()};
  });
  the_cell.check("blocks", whole == plays.allocations, "{} of {} blocks bore their marks", whole,
                 plays.allocations);
}

const experiment question{
    .id = "memory/mixed_size_variants",
    .question = "How many blocks of mixed sizes can be allocated and freed in a second?",
    .isolates =
        "The allocator, asked by a tape that was drawn before the clock starts, on one thread. "
        "lives=random: 16 to 4096 bytes, up to 6144 blocks live, every free takes a random one. "
        "lives=batch: 32, 64, 128 and 256 bytes in turn, all blocks out, then all back in the "
        "same order. One "
        "byte is written to each block. In a pass that is not timed every block bears a mark at "
        "both ends until it is freed.",
    .not_shown =
        "Other threads, other libraries under malloc and a long life (heap/rl_small, "
        "heap/fragmentation_mix, heap/size_shift). Reading the tape and the branch "
        "between allocation and free, which nobody can predict, are in every figure: empty_loop. "
        "What frees all at once (arena, pmr_monotonic, heap_cleared) does so at the end of the "
        "tape, inside the clock, needs room for all of its blocks and so walks through more "
        "memory than the caches hold: figures of arenas depend on the length of the tape. The "
        "report latency-lab measures a batch. Its author's program gives pmr_unsynchronized 3.5 "
        "to 4.6 times the throughput of new with g++ 12 on Debian (processor time, four runs on "
        "2026-11-27), as published (3.7). With one size of 64 bytes and an alignment of 64 its "
        "C++ library serves the blocks from a list that each free walks "
        "(memory/allocator_variants, pmr_by_list).",
    .parameters =
        {{"lives",
          "of the blocks: random (16 to 4096 bytes) or batch (four sizes, all out, all back)",
          {"random", "batch"},
          {"random", "batch"}},
         {"tape", "operations on the tape", {100'000}, {4'000}, "", 2},
         {"region", "that a timed region is made to last, one tape at least", {15}, {1}, "ms"}},
    .quantities = {memory::throughput, processor_time},
    .subjects = {{"new", "operator new and delete", measure<memory::system_new>},
                 {"malloc", "malloc and free", measure<memory::system_malloc>},
                 {"pmr_monotonic", "std::pmr::monotonic_buffer_resource",
                  measure<memory::pmr_monotonic>},
                 {"pmr_unsynchronized", "std::pmr::unsynchronized_pool_resource",
                  measure<memory::pmr_unsynchronized>},
                 {"pmr_synchronized", "std::pmr::synchronized_pool_resource",
                  measure<memory::pmr_synchronized>},
                 {"arena", "an arena, emptied after each tape", measure<memory::arena>},
                 {"heap_inlined", "heapwise/heap.hpp, inlined", measure<memory::our_heap>},
                 {"heap_cleared", "heapwise::heap, cleared after each tape",
                  measure<memory::our_cleared_heap>},
                 {"empty_loop", "the same tape with blocks that are there",
                  measure<memory::nothing>}},
    .baseline = "new",
    .repeats = 10,
    .expectations = {{.says = "pools of the C++ library are slower than new for random lives",
                      .quantity = "throughput",
                      .subject = "pmr_unsynchronized",
                      .over = "new",
                      .parameters = {{"lives", "random"}},
                      .at_most = 1.0},
                     {.says = "pools of the C++ library are faster than new for a batch",
                      .quantity = "throughput",
                      .subject = "pmr_unsynchronized",
                      .over = "new",
                      .parameters = {{"lives", "batch"}},
                      .at_least = 1.0}},
    .answers = {{.quantity = "throughput", .subject = "pmr_unsynchronized", .over = "new"},
                {.quantity = "throughput"}},
    .work_parameters = {"lives"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
