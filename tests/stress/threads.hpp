// Threads that start together, seeds, and how much work a stress test does.
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace stress {

/// Returns: `count` times HEAPWISE_STRESS_SCALE (default 1), at least 1.
inline std::size_t scaled(std::size_t count) {
  const char* const text = std::getenv("HEAPWISE_STRESS_SCALE");
  const double scale = text == nullptr ? 1.0 : std::atof(text);
  const auto wanted = static_cast<std::size_t>(static_cast<double>(count) * scale);
  return wanted == 0 ? 1 : wanted;
}

/// Calls body(0) ... body(count - 1), each on a thread of its own, all at once; waits for all.
template <class Body>
void on_threads(std::size_t count, const Body& body) {
  std::barrier<> start{static_cast<std::ptrdiff_t>(count)};
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread& each : threads) each.join();
}

/// Pseudorandom numbers, the same for the same seed (Steele, Lea and Flood: SplitMix64, 2014).
class random {
 public:
  explicit random(std::uint64_t seed) noexcept : state_{seed} {}

  std::uint64_t operator()() noexcept {
    std::uint64_t word = state_ += 0x9E37'79B9'7F4A'7C15u;
    word = (word ^ (word >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    word = (word ^ (word >> 27)) * 0x94D0'49BB'1331'11EBu;
    return word ^ (word >> 31);
  }
  /// Returns: a number below `limit`.
  std::size_t below(std::size_t limit) noexcept {
    return static_cast<std::size_t>((*this)() % limit);
  }

 private:
  std::uint64_t state_;
};

} // namespace stress
