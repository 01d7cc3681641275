// Small blocks in quick succession: the first workload of AllocatorBench.
#include "sources/mix.hpp"

namespace {

using namespace heaps;

template <class Source>
struct measure {
  static void run(cell& the_cell) { measure_mix<Source>(the_cell, rl_small); }
};

const experiment question = mix_experiment({
    .id = "heap/rl_small",
    .question = "How fast are small blocks of mixed sizes allocated and freed at random?",
    .isolates =
        "malloc and free of 16 to 512 bytes, small ones most often, at most 4096 live on a thread.",
    .subjects = subjects<measure>(),
    .operations = 8'000'000,
});

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
