// The lines that say what an experiment is and what process runs it.
#pragma once

#include <string_view>

#include "harness/experiment.hpp"
#include "line/json_line.hpp"

namespace heapwise::bench {

struct options;

/// The answer to --describe: an Experiment as schema/README.md has it.
void write_description(json_line& line, const experiment& question);

/// The first line of a measurement: subject, parameters, process, build, clock, malloc. `flags`,
/// `other_compiler`: of the experiment's own code; "": those of the harness.
void write_start(json_line& line, const experiment& question, const options& chosen,
                 std::string_view flags, std::string_view other_compiler);

} // namespace heapwise::bench
