// The length of a tick, from a short time.
#include "drain/rings/tick_length.hpp"

#include <doctest/doctest.h>
#include <time.h>

using namespace heapwise::bench;

namespace {

void sleep_ns(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  nanosleep(&pause, nullptr);
}

} // namespace

TEST_CASE("a millisecond tells the length of a tick as well as a tenth of a second") {
  const tick_length tick;
  sleep_ns(1'000'000);
  const double soon = tick.ns();
  sleep_ns(100'000'000);
  const double later = tick.ns();
  CHECK(soon == doctest::Approx(later).epsilon(0.02));
}

TEST_CASE("a unit of time is from ten to twenty nanoseconds, or one tick") {
  const tick_length tick;
  sleep_ns(1'000'000);
  const unsigned shift = tick.shift();
  const double unit = tick.ns() * static_cast<double>(1U << shift);
  CHECK(unit > 9.8);
  CHECK((unit < 20.4 || shift == 0));
}
