// A program that does little but allocate: each thread replaces blocks of
// random sizes at random places, 1,024 unless it is told how many. If it is told
// after how many calls (1 or 2) the next thread goes on, the threads take turns.
// It prints the wall time and the processor time of its loops, and how many calls
// they made.
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {
constexpr unsigned most_threads = 64;
unsigned threads = 0;
long steps = 0;
long calls_a_turn = 0;
std::uint64_t places = 1024;
pthread_barrier_t ready;
pthread_barrier_t begin;

struct alignas(64) turn {
  std::atomic<int> is_here{0};
};
turn turns[most_threads];

void wait_for_turn(unsigned thread) { turns[thread].is_here.wait(0, std::memory_order_acquire); }

void pass_turn(unsigned thread) {
  turns[thread].is_here.store(0, std::memory_order_relaxed);
  std::atomic<int>& next = turns[(thread + 1) % threads].is_here;
  next.store(1, std::memory_order_release);
  next.notify_one();
}

void* work(void* seed) {
  std::vector<void*> blocks(places);
  std::uint64_t random = reinterpret_cast<std::uint64_t>(seed);
  const auto thread = static_cast<unsigned>(random - 1);
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&begin);
  if (calls_a_turn != 0) wait_for_turn(thread);
  for (long i = 0; i < steps; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    void*& block = blocks[(random >> 40) % places];
    free(block);
    if (calls_a_turn == 1) {
      pass_turn(thread);
      wait_for_turn(thread);
    }
    block = malloc(16 + (random >> 20) % 500);
    if (calls_a_turn != 0) {
      pass_turn(thread);
      if (i != steps - 1) wait_for_turn(thread);
    }
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

int main(int count, char** argv) {
  threads = static_cast<unsigned>(std::atol(argv[1]));
  if (threads > most_threads) return 2;
  steps = std::atol(argv[2]);
  if (count > 3) calls_a_turn = std::atol(argv[3]);
  if (count > 4) places = static_cast<std::uint64_t>(std::atol(argv[4]));
  turns[0].is_here = 1;
  pthread_barrier_init(&ready, nullptr, threads + 1);
  pthread_barrier_init(&begin, nullptr, threads + 1);
  std::vector<pthread_t> all(threads);
  for (std::uintptr_t i = 0; i < threads; ++i) {
    pthread_create(&all[i], nullptr, work, reinterpret_cast<void*>(i + 1));
  }
  // No thread may begin before the clocks are read, nor before all threads are there.
  pthread_barrier_wait(&ready);
  const double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
  pthread_barrier_wait(&begin);
  for (const pthread_t each : all) pthread_join(each, nullptr);
  std::printf("%.6f %.6f %ld\n", now(CLOCK_MONOTONIC) - wall,
              now(CLOCK_PROCESS_CPUTIME_ID) - processor, 2 * steps * threads);
}
