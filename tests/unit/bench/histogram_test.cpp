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
    const auto found = static_cast<double>(many.at(quantile));
    CHECK(found >= exact);
    CHECK(found <= exact * (1 + histogram<8>::relative_error));
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
