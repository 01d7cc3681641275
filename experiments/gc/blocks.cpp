// What a collector takes for blocks of one size.
//
// optional: COLLECTOR = target heapwise_gc_static
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/memory/resident.hpp"
#include "sources/memories.hpp"

namespace {

using namespace heapwise::bench;

/// Blocks of one size in a table: a step replaces one of them, chosen at random, so that no part of
/// the heap becomes free as a whole.
template <class Memory>
class block_table {
 public:
  block_table(std::size_t blocks, std::size_t block_bytes)
      : blocks_{blocks},
        words_{block_bytes / sizeof(std::uint64_t)},
        table_{Memory::template make_array<block>(blocks)} {
    for (std::size_t i = 0; i < blocks_; ++i) table_[i] = one();
  }

  void step(random_numbers& random) { table_[random.below(blocks_)] = one(); }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < blocks_; ++i) sum += table_[i][words_ - 1];
    return sum;
  }

 private:
  using block = typename Memory::template array<std::uint64_t>;

  /// The last word is written, so that all of the block is in use.
  block one() {
    block fresh = Memory::template make_array<std::uint64_t>(words_);
    fresh[words_ - 1] = 1;
    return fresh;
  }

  std::size_t blocks_;
  std::size_t words_;
  typename Memory::template array<block> table_;
};

/// On the stack, where every collector finds its table.
template <class Memory>
void measure(cell& the_cell) {
  const std::size_t blocks = the_cell.size("blocks");
  const std::size_t steps = blocks * the_cell.size("turnover");
  Memory::start();
  resident_meter meter;
  the_cell.each_repeat([&](sample& the_sample) {
    meter.restart_peak();
    const std::uint64_t calls_before = Memory::calls();
    block_table<Memory> table{blocks, the_cell.size("block_bytes")};
    the_sample.time("step", steps, [&] {
      for (std::size_t i = 0; i < steps; ++i) table.step(the_cell.random());
    });
    the_sample.set("peak_resident", static_cast<double>(meter.peak()));
    the_cell.expect_calls(Memory::calls() - calls_before);
    const std::uint64_t sum = table.sum();
    the_cell.check("work", sum == blocks, "{} of {} blocks are what they should be", sum, blocks);
  });
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"heapwise_gc_1", "our collector, one marker", measure<gcs::addresses<gcs::ours<1, 0>>>},
  };
#if defined(HEAPWISE_HAS_BOEHM)
  all.push_back(
      {"boehm", "Boehm's collector, one marker", measure<gcs::addresses<gcs::boehm<1, false>>>});
#else
  all.push_back({"boehm", "Boehm's collector", nullptr,
                 "not in this build: install libgc-dev and build again"});
#endif
  return all;
}

const experiment question{
    .id = HEAPWISE_EXPERIMENT_ID,
    .question = "How much memory does a collector take for blocks of each size?",
    .isolates =
        "Blocks of one size in a table, each replaced several times in random order, so that "
        "hardly any part of the heap becomes free as a whole. Boehm's collector makes a block a "
        "byte longer, which costs 16 bytes where the size is a multiple of 16.",
    .not_shown = "Blocks of several sizes at once, blocks without addresses, and large blocks.",
    .parameters = {{"block_bytes",
                    "of a block, a multiple of 8",
                    {8, 16, 24, 40, 48, 56, 200},
                    {8, 48},
                    "bytes",
                    8},
                   {"blocks", "live at once", {1'000'000}, {5'000}},
                   {"turnover", "times that all blocks are replaced", {5}, {2}}},
    .quantities = {{"step", "ns/op", better::lower, "one block replaced"},
                   {"peak_resident", "bytes", better::lower,
                    "the most memory that was resident at once, above what was before"}},
    .subjects = subjects(),
    .baseline = "boehm",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "peak_resident", .subject = "heapwise_gc_1", .over = "boehm"},
                {.quantity = "step", .subject = "heapwise_gc_1", .over = "boehm"}},
    .work_parameters = {"block_bytes"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
