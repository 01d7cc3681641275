// How much of its pages a pass of these experiments touches.
#pragma once

#include "harness/experiment.hpp"
#include "sources/words.hpp"

namespace syscalls {

inline const heapwise::bench::parameter touch_parameter{
    "touch",
    "words: every word; pages: the first word of each page, as in the report latency-lab",
    {"words"},
    {"words"},
    "",
    1,
    {"words", "pages"}};

[[nodiscard]] inline touching touched_by(const heapwise::bench::cell& the_cell) {
  return {.heads = the_cell.text("touch") == "pages"};
}

} // namespace syscalls
