// What a recorded program gains if a call site gets a pool: `heapwise advise FILE`.
#include <cstdlib>
#include <string>

#include "harness/experiment.hpp"
#include "sources/player.hpp"

namespace {

using namespace heapwise::bench;

/// Plays the script of this number. HEAPWISE_SCRIPT ends with 0 and is as recorded; the scripts
/// with pools end with the next digits.
template <int Number>
void measure(cell& given) {
  const char* path = std::getenv("HEAPWISE_SCRIPT");
  std::string numbered = path != nullptr ? path : "";
  if (!numbered.empty()) numbered.back() = '0' + Number;
  const traces::script plays{path == nullptr ? nullptr : numbered.c_str()};
  if (!plays.known()) given.refuse("script", "there is no candidate of this number");
  traces::measure_script(given, plays);
}

const experiment question{
    .id = "trace/advice",
    .question = "What does a recorded program gain if one of its call sites gets a pool?",
    .isolates =
        "The blocks of one call site: they come from a pool of heapwise, and all other calls go to "
        "the same malloc, in the recorded order on each thread.",
    .not_shown =
        "What the program computes between the calls, and what its caches hold then. The saved "
        "time is of the calls and of the first writes to the blocks. Without a trace it plays an "
        "example, in which no site has a pool.",
    .parameters = {{"schedule",
                    "fast: threads run freely; order: exactly as recorded",
                    {"fast"},
                    {"fast"},
                    "",
                    1,
                    {"fast", "order"}},
                   {"touch",
                    "line: blocks are written to; none: only the allocator touches memory",
                    {"line"},
                    {"line"},
                    "",
                    1,
                    {"line", "none"}}},
    .quantities = {{"time", "ns/op", better::lower, "wall time over all calls"},
                   processor_time,
                   {"peak_memory", "bytes", better::lower, "resident memory above the start"}},
    .subjects = {{"as_recorded", "malloc and free, as recorded", measure<0>},
                 {"candidate_1", "the first candidate with a pool", measure<1>},
                 {"candidate_2", "the second candidate with a pool", measure<2>},
                 {"candidate_3", "the third candidate with a pool", measure<3>},
                 {"candidate_4", "the fourth candidate with a pool", measure<4>},
                 {"candidate_5", "the fifth candidate with a pool", measure<5>}},
    .baseline = "as_recorded",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "time"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
