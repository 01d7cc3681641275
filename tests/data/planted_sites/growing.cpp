// Arrays that grow by realloc: nothing is to gain.
#include "planted.hpp"

namespace {

[[gnu::noinline]] int* grow(int* old, std::size_t count) {
  return static_cast<int*>(std::realloc(old, count * sizeof(int)));
}

} // namespace

int main(int argc, char** argv) {
  planted::random numbers;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; i += 6) {
    int* all = nullptr;
    const std::size_t most = 8 << numbers.below(6);
    for (std::size_t room = 8; room <= most; room *= 2) {
      all = grow(all, room);
      for (std::size_t at = room / 2; at < room; ++at) all[at] = static_cast<int>(i);
    }
    sum += static_cast<std::uint64_t>(all[4]);
    std::free(all);
  }
  return sum == 1;
}
