#include <heapwise/malloc.h>

#include <cstdio>
#include <memory>

static std::size_t large_blocks() {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  return now.large_blocks;
}

int main() {
  const std::size_t before = large_blocks();
  const auto block = std::make_unique<char[]>(1 << 20);
  std::printf("heap: operator new is %s\n", large_blocks() > before ? "ours" : "another's");
  return large_blocks() > before ? 0 : 1;
}
