// A recorded program's allocations, played to each allocator: `heapwise replay FILE`.
#include <cstdlib>

#include "harness/experiment.hpp"
#include "sources/measure.hpp"

namespace {

using namespace heapwise::bench;

void measure(cell& the_cell) {
  const traces::script plays{std::getenv("HEAPWISE_SCRIPT")};
  if (!plays.known()) the_cell.refuse("script", "the file of HEAPWISE_SCRIPT is not a script");
  traces::measure_script(the_cell, plays);
}

const experiment question{
    .id = "trace/replay",
    .question = "What do the allocations of a recorded program cost under each allocator?",
    .isolates =
        "The allocator: the same calls with the same sizes by as many threads, recorded by "
        "`heapwise record`. A block that another thread frees is handed over by one store and one "
        "load. New blocks are written to: each cache line of small ones, and of large ones as many "
        "pages as the program had touched.",
    .not_shown =
        "What the program computes between the calls, and so what the caches hold then: the ratio "
        "of two replays is not the ratio of two runs of the program. `heapwise compare` has that. "
        "In the schedules `order` and `paced` threads take turns, so with several threads their "
        "times are of waiting and of context switches; compare memory by them, and time by `fast`. "
        "An allocator that gives memory back after some time does so only in the schedule `paced`. "
        "Without a trace it plays an example of 5,000 blocks, which says nothing about a program.",
    .parameters = traces::ways_to_play({"fast", "order"}, {"order"}),
    .quantities = traces::played_quantities,
    .subjects = {{"malloc", "malloc and free", measure, "", subject_kind::malloc}},
    .baseline = "malloc",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "time"}, {.quantity = "peak_memory"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
