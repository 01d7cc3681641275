// Blocks on cache lines of their own: the fourth workload of AllocatorBench.
#include "sources/mix.hpp"

namespace {

using namespace heaps;

template <class Source>
struct measure {
  static void run(cell& the_cell) { measure_mix<Source>(the_cell, alignment64); }
};

const experiment question = mix_experiment({
    .id = "heap/alignment64",
    .question = "What do blocks cost that must be aligned to 64 bytes?",
    .isolates = "aligned_alloc and free of 64 to 1024 bytes, at most 2048 live on a thread.",
    .subjects = subjects<measure, system_aligned_alloc<64>, inlined_aligned_heap<64>>(),
});

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
