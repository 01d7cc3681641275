#include "harness/processes/two_sides.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <vector>

#include "harness/processes/descriptor.hpp"

using namespace heapwise::bench;

namespace {

constexpr other_side::kind kinds[] = {other_side::kind::thread, other_side::kind::process};

/// Puts back what a pair of sides changes of the thread that runs the tests.
class kept_affinity {
 public:
  ~kept_affinity() { CHECK(before_.apply()); }
  [[nodiscard]] const cpu_list& list() const noexcept { return before_; }

 private:
  cpu_list before_ = cpu_list::of_this_thread();
};

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

} // namespace

TEST_CASE("the other side waits until it is let go, and shares memory") {
  for (const auto kind : kinds) {
    const kept_affinity allowed;
    const shared_object<std::atomic<int>> told;
    other_side other{kind, allowed.list(), [&told] {
                       told->fetch_add(1);
                       return true;
                     }};
    CHECK(told->load() == 0);
    CHECK(other.placed());
    other.let_go();
    CHECK(other.end());
    CHECK(told->load() == 1);
  }
}

TEST_CASE("a side that fails is seen to fail") {
  for (const auto kind : kinds) {
    const kept_affinity allowed;
    other_side other{kind, allowed.list(), [] { return false; }};
    other.let_go();
    CHECK_FALSE(other.end());
  }
}

TEST_CASE("a process that dies is seen to fail") {
  const kept_affinity allowed;
  other_side other{other_side::kind::process, allowed.list(), [] {
                     _exit(1);
                     return true;
                   }};
  other.let_go();
  CHECK_FALSE(other.end());
}

TEST_CASE("a side that is never let go ends with its owner") {
  for (const auto kind : kinds) {
    const kept_affinity allowed;
    const other_side other{kind, allowed.list(), [] { return true; }};
    CHECK(other.placed());
  }
}

TEST_CASE("processors are counted in a circle") {
  cpu_list allowed;
  allowed.insert(2);
  allowed.insert(5);
  CHECK(nth_cpu(allowed, 0).contains(2));
  CHECK(nth_cpu(allowed, 1).contains(5));
  CHECK(nth_cpu(allowed, 2).contains(2));
  CHECK(nth_cpu(allowed, 1).size() == 1);
}

TEST_CASE("whole messages go through a pipe, and the end of it is told") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  descriptor out{ends[0]};
  descriptor in{ends[1]};
  const int sent[] = {3, 1, 4};
  int got[] = {0, 0, 0};
  REQUIRE(write_all(in.number(), sent, sizeof sent));
  REQUIRE(read_all(out.number(), got, sizeof got));
  CHECK(std::vector<int>(got, got + 3) == std::vector<int>(sent, sent + 3));
  REQUIRE(write_all(in.number(), sent, 2));
  in = descriptor{};
  CHECK_FALSE(read_all(out.number(), got, sizeof got));
}

TEST_CASE("a descriptor is closed once, by the side that has it last") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const descriptor other{ends[1]};
  {
    descriptor first{ends[0]};
    const descriptor second{std::move(first)};
    CHECK_FALSE(first.valid());
    CHECK(second.number() == ends[0]);
    CHECK(is_open(ends[0]));
  }
  CHECK_FALSE(is_open(ends[0]));
}
