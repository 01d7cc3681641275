#include "drain/frames/size_budget.hpp"

#include <doctest/doctest.h>

using namespace heapwise::bench;

namespace {

/// A file that halves down to its least size.
class halving_file final : public budgeted_file {
 public:
  halving_file(size_budget& budget, std::uint64_t bytes, std::uint64_t least)
      : budget_{budget}, bytes_{bytes}, least_{least} {
    REQUIRE(budget.take(bytes));
    budget.add(*this);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  bool shrink() override {
    if (bytes_ <= least_) return false;
    budget_.give_back(bytes_ / 2);
    bytes_ -= bytes_ / 2;
    return true;
  }

 private:
  size_budget& budget_;
  std::uint64_t bytes_;
  std::uint64_t least_;
};

} // namespace

TEST_CASE("the largest file shrinks first") {
  size_budget budget{100};
  const halving_file large{budget, 64, 8};
  const halving_file small{budget, 30, 8};
  CHECK(budget.take(20));
  CHECK(large.bytes() == 32);
  CHECK(small.bytes() == 30);
  CHECK(budget.used() == 32 + 30 + 20);
}

TEST_CASE("if no file can shrink enough nothing is taken") {
  size_budget budget{100};
  const halving_file large{budget, 64, 40};
  const halving_file small{budget, 30, 30};
  CHECK_FALSE(budget.take(90));
  CHECK(budget.used() == large.bytes() + small.bytes());
  CHECK(budget.take(budget.left()));
  CHECK(budget.left() == 0);
}

TEST_CASE("a file that was removed is not asked") {
  size_budget budget{100};
  const halving_file closed_file{budget, 64, 8};
  budget.remove(closed_file);
  CHECK_FALSE(budget.take(50));
  CHECK(closed_file.bytes() == 64);
}
