// How long the drain waits between two looks at the rings.
#include "drain/pause_length.hpp"

#include <doctest/doctest.h>

#include "trace/shared.hpp"

using namespace heapwise::bench;

TEST_CASE("the drain looks again at once if a look has found many calls") {
  pause_length pause{false};
  CHECK(pause.after(pause_length::few_calls) == 0);
  CHECK(pause.after(pause_length::few_calls - 1) == pause_length::shortest_ns);
}

TEST_CASE("pauses grow while a program hardly calls, and are short again when it does") {
  pause_length pause{false};
  CHECK(pause.after(0) == pause_length::shortest_ns);
  CHECK(pause.after(10) == 2 * pause_length::shortest_ns);
  CHECK(pause.after(0) == pause_length::longest_ns);
  CHECK(pause.after(0) == pause_length::longest_ns);
  CHECK(pause.after(pause_length::few_calls / 2) == pause_length::shortest_ns);
  CHECK(pause.after(0) == 2 * pause_length::shortest_ns);
  CHECK(pause.after(pause_length::few_calls) == 0);
  CHECK(pause.after(0) == pause_length::shortest_ns);
}

TEST_CASE("a ring has room for a call every 16 ns in the longest pause") {
  CHECK(static_cast<std::uint64_t>(pause_length::longest_ns) / 16 <= ring_events);
}

TEST_CASE("a profile is looked at seldom, and at once if it has many samples") {
  pause_length pause{true};
  CHECK(pause.after(0) == pause_length::profile_ns);
  CHECK(pause.after(0) == pause_length::profile_ns);
  CHECK(pause.after(pause_length::few_calls) == 0);
}
