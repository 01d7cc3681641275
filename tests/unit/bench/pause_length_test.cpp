// How long the drain waits between two looks at the rings.
#include "drain/rings/pause_length.hpp"

#include <doctest/doctest.h>

using namespace heapwise::bench;

TEST_CASE("the drain looks again at once if a look has found many calls") {
  CHECK(pause_after(events_to_alarm, false) == 0);
  CHECK(pause_after(events_to_alarm, true) == 0);
}

TEST_CASE("its pause is short while a ring has much that was too young") {
  CHECK(pause_after(0, true) == shortest_pause_ns);
  CHECK(pause_after(events_to_alarm - 1, true) == shortest_pause_ns);
  CHECK(pause_after(events_to_alarm - 1, false) == longest_pause_ns);
  CHECK(pause_after(0, false) == longest_pause_ns);
}

TEST_CASE("a thread calls the drain before its ring is half full, when the drain takes all of it") {
  CHECK(2 * events_to_alarm <= ring_events / 2);
}
