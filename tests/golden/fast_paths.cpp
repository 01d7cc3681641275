// One path of the heap, a number of times: callgrind counts the instructions of the functions that
// are called here. Without arguments it says which paths there are. (No calloc: its memset is the
// C library's, which chooses one for the processor.)
// usage: fast_paths PATH COUNT
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <heapwise/heap.hpp>

namespace {

/// Keeps the compiler from knowing what a block is, or that it is not used.
void* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

void malloc_64() { std::free(seen(std::malloc(64))); }
void new_64() { ::operator delete(seen(::operator new(64)), std::size_t{64}); }
void aligned_64() { std::free(seen(std::aligned_alloc(64, 64))); }
void realloc_in_place() { std::free(seen(std::realloc(seen(std::malloc(60)), 64))); }
void free_null() { std::free(seen(nullptr)); }

void mix_16_to_1024() {
  void* blocks[64];
  for (std::size_t i = 0; i < 64; ++i) blocks[i] = seen(std::malloc(16 * (i + 1)));
  for (void* each : blocks) std::free(each);
}

/// More than a thread keeps for itself: refills and flushes are part of it.
void thousand_of_64() {
  static void* blocks[1000];
  for (void*& each : blocks) each = seen(std::malloc(64));
  for (void* each : blocks) std::free(each);
}

} // namespace

// What is inlined into its caller is counted as this function.
extern "C" [[gnu::noinline]] void heapwise_inlined_64() {
  heapwise::deallocate(seen(heapwise::try_allocate(64)), 64);
}

namespace {

struct path {
  const char* name;
  void (*once)();
};
constexpr path paths[] = {
    {"malloc 64, free", malloc_64},
    {"new 64, sized delete", new_64},
    {"aligned_alloc 64, free", aligned_64},
    {"malloc 60, realloc 64, free", realloc_in_place},
    {"free of null", free_null},
    {"64 blocks of 16 to 1024", mix_16_to_1024},
    {"1000 blocks of 64", thousand_of_64},
    {"heap.hpp: 64 bytes by size", heapwise_inlined_64},
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    for (const path& each : paths) std::puts(each.name);
    return 0;
  }
  for (const path& each : paths) {
    if (std::strcmp(each.name, argv[1]) != 0) continue;
    for (long left = std::atol(argv[2]); left > 0; --left) each.once();
    return 0;
  }
  std::fprintf(stderr, "no such path: %s\n", argv[1]);
  return 1;
}
