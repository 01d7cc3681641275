#include "kernel/ticks.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "kernel/clock.hpp"
#include "kernel/spin.hpp"

using heapwise::bench::now_ns;
using heapwise::bench::now_ticks;
using heapwise::bench::spin_once_ns;
using heapwise::bench::tick_scale;

/// Returns: the length of a tick, the middle one of some: the thread may lose its processor between
/// the readings of the two clocks.
double learned_scale() {
  std::array<double, 5> scales;
  for (double& each : scales) {
    const tick_scale learning;
    (void)spin_once_ns(2'000'000);
    each = learning.ns_per_tick();
  }
  std::sort(scales.begin(), scales.end());
  return scales[scales.size() / 2];
}

TEST_CASE("ticks go on, and their scale agrees with the clock") {
  const double scale = learned_scale();
  CHECK(scale > 0.05); // 20 GHz
  CHECK(scale < 1001); // 1 MHz
  CHECK(learned_scale() == doctest::Approx(scale).epsilon(0.25));
}

TEST_CASE("ticks never go back") {
  std::uint64_t last = now_ticks();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t next = now_ticks();
    REQUIRE(next >= last);
    last = next;
  }
}

TEST_CASE("ticks go on in whole steps") {
  const std::uint64_t step = heapwise::bench::tick_step();
  REQUIRE(step > 0);
  constexpr int readings = 1000;
  int odd = 0;
  std::uint64_t last = now_ticks();
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t next = now_ticks();
    odd += (next - last) % step == 0 ? 0 : 1;
    last = next;
  }
  // The counters of two processors of a virtual machine may be a part of a step apart, and the
  // thread may be moved from one to the other.
  CHECK(odd < readings / 100);
}
