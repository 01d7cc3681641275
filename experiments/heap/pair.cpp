// One block out, the same block back, again and again: the shortest way through malloc and free.
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    resident_meter meter;
    with_touching(the_cell, [&]<touching how> {
      the_cell.each_repeat(
          [&](sample& the_sample) { one_repeat<how>(the_cell, the_sample, meter); });
    });
  }

  template <touching how>
  static void one_repeat(cell& the_cell, sample& the_sample, resident_meter& meter) {
    const std::size_t count = the_cell.size("iterations");
    const std::size_t bytes = the_cell.size("block_size");
    Source source;
    meter.restart_peak();
    std::uintptr_t all_bits = 0;
    the_sample.time("alloc_free", count, [&] {
      for (std::size_t i = 0; i < count; ++i) {
        void* block = source.allocate(bytes);
        use_new<how>(block, bytes);
        escape(block);
        all_bits |= reinterpret_cast<std::uintptr_t>(block);
        if constexpr (how == touching::all) use_last<how>(block, bytes);
        source.deallocate(block, bytes);
        clobber();
      }
    });
    the_sample.set_processor_time(count);
    heaps::set_peak(the_sample, meter);
    the_cell.check("work", all_bits != 0 && all_bits % 16 == 0, "{} aligned blocks", count);
    the_cell.expect_calls(count);
  }
};

const experiment question{
    .id = "heap/pair",
    .question = "What does one malloc with its free cost when nothing else happens?",
    .isolates = "The shortest path of both calls on one thread: the block is the one freed last.",
    .not_shown =
        "Anything that a cache could miss, another size, another thread. Two empty calls of a "
        "shared library take 3 to 4 ns of the figure, and the block is used: preloaded "
        "allocators that are within that of each other are level.",
    .parameters = {{"iterations", "pairs", {10'000'000}, {200'000}},
                   {"block_size", "bytes of a block", {64, 16}, {64, 16}, "bytes"},
                   touch_parameter({"write"})},
    .quantities = {{"alloc_free", "ns/op", better::lower, "one pair, with the use of the block"},
                   heaps::peak_resident,
                   processor_time},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 4,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
