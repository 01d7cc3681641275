// Collectors under programs other than trees: time, memory and the longest stall.
//
// optional: COLLECTOR = target heapwise_gc_static
#include <algorithm>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/memory/resident.hpp"
#include "kernel/clock.hpp"
#include "sources/memories.hpp"
#include "sources/programs.hpp"

namespace {

using namespace heapwise::bench;

/// The longest that the program waited for so few steps that they take no time by themselves. A
/// pause shows, and so does what an incremental collector does in an allocation, or a neighbour.
class stall_meter {
 public:
  static constexpr std::size_t steps = 64;

  void look() noexcept {
    const std::uint64_t now = now_ns();
    longest_ns_ = std::max(longest_ns_, now - before_ns_);
    before_ns_ = now;
  }
  [[nodiscard]] std::uint64_t longest_ns() const noexcept { return longest_ns_; }

 private:
  std::uint64_t before_ns_ = now_ns();
  std::uint64_t longest_ns_ = 0;
};

/// On the stack, where every collector finds its table.
template <class Memory, class Program>
void live(cell& the_cell) {
  const std::size_t elements = the_cell.size("elements");
  const std::size_t steps = elements * the_cell.size("turnover");
  Memory::start();
  resident_meter meter;
  the_cell.each_repeat([&](sample& the_sample) {
    meter.restart_peak();
    const std::uint64_t calls_before = Memory::calls();
    Program program{elements, the_cell.random()};
    const std::uint64_t before = program.sum();
    stall_meter stalls;
    the_sample.time("step", steps, [&] {
      for (std::size_t i = 0; i < steps; ++i) {
        program.step(the_cell.random(), i);
        if (i % stall_meter::steps == 0) stalls.look();
      }
    });
    const std::uint64_t after = program.sum();
    the_sample.set("peak_resident", static_cast<double>(meter.peak()));
    the_sample.set("longest_stall", static_cast<double>(stalls.longest_ns()) * 1e-6);
    the_sample.set_processor_time(steps);
    the_cell.expect_calls(Memory::calls() - calls_before);
    the_cell.check("work", before >= elements && after == before, "{} before, {} after", before,
                   after);
  });
}

template <class Memory>
void measure(cell& the_cell) {
  const std::string_view name = the_cell.text("program");
  if (name == "hash_churn") return live<Memory, gcs::hash_churn<Memory>>(the_cell);
  if (name == "thread_churn") return live<Memory, gcs::thread_churn<Memory>>(the_cell);
  if (name == "list") return live<Memory, gcs::long_list<Memory>>(the_cell);
  if (name == "pointer_arrays") return live<Memory, gcs::pointer_arrays<Memory>>(the_cell);
  if (name == "graph") return live<Memory, gcs::graph<Memory>>(the_cell);
  live<Memory, gcs::texts<Memory>>(the_cell);
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"heapwise_gc", "our collector, as many markers as processors, at most 4",
       measure<gcs::addresses<gcs::ours<0, 0>>>},
      {"heapwise_gc_1", "the same, one marker", measure<gcs::addresses<gcs::ours<1, 0>>>},
      {"heapwise_gc_4", "the same, four markers", measure<gcs::addresses<gcs::ours<4, 0>>>},
      {"heapwise_gc_fast", "the same, one marker, free_space_divisor 1: three times what is live",
       measure<gcs::addresses<gcs::ours<1, 1>>>},
      {"heapwise_gc_lean", "the same, one marker, free_space_divisor 6",
       measure<gcs::addresses<gcs::ours<1, 6>>>},
      {"heapwise_gc_concurrent", "the same, one marker, which marks in a copy of the process",
       measure<gcs::addresses<gcs::ours<1, 0, 1>>>},
      {"by_hand", "no collector: malloc, calloc and free", measure<gcs::addresses<gcs::by_hand>>,
       "", subject_kind::malloc},
      {"shared_ptr", "no collector: std::make_shared, with the C library's malloc",
       measure<gcs::shared_pointers>},
  };
#if defined(HEAPWISE_HAS_BOEHM)
  all.insert(
      all.end(),
      {{"boehm", "Boehm's collector, one marker", measure<gcs::addresses<gcs::boehm<1, false>>>},
       {"boehm_4", "the same, four markers", measure<gcs::addresses<gcs::boehm<4, false>>>},
       {"boehm_fast", "the same, one marker, GC_free_space_divisor 1",
        measure<gcs::addresses<gcs::boehm<1, false, 1>>>},
       {"boehm_lean", "the same, one marker, GC_free_space_divisor 6",
        measure<gcs::addresses<gcs::boehm<1, false, 6>>>},
       {"boehm_incremental", "the same, incremental",
        measure<gcs::addresses<gcs::boehm<1, true>>>}});
#else
  for (const char* name : {"boehm", "boehm_4", "boehm_fast", "boehm_lean", "boehm_incremental"}) {
    all.push_back({name, "Boehm's collector", nullptr,
                   "not in this build: install libgc-dev and build again"});
  }
#endif
  return all;
}

const experiment question{
    .id = "gc/programs",
    .question = "What does a collector cost beyond trees, in time, memory and stalls?",
    .isolates =
        "The collector under six programs: a hash table, the same with each thousand steps in a "
        "thread of their own, a list, arrays of addresses, a graph whose edges lead both ways, and "
        "texts without addresses. One "
        "thread works at a time. Each is built, and then a part of it is replaced step by step, "
        "so that it stays as large as it was. Every collector begins with an empty heap. "
        "`by_hand` is the same program with free, `shared_ptr` with counted pointers.",
    .not_shown =
        "Several threads at once, and objects with finalizers. What a copy of the process takes of "
        "another processor's time and of memory is not in the figures of heapwise_gc_concurrent. A "
        "program's own work is in every figure and the same for all. A stall is what the program "
        "sees: the pause of a collection, the work of an incremental one, or a neighbour that had "
        "the processor.",
    .parameters = {{"program",
                    "what is built and changed",
                    {"hash_churn", "thread_churn", "list", "pointer_arrays", "graph", "texts"},
                    {"hash_churn", "thread_churn", "list", "pointer_arrays", "graph", "texts"}},
                   {"elements", "live at once", {1'000'000}, {5'000}},
                   {"turnover", "times that all elements are replaced", {10}, {4}}},
    .quantities = {{"step", "ns/op", better::lower, "one element replaced"},
                   {"peak_resident", "bytes", better::lower,
                    "the most memory that was resident at once, above what was before"},
                   {"longest_stall", "ms", better::lower,
                    "the longest that 64 steps took; of thread_churn 1,000"},
                   processor_time},
    .subjects = subjects(),
    .baseline = "boehm",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "step", .subject = "heapwise_gc_1", .over = "boehm"},
                {.quantity = "peak_resident", .subject = "heapwise_gc_1", .over = "boehm"},
                {.quantity = "longest_stall", .subject = "heapwise_gc_1", .over = "boehm"}},
    .work_parameters = {"program"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
