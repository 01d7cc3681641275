// A program that is linked with two libraries, each with a copy of Heapwise inside. Each copy
// numbers its pools from slot 0, and a thread uses the pools of both by turns.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

extern "C" {
void* first_create(std::size_t block_count);
void first_destroy(void* blocks);
void* first_take(void* blocks);
bool first_give(void* blocks, void* block);
std::size_t first_budget(void* blocks);
bool first_finds();
void* second_create(std::size_t block_count);
void second_destroy(void* blocks);
void* second_take(void* blocks);
bool second_give(void* blocks, void* block);
std::size_t second_budget(void* blocks);
bool second_finds();
}

namespace {

void demand(bool holds, const char* claim) {
  if (holds) return;
  std::printf("not true: %s\n", claim);
  std::exit(1);
}

constexpr std::size_t count = 4096;

/// Effects: takes a block of each pool and gives it back, many times.
void use_by_turns(void* in_first, void* in_second) {
  for (int turn = 0; turn < 10'000; ++turn) {
    void* const one = first_take(in_first);
    void* const other = second_take(in_second);
    demand(one != nullptr && other != nullptr, "a pool whose blocks are free refuses nothing");
    demand(first_give(in_first, one), "the first pool takes its block back");
    demand(second_give(in_second, other), "the second pool takes its block back");
  }
}

} // namespace

int main() {
  void* const in_first = first_create(count);
  void* const in_second = second_create(count);
  use_by_turns(in_first, in_second);
  const std::size_t first_bytes = first_budget(in_first);
  const std::size_t second_bytes = second_budget(in_second);
  for (int round = 0; round < 100; ++round) {
    std::thread{use_by_turns, in_first, in_second}.join();
  }
  demand(first_budget(in_first) == first_bytes, "the first pool makes no cache for a known thread");
  demand(second_budget(in_second) == second_bytes,
         "the second pool makes no cache for a known thread");
  demand(first_finds() && second_finds(), "each library finds its caches by the short way");
  first_destroy(in_first);
  second_destroy(in_second);
  std::puts("done");
}
