// A program that does little but allocate: each thread replaces blocks of
// random sizes at random places. It prints the wall time and the processor time
// of its loops, and how many calls they made.
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {
long steps = 0;
pthread_barrier_t ready;

void* work(void* seed) {
  constexpr unsigned places = 1024;
  void* blocks[places] = {};
  std::uint64_t random = reinterpret_cast<std::uint64_t>(seed);
  pthread_barrier_wait(&ready);
  for (long i = 0; i < steps; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    void*& block = blocks[(random >> 40) % places];
    free(block);
    block = malloc(16 + (random >> 20) % 500);
  }
  for (void* const block : blocks) free(block);
  return nullptr;
}

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
} // namespace

int main(int, char** argv) {
  const long threads = std::atol(argv[1]);
  steps = std::atol(argv[2]);
  pthread_barrier_init(&ready, nullptr, static_cast<unsigned>(threads) + 1);
  std::vector<pthread_t> all(static_cast<std::size_t>(threads));
  for (long i = 0; i < threads; ++i) {
    pthread_create(&all[static_cast<std::size_t>(i)], nullptr, work,
                   reinterpret_cast<void*>(i + 1));
  }
  pthread_barrier_wait(&ready);
  const double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
  for (const pthread_t each : all) pthread_join(each, nullptr);
  std::printf("%.6f %.6f %ld\n", now(CLOCK_MONOTONIC) - wall,
              now(CLOCK_PROCESS_CPUTIME_ID) - processor, 2 * steps * threads);
}
