/* Threads that keep blocks, beside others that they free at once, and a forked child that frees a
 * half. A profile of each process is asked for by a signal and by a call. Prints the bytes that
 * each function keeps. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

extern "C" int heapwise_malloc_profile(const char* path);

namespace {

constexpr int threads = 4;
constexpr int small_count = 100'000;
constexpr int large_count = 100;
std::vector<void*> smalls[threads];

} // namespace

extern "C" {

[[gnu::noinline]] void keeps_small_blocks(std::vector<void*>& kept) {
  for (int i = 0; i < small_count; ++i) kept.push_back(std::malloc(96));
}

[[gnu::noinline]] void frees_at_once() {
  for (int i = 0; i < small_count; ++i) {
    void* volatile block = std::malloc(96);
    std::free(block);
  }
}

[[gnu::noinline]] void keeps_large_blocks(std::vector<void*>& kept) {
  for (int i = 0; i < large_count; ++i) kept.push_back(std::malloc(400'000));
}

} // extern "C"

int main(int, char** words) {
  std::vector<std::thread> running;
  for (auto& each : smalls) {
    each.reserve(small_count);
    running.emplace_back([&each] {
      frees_at_once();
      keeps_small_blocks(each);
      frees_at_once();
    });
  }
  for (std::thread& each : running) each.join();
  std::vector<void*> larges;
  larges.reserve(large_count);
  keeps_large_blocks(larges);
  if (heapwise_malloc_profile(words[1]) != 0) return 1;
  std::raise(SIGUSR2);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < threads / 2; ++i) {
      for (void* each : smalls[i]) std::free(each);
    }
    std::raise(SIGUSR2);
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) return 2;
  std::printf("%d %d\n", ::getpid(), child);
  return 0;
}
