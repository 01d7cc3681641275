// Small blocks in quick succession: the first workload of seed 004.
#include "sources/mix.hpp"

namespace {

using namespace heaps;

template <class Source>
struct measure {
  static void run(cell& given) { measure_mix<Source>(given, rl_small); }
};

seed_figure of_seed(int threads, double figure) {
  return {"malloc", "throughput", {{"threads", threads}},
          figure,   "Mops/s",     "macOS, system allocator (seed 004, table 1)"};
}

const experiment question = mix_experiment({
    .id = "heap/rl_small",
    .question = "How fast are small blocks of mixed sizes allocated and freed at random?",
    .isolates =
        "malloc and free of 16 to 512 bytes, small ones most often, at most 4096 live on a thread.",
    .subjects = subjects<measure>(),
    .operations = 8'000'000,
    .seed_figures = {of_seed(1, 13.7), of_seed(2, 19.1)},
});

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
