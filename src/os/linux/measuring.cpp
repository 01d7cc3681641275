#include <algorithm>
#include <ctime>

#include <sys/resource.h>

#include "os/linux/errno_keeper.hpp"
#include "os/measuring.hpp"

namespace heapwise::os {

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t clock_cost_ns() noexcept {
  constexpr int tries = 1000;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t before = now_ns();
    least = std::min(least, now_ns() - before);
  }
  return least;
}

long switches() noexcept {
  const errno_keeper keep;
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw + used.ru_nvcsw;
}

} // namespace heapwise::os
