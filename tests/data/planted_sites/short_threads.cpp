// Threads that live for 40 blocks: a pool for threads costs more than it saves.
#include <thread>

#include "planted.hpp"

namespace {

constexpr std::size_t bytes = 80;

#ifdef PLANTED
heapwise::pool<heapwise::thread_cached> results{planted::growing(bytes)};
char* make_result() { return static_cast<char*>(results.allocate()); }
void end_result(char* old) { results.deallocate(old); }
#else
[[gnu::noinline]] char* make_result() { return static_cast<char*>(std::malloc(bytes)); }
void end_result(char* old) { std::free(old); }
#endif

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  const std::uint64_t steps = planted::steps(argc, argv, 100'000);
  char* all[40];
  for (std::uint64_t i = 0; i < steps; i += 40) {
    std::thread{[&] {
      for (char*& one : all) {
        one = make_result();
        one[0] = 1;
      }
    }}.join();
    for (char* one : all) end_result(one);
    noise.step();
  }
}
