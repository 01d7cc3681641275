// One block out, the same block back, again and again: the shortest way through malloc and free.
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

template <class Source>
struct measure {
  static void run(cell& given) {
    resident_meter meter;
    with_touching(given, [&]<touching how> {
      given.each_repeat([&](sample& yields) { one_repeat<how>(given, yields, meter); });
    });
  }

  template <touching how>
  static void one_repeat(cell& given, sample& yields, resident_meter& meter) {
    const std::size_t count = given.size("iterations");
    const std::size_t bytes = given.size("block_size");
    Source source;
    meter.restart_peak();
    std::uintptr_t all_bits = 0;
    yields.time("alloc_free", count, [&] {
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
    yields.set_processor_time(count);
    heaps::set_peak(yields, meter);
    given.check("work", all_bits != 0 && all_bits % 16 == 0, "%zu aligned blocks", count);
    given.expect_calls(count);
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
