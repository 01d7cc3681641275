// The names of the C library, for a program that links or preloads libheapwise-malloc: those that
// its manual asks of a replacement, and those that tell of the heap.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <malloc.h>

#include "heap/front/exported.hpp"
#include "heap/front/general.hpp"
#include "heap/purge/purge.hpp"

using namespace heapwise::detail;

#pragma GCC visibility push(default)
extern "C" {

// Each begins a cache line: its instructions lie in two of them wherever the linker puts it.
[[gnu::aligned(64)]] void* malloc(size_t size) { return allocate(size); }
[[gnu::aligned(64)]] void free(void* block) { deallocate(block); }
void* calloc(size_t count, size_t size) { return heapwise_calloc(count, size); }
void* realloc(void* block, size_t size) { return heapwise_realloc(block, size); }

void* aligned_alloc(size_t alignment, size_t size) { return allocate_aligned(size, alignment); }
void* memalign(size_t alignment, size_t size) { return heapwise_memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  return heapwise_posix_memalign(block, alignment, size);
}
void* valloc(size_t size) { return heapwise_valloc(size); }
void* pvalloc(size_t size) { return heapwise_pvalloc(size); }

void free_sized(void* block, size_t size) { deallocate_sized(block, size); }
void free_aligned_sized(void* block, size_t, size_t size) { deallocate_sized(block, size); }
void cfree(void* block) { deallocate(block); }

size_t malloc_usable_size(void* block) { return heapwise_malloc_usable_size(block); }

int malloc_trim(size_t) { return heapwise_malloc_purge() > 0 ? 1 : 0; }

// The parameters are hints. Real-time programs ask for one that has an effect: no free memory goes
// back, so that no page is missing later.
int mallopt(int parameter, int value) {
  constexpr int known[] = {M_MXFAST,         M_NLBLKS,  M_GRAIN,          M_KEEP,
                           M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX,
                           M_CHECK_ACTION,   M_PERTURB, M_ARENA_TEST,     M_ARENA_MAX};
  if (parameter == M_TRIM_THRESHOLD) keep_free_memory(value < 0);
  return std::ranges::find(known, parameter) != std::end(known) ? 1 : 0;
}

void malloc_stats() { heapwise_malloc_stats(); }

struct mallinfo2 mallinfo2() {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  const size_t idle = now.free_bytes + now.cached_bytes;
  struct mallinfo2 told = {};
  told.arena = now.span_bytes + now.dirty_bytes - now.large_bytes;
  told.ordblks = now.spans;
  told.hblks = now.large_blocks;
  told.hblkhd = now.large_bytes;
  told.fordblks = idle;
  told.uordblks =
      now.span_bytes - now.large_bytes > idle ? now.span_bytes - now.large_bytes - idle : 0;
  told.keepcost = now.dirty_bytes;
  return told;
}

struct mallinfo mallinfo() {
  const struct mallinfo2 wide = ::mallinfo2();
  struct mallinfo told = {};
  told.arena = static_cast<int>(wide.arena);
  told.ordblks = static_cast<int>(wide.ordblks);
  told.hblks = static_cast<int>(wide.hblks);
  told.hblkhd = static_cast<int>(wide.hblkhd);
  told.fordblks = static_cast<int>(wide.fordblks);
  told.uordblks = static_cast<int>(wide.uordblks);
  told.keepcost = static_cast<int>(wide.keepcost);
  return told;
}

int malloc_info(int options, FILE* into) {
  if (options != 0) {
    errno = EINVAL;
    return -1;
  }
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  std::fprintf(into,
               "<malloc version=\"heapwise-1\">\n<system type=\"current\" size=\"%zu\"/>\n"
               "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n"
               "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n</malloc>\n",
               now.span_bytes + now.dirty_bytes, now.spans, now.free_bytes + now.cached_bytes,
               now.large_blocks, now.large_bytes);
  return 0;
}

// The names by which glibc's functions can be called past a replacement. Programs free by `free`
// what they got so.
#define HEAPWISE_SAME_AS(function) __attribute__((alias(#function), copy(function)))
void* __libc_malloc(size_t size) HEAPWISE_SAME_AS(malloc);
void __libc_free(void* block) HEAPWISE_SAME_AS(free);
void* __libc_calloc(size_t count, size_t size) HEAPWISE_SAME_AS(calloc);
void* __libc_realloc(void* block, size_t size) HEAPWISE_SAME_AS(realloc);
void* __libc_memalign(size_t alignment, size_t size) HEAPWISE_SAME_AS(memalign);
void* __libc_valloc(size_t size) HEAPWISE_SAME_AS(valloc);
void* __libc_pvalloc(size_t size) HEAPWISE_SAME_AS(pvalloc);
int __libc_mallopt(int parameter, int value) HEAPWISE_SAME_AS(mallopt);
struct mallinfo __libc_mallinfo() HEAPWISE_SAME_AS(mallinfo);
int __posix_memalign(void** block, size_t alignment, size_t size) HEAPWISE_SAME_AS(posix_memalign);

} // extern "C"
#pragma GCC visibility pop
