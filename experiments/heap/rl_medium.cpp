// Medium blocks: the second workload of AllocatorBench.
#include "sources/mix.hpp"

namespace {

using namespace heaps;

template <class Source>
struct measure {
  static void run(cell& the_cell) { measure_mix<Source>(the_cell, rl_medium); }
};

const experiment question = mix_experiment({
    .id = "heap/rl_medium",
    .question = "How fast are medium blocks of mixed sizes allocated and freed at random?",
    .isolates = "malloc and free of 128 to 4096 bytes, at most 2048 live on a thread.",
    .subjects = subjects<measure>(),
});

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
