// Collectors under programs other than trees: time, memory and the longest pause.
#include <vector>

#include "harness/experiment.hpp"
#include "harness/resident.hpp"
#include "sources/memories.hpp"
#include "sources/programs.hpp"

namespace {

using namespace heapwise::bench;

/// On the stack, where every collector finds its table.
template <class Memory, class Program>
void live(cell& the_cell) {
  const std::size_t elements = the_cell.size("elements");
  const std::size_t steps = elements * the_cell.size("turnover");
  Memory::start();
  resident_meter meter;
  the_cell.each_repeat([&](sample& the_sample) {
    meter.restart_peak();
    Program program{elements, the_cell.random()};
    const std::uint64_t before = program.sum();
    the_sample.time("step", steps, [&] {
      for (std::size_t i = 0; i < steps; ++i) program.step(the_cell.random(), i);
    });
    const std::uint64_t after = program.sum();
    the_sample.set("peak_resident", static_cast<double>(meter.peak()));
    the_sample.set("longest_pause", static_cast<double>(Memory::longest_pause_ns()) * 1e-6);
    the_sample.set_processor_time(steps);
    the_cell.check("work", before >= elements && after == before, "%llu before, %llu after",
                   static_cast<unsigned long long>(before), static_cast<unsigned long long>(after));
  });
}

template <class Memory>
void measure(cell& the_cell) {
  const std::string_view name = the_cell.text("program");
  if (name == "hash_churn") return live<Memory, gcs::hash_churn<Memory>>(the_cell);
  if (name == "list") return live<Memory, gcs::long_list<Memory>>(the_cell);
  if (name == "pointer_arrays") return live<Memory, gcs::pointer_arrays<Memory>>(the_cell);
  live<Memory, gcs::texts<Memory>>(the_cell);
}

std::vector<subject> subjects() {
  std::vector<subject> all{
      {"heapwise_gc", "our collector, as many markers as processors, at most 4",
       measure<gcs::ours<0, 0>>},
      {"heapwise_gc_1", "the same, one marker", measure<gcs::ours<1, 0>>},
      {"heapwise_gc_fast", "the same, one marker, free_space_divisor 1: three times what is live",
       measure<gcs::ours<1, 1>>},
      {"heapwise_gc_lean", "the same, one marker, free_space_divisor 6", measure<gcs::ours<1, 6>>},
      {"by_hand", "no collector: malloc, calloc and free", measure<gcs::by_hand>, "",
       subject_kind::malloc},
  };
#if defined(HEAPWISE_HAS_BOEHM)
  all.push_back({"boehm", "Boehm's collector, one marker", measure<gcs::boehm<1, false>>});
  all.push_back({"boehm_4", "the same, four markers", measure<gcs::boehm<4, false>>});
  all.push_back({"boehm_incremental", "the same, incremental", measure<gcs::boehm<1, true>>});
#else
  constexpr const char* missing = "not in this build: install libgc-dev and build again";
  all.push_back({"boehm", "Boehm's collector, one marker", nullptr, missing});
  all.push_back({"boehm_4", "the same, four markers", nullptr, missing});
  all.push_back({"boehm_incremental", "the same, incremental", nullptr, missing});
#endif
  return all;
}

const experiment question{
    .id = "gc/programs",
    .question = "What does a collector cost beyond trees, in time, memory and pauses?",
    .isolates =
        "The collector under four programs on one thread: a hash table, a list, arrays of "
        "addresses, and texts without addresses. Each is built, and then a part of it is replaced "
        "step by step, so that it stays as large as it was. Every collector begins with an empty "
        "heap. `by_hand` is the same program with free.",
    .not_shown =
        "Several threads, and objects with finalizers. A program's own work is in every figure and "
        "the same for all. The longest pause is what the collector itself measures, from the "
        "moment "
        "it begins to stop threads until they go on: an incremental collector's work between "
        "pauses, and the faults of its write barrier, are in the time of a step alone.",
    .parameters = {{"program",
                    "what is built and changed",
                    {"hash_churn", "list", "pointer_arrays", "texts"},
                    {"hash_churn", "list", "pointer_arrays", "texts"}},
                   {"elements", "live at once", {1'000'000}, {5'000}},
                   {"turnover", "times that all elements are replaced", {10}, {4}}},
    .quantities = {{"step", "ns/op", better::lower, "one element replaced"},
                   {"peak_resident", "bytes", better::lower,
                    "the most memory that was resident at once, above what was before"},
                   {"longest_pause", "ms", better::lower, "of all collections; 0 without one"},
                   processor_time},
    .subjects = subjects(),
    .baseline = "boehm",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "step", .subject = "heapwise_gc_1", .over = "boehm"},
                {.quantity = "peak_resident", .subject = "heapwise_gc_1", .over = "boehm"},
                {.quantity = "longest_pause", .subject = "heapwise_gc_1", .over = "boehm"}},
    .work_parameters = {"program"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
