// Many blocks of one size out, then all of them back.
#include "harness/memory/mapped_array.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "workload/block_use.hpp"

namespace {

using namespace heapwise::bench;

/// Writes into each block which one it is, and counts those that still say so when all are written.
std::size_t use_blocks(const mapped_array<void*>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) *static_cast<std::size_t*>(blocks[i]) = i;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    whole += *static_cast<std::size_t*>(blocks[i]) == i ? 1 : 0;
  }
  return whole;
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const mapped_array<void*> blocks{the_cell.size("iterations")};
    resident_meter meter;
    with_touching(the_cell, [&]<touching how> {
      the_cell.each_repeat(
          [&](sample& the_sample) { one_repeat<how>(the_cell, the_sample, blocks, meter); });
    });
  }

  template <touching how>
  static void one_repeat(cell& the_cell, sample& the_sample, const mapped_array<void*>& blocks,
                         resident_meter& meter) {
    const std::size_t count = blocks.size();
    const std::size_t bytes = the_cell.size("block_size");
    Source source;
    meter.restart_peak();
    the_sample.time("alloc", count, [&] {
      for (void*& block : blocks) {
        block = source.allocate(bytes);
        use_new<how>(block, bytes);
        escape(block);
      }
    });
    the_sample.set("resident_over_live", heaps::ratio(meter.now(), count * bytes));
    const std::size_t whole = use_blocks(blocks);
    if (the_cell.text("free_order") == "random") the_cell.random().shuffle(blocks.span());
    the_sample.time("free", count, [&] {
      for (void* block : blocks) {
        use_last<how>(block, bytes);
        source.deallocate(block, bytes);
        clobber();
      }
    });
    the_sample.set_processor_time(2 * count);
    heaps::set_peak(the_sample, meter);
    the_cell.check("work", whole == count, "{} whole blocks of {}", whole, count);
    the_cell.expect_calls(count);
  }
};

const experiment question{
    .id = "heap/bulk",
    .question = "What do malloc and free cost when many blocks are taken, then all given back?",
    .isolates =
        "One size on one thread, all blocks live at once: how blocks are laid out when they are "
        "taken in a row, and how they are found again when they are freed.",
    .not_shown =
        "Mixed sizes. An allocator that gives its memory back between repeats pays page faults in "
        "the next one, which is its choice: minor_faults of the samples tells. All blocks were "
        "written to in the order of allocation before they are freed, and the last ones may still "
        "be in the processor's cache.",
    .parameters = {{"iterations", "blocks live at once", {1'000'000}, {20'000}},
                   {"block_size", "bytes of a block", {16, 64}, {16, 64}, "bytes", 8},
                   touch_parameter({"write"}),
                   {"free_order",
                    "allocation (the first taken goes first) or random",
                    {"allocation", "random"},
                    {"allocation", "random"}}},
    .quantities = {{"alloc", "ns/op", better::lower, "one malloc, and the use of the block"},
                   {"free", "ns/op", better::lower, "the last use of a block, and its free"},
                   {"resident_over_live", "x", better::lower,
                    "memory resident when all blocks are live, over what was asked for"},
                   heaps::peak_resident,
                   processor_time},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 4,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
