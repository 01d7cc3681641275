#include "harness/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "harness/random.hpp"

using heapwise::bench::histogram;
using heapwise::bench::random_numbers;

TEST_CASE("every 64-bit value lies in its bucket and buckets are in order") {
  using buckets = histogram<8>;
  random_numbers random{7};
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random.next() >> random.below(64);
    const std::size_t bucket = buckets::bucket_of(value);
    REQUIRE(buckets::upper_edge(bucket) >= value);
    if (bucket > 0) REQUIRE(buckets::upper_edge(bucket - 1) < value);
  }
  CHECK(buckets::upper_edge(buckets::bucket_of(UINT64_MAX)) == UINT64_MAX);
}

TEST_CASE("a bucket is never wider than the promised relative error") {
  using buckets = histogram<8>;
  for (std::size_t bucket = 1; bucket < 7000; ++bucket) {
    const auto low = static_cast<double>(buckets::upper_edge(bucket - 1) + 1);
    const auto high = static_cast<double>(buckets::upper_edge(bucket));
    REQUIRE(high - low <= low * buckets::relative_error);
  }
}

TEST_CASE("small values are exact") {
  histogram<8> few;
  for (std::uint64_t value = 1; value <= 100; ++value) few.record(value);
  CHECK(few.at(0.5) == 50);
  CHECK(few.at(0.99) == 99);
  CHECK(few.at(1.0) == 100);
  CHECK(few.at(0.0) == 1);
}

TEST_CASE("quantiles agree with sorting, within the error, from above") {
  static histogram<8> many;
  std::vector<std::uint64_t> values;
  random_numbers random{11};
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(random.below(1'000'000) + 1);
    many.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double quantile : {0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(quantile * 50'000) - 1;
    const auto exact = static_cast<double>(values[rank]);
    const auto value = static_cast<double>(many.at(quantile));
    CHECK(value >= exact);
    CHECK(value <= exact * (1 + histogram<8>::relative_error));
  }
  CHECK(many.at(1.0) == values.back());
  CHECK(many.max() == values.back());
}

TEST_CASE("merging is recording both") {
  static histogram<8> left, right, both;
  for (std::uint64_t value : {3U, 500U, 70'000U}) {
    left.record(value);
    both.record(value);
  }
  for (std::uint64_t value : {4U, 9'000'000U}) {
    right.record(value);
    both.record(value);
  }
  left.merge(right);
  CHECK(left.count() == both.count());
  CHECK(left.max() == both.max());
  for (const double quantile : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    CHECK(left.at(quantile) == both.at(quantile));
  }
  left.clear();
  CHECK(left.count() == 0);
  CHECK(left.at(0.5) == 0);
}

TEST_CASE("a coarse clock's readings are spread over its step") {
  // What takes 12 to 18 with a clock that steps by 10 is read as 10 or 20, by chance.
  const auto readings_of = [](std::uint64_t duration, histogram<8>& into) {
    for (std::uint64_t phase = 0; phase < 10; ++phase) {
      into.record((phase + duration) / 10 * 10);
    }
  };
  for (const std::uint64_t duration : {12U, 15U, 18U, 33U}) {
    histogram<8> seen;
    readings_of(duration, seen);
    CHECK(seen.spread_at(0.5, 10) == doctest::Approx(static_cast<double>(duration)).epsilon(0.2));
  }
  histogram<8> shorter, longer;
  for (int i = 0; i < 100; ++i) readings_of(i < 50 ? 12 : 13, shorter);
  for (int i = 0; i < 100; ++i) readings_of(i < 50 ? 13 : 14, longer);
  CHECK(shorter.at(0.5) == longer.at(0.5));
  CHECK(shorter.spread_at(0.5, 10) < longer.spread_at(0.5, 10));
}

TEST_CASE("spread quantiles stay between nothing and the maximum") {
  histogram<8> seen;
  CHECK(seen.spread_at(0.5, 10) == 0);
  seen.record(0);
  CHECK(seen.spread_at(0.01, 10) == 0);
  for (int i = 0; i < 1000; ++i) seen.record(20);
  CHECK(seen.spread_at(1.0, 10) == 20);
  seen.record(1'000'000);
  CHECK(seen.spread_at(0.5, 10) == doctest::Approx(20).epsilon(0.05));
  CHECK(seen.spread_at(1.0, 10) <= 1'000'000);
  CHECK(seen.spread_at(1.0, 10) == doctest::Approx(1'000'000).epsilon(0.01));
}
