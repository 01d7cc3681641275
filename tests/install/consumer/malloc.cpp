// Whose operator new the program has, and whose the C++ library has that calls it.
#include <heapwise/malloc.h>
#include <cstdio>
#include <memory>
#include <string>

static std::size_t large_blocks() {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  return now.large_blocks;
}

static const char* giver(std::size_t before) {
  return large_blocks() > before ? "ours" : "another's";
}

int main() {
  std::size_t before = large_blocks();
  const auto own = std::make_unique<char[]>(1 << 20);
  std::printf("%s ", giver(before));
  before = large_blocks();
  const std::string of_the_library(1 << 20, own[0]);
  std::puts(giver(before));
}
