// Computes, and allocates now and then: nothing is to gain.
#include "planted.hpp"

namespace {

[[gnu::noinline]] std::uint64_t* make_table() {
  return static_cast<std::uint64_t*>(std::malloc(1024));
}

} // namespace

int main(int argc, char** argv) {
  planted::random numbers;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; i += 2000) {
    std::uint64_t* table = make_table();
    for (int at = 0; at < 128; ++at) table[at] = numbers.next();
    for (int turn = 0; turn < 20'000; ++turn) sum += table[numbers.below(128)];
    std::free(table);
  }
  return sum == 1;
}
