// What a recorded program gains if a call site gets a pool: `heapwise advise FILE`.
#include <cstdlib>
#include <string>

#include "harness/experiment.hpp"
#include "sources/measure.hpp"

namespace {

using namespace heapwise::bench;

/// Plays the script of this number. HEAPWISE_SCRIPT ends with 0 and is as recorded; the scripts
/// with pools end with the next digits.
template <int Number>
void measure(cell& the_cell) {
  const char* path = std::getenv("HEAPWISE_SCRIPT");
  std::string numbered = path != nullptr ? path : "";
  if (!numbered.empty()) numbered.back() = '0' + Number;
  const traces::script plays{path == nullptr ? nullptr : numbered.c_str()};
  if (!plays.known()) the_cell.refuse("script", "there is no candidate of this number");
  traces::measure_script(the_cell, plays);
}

const experiment question{
    .id = "trace/advice",
    .question = "What does a recorded program gain if call sites of it get a pool or an arena?",
    .isolates =
        "The blocks of one call site, or of several whose blocks end together: they come from a "
        "pool or an arena of heapwise, and all other calls go to the same malloc, in the recorded "
        "order on each thread.",
    .not_shown =
        "What the program computes between the calls, and what its caches hold then. The saved "
        "time is of the calls and of the first writes to the blocks. Without a trace it plays an "
        "example, in which no site has a pool.",
    .parameters = traces::ways_to_play({"fast"}, {"fast"}),
    .quantities = traces::played_quantities,
    .subjects = {{"as_recorded", "malloc and free, as recorded", measure<0>},
                 {"candidate_1", "the first candidate", measure<1>},
                 {"candidate_2", "the second candidate", measure<2>},
                 {"candidate_3", "the third candidate", measure<3>},
                 {"candidate_4", "the fourth candidate", measure<4>},
                 {"candidate_5", "the fifth candidate", measure<5>},
                 {"candidate_6", "the sixth candidate", measure<6>},
                 {"candidate_7", "the seventh candidate", measure<7>},
                 {"candidate_8", "the eighth candidate", measure<8>}},
    .baseline = "as_recorded",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "time"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
