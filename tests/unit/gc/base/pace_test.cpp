#include "gc/base/pace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "gc/space/space.hpp"

using namespace heapwise::gc;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::uint64_t ms = 1'000'000;

struct outcome {
  std::uint64_t longest_wait_ns = 0; // of a thread at once
  std::uint64_t rested_ns = 0;
  std::size_t grown_bytes = 0;
};

/// A program whose threads do nothing but take spans, beside a copy that marks.
struct simulated_program {
  std::size_t threads = 1;
  std::size_t room_bytes = 8 * mib;
  std::uint64_t span_ns = 0;     // that a thread takes to use up a span
  std::uint64_t marking_ns = 0;  // that the copy takes
  std::uint64_t expected_ns = 0; // before
  bool paced = true;
};

/// The clock is the number of the thread that goes on next, and when.
outcome simulate(const simulated_program& program) {
  constexpr std::size_t heap_bytes = 16 * mib;
  pacer pace;
  pace.begin(heap_bytes, heap_bytes + program.room_bytes, program.expected_ns);
  std::array<std::uint64_t, 16> goes_on{};
  outcome result;
  for (;;) {
    std::uint64_t& next = *std::min_element(goes_on.begin(), goes_on.begin() + program.threads);
    const std::uint64_t now = next;
    if (now >= program.marking_ns) return result;
    std::uint64_t wait = 0;
    const std::size_t larger = result.grown_bytes + slice_bytes;
    if (program.paced ? pace.is_too_large(heap_bytes + larger) : larger > program.room_bytes) {
      wait = program.marking_ns - now; // for the copy
    } else {
      result.grown_bytes = larger;
      if (program.paced) wait = pace.rest_ns(heap_bytes + larger, slice_bytes, now);
      result.rested_ns += wait;
    }
    result.longest_wait_ns = std::max(result.longest_wait_ns, wait);
    next = now + program.span_ns + wait;
  }
}

} // namespace

TEST_CASE("no thread waits for long at once, where it would without a pace") {
  for (const std::size_t threads : {1U, 2U, 4U, 16U}) {
    for (const std::uint64_t span_ns : {10'000U, 30'000U, 60'000U}) {
      CAPTURE(threads);
      CAPTURE(span_ns);
      simulated_program program{.threads = threads, .span_ns = span_ns, .marking_ns = 15 * ms};
      const outcome paced = simulate(program);
      program.paced = false;
      const outcome unpaced = simulate(program);
      CHECK(unpaced.longest_wait_ns > 5 * ms);
      CHECK(paced.longest_wait_ns <= pacer::most_ns);
      if (threads <= 4) CHECK(paced.grown_bytes <= program.room_bytes + program.room_bytes / 8);
    }
  }
}

TEST_CASE("a copy that marks for long is waited for in small rests, whether it was expected") {
  for (const std::uint64_t marking_ms : {30U, 60U, 120U}) {
    CAPTURE(marking_ms);
    simulated_program program{.span_ns = 20'000, .marking_ns = marking_ms * ms};
    const outcome unexpected = simulate(program);
    CHECK(unexpected.longest_wait_ns <= pacer::most_ns);
    program.expected_ns = program.marking_ns;
    const outcome expected = simulate(program);
    CHECK(expected.longest_wait_ns <= pacer::most_ns);
    CHECK(expected.grown_bytes < program.room_bytes);
    CHECK(expected.grown_bytes < unexpected.grown_bytes);
  }
}

TEST_CASE("beside a copy that never ends, the heap grows by twice the room and no more") {
  for (const std::size_t threads : {1U, 16U}) {
    CAPTURE(threads);
    simulated_program program{.threads = threads, .span_ns = 20'000, .marking_ns = 60'000 * ms};
    const outcome result = simulate(program);
    CHECK(result.longest_wait_ns > pacer::most_ns);
    CHECK(result.grown_bytes == 2 * program.room_bytes);
  }
}

TEST_CASE("a large block that does not fit into twice the room waits for the copy at once") {
  pacer pace;
  pace.begin(16 * mib, 24 * mib, 0);
  CHECK_FALSE(pace.is_too_large(32 * mib));
  CHECK(pace.is_too_large(32 * mib + slice_bytes));
}

TEST_CASE("how long marking takes is known from the last copy that had enough to do") {
  marking_speed speed;
  CHECK(speed.expected_ns(100 * mib) > 10 * ms);
  speed.note(20 * ms, 10 * mib);
  CHECK(speed.expected_ns(30 * mib) == 60 * ms);
  speed.note(20 * ms, mib); // most of it is the way there
  CHECK(speed.expected_ns(30 * mib) == 60 * ms);
  speed.note(5 * ms, 10 * mib);
  CHECK(speed.expected_ns(30 * mib) == 15 * ms);
}

TEST_CASE("a program that needs less than half of the room never rests") {
  // 60 spans of 128 in the time of marking.
  CHECK(simulate({.span_ns = 100'000, .marking_ns = 6 * ms}).rested_ns == 0);
  CHECK(simulate({.span_ns = 100'000, .marking_ns = 8 * ms}).rested_ns > 0);
}

TEST_CASE("the room is used up ever more slowly") {
  pacer pace;
  pace.begin(0, 1024 * slice_bytes, 0);
  std::uint64_t now = 0;
  std::uint64_t rested_before = 0;
  for (std::size_t left = 511; left > 32; left /= 2) {
    std::uint64_t rested = 0;
    for (std::size_t each = left; each > left / 2; --each) {
      const std::uint64_t rest = pace.rest_ns((1024 - each) * slice_bytes, slice_bytes, now);
      now += rest;
      rested += rest;
    }
    // Each half of what is left in ln 2 * 5 ms.
    CHECK(rested > 3 * ms);
    CHECK(rested < 4 * ms);
    CHECK(rested + ms > rested_before);
    rested_before = rested;
  }
}

TEST_CASE("a larger heap is expected to grow more while a copy marks, a smaller one less") {
  CHECK(expected_growth({}, 100 * mib) == 0);
  CHECK(expected_growth({.heap_bytes = 10 * mib, .grown_bytes = 4 * mib}, 10 * mib) == 4 * mib);
  CHECK(expected_growth({.heap_bytes = 10 * mib, .grown_bytes = 4 * mib}, 25 * mib) == 10 * mib);
  CHECK(expected_growth({.heap_bytes = 10 * mib, .grown_bytes = 4 * mib}, 5 * mib) == 2 * mib);
  // A heap of all addresses that the collector reserves does not overflow it.
  CHECK(expected_growth({.heap_bytes = mib, .grown_bytes = mib}, std::size_t{1} << 38) ==
        std::size_t{1} << 38);
}
