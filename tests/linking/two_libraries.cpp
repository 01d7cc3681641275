// A program that is linked with two libraries, each with a copy of Heapwise inside. Each copy
// numbers its pools from slot 0, and a thread uses the pools of both by turns.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "library.hpp"

namespace {

void demand(bool holds, const char* claim) {
  if (holds) return;
  std::printf("not true: %s\n", claim);
  std::exit(1);
}

constexpr std::size_t count = 4096;

/// Effects: takes a block of each pool and gives it back, many times.
void use_by_turns(const library& first, void* in_first, const library& second, void* in_second) {
  for (int turn = 0; turn < 10'000; ++turn) {
    void* const one = first.take(in_first);
    void* const other = second.take(in_second);
    demand(one != nullptr && other != nullptr, "a pool whose blocks are free refuses nothing");
    demand(first.give(in_first, one), "the first pool takes its block back");
    demand(second.give(in_second, other), "the second pool takes its block back");
  }
}

} // namespace

int main() {
  const library first = first_library();
  const library second = second_library();
  void* const in_first = first.create(count);
  void* const in_second = second.create(count);
  use_by_turns(first, in_first, second, in_second);
  const std::size_t first_bytes = first.budget(in_first);
  const std::size_t second_bytes = second.budget(in_second);
  for (int round = 0; round < 100; ++round) {
    std::thread{use_by_turns, first, in_first, second, in_second}.join();
  }
  demand(first.budget(in_first) == first_bytes, "the first pool makes no cache for a known thread");
  demand(second.budget(in_second) == second_bytes,
         "the second pool makes no cache for a known thread");
  demand(first.finds() && second.finds(), "each library finds its caches by the short way");
  first.destroy(in_first);
  second.destroy(in_second);
  std::puts("done");
}
