// All sizes nearly as often: the third workload of AllocatorBench.
#include "sources/mix.hpp"

namespace {

using namespace heaps;

template <class Source>
struct measure {
  static void run(cell& the_cell) { measure_mix<Source>(the_cell, fragmentation_mix); }
};

const experiment question = mix_experiment({
    .id = "heap/fragmentation_mix",
    .question = "What does a wide mix of sizes cost, in time and in memory?",
    .isolates =
        "malloc and free of 16 to 4096 bytes, all nearly as often, at most 8192 live on a thread.",
    .subjects = subjects<measure>(),
    .tape = 120'000,
});

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
