// Reads all events of a trace that was not cut to windows, as the player does.
// It prints how many a second, and the bytes that were resident at most.
#include <sys/resource.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "player/trace_reader.hpp"

int main(int, char** argv) {
  using namespace heapwise::bench;
  const auto began = std::chrono::steady_clock::now();
  trace_reader trace{argv[1], 0};
  std::uint64_t events = 0, sum = 0;
  trace.each([&](const traced_event& next) {
    ++events;
    sum += next.block + next.size + next.time; // so that each number is needed
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%.0f %ld %llu\n", static_cast<double>(events) / seconds.count(),
              used.ru_maxrss * 1024L, static_cast<unsigned long long>(sum));
}
