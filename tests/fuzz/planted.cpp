// The heap's functions with one fault, FAULT, on the C library's malloc: the fuzzer has to find it.
#include <cstdlib>
#include <cstring>

#include <malloc.h>

#include "heapwise/malloc.h"

namespace {

constexpr int fault = FAULT; // 0: none

enum { overlapping = 1, loses_a_byte = 2, misaligned = 3, dirty = 4, heap_frees_others = 5 };

/// What every request of some sizes gets.
alignas(16) char shared[96];

/// Blocks of a heap are let go with it; nobody counts them here.
void* last_of_heap = nullptr;

} // namespace

struct heapwise_heap {
  int unused;
};

extern "C" {

void* heapwise_malloc(std::size_t size) {
  return fault == overlapping && size > 40 && size <= sizeof shared ? shared : std::malloc(size);
}

void* heapwise_calloc(std::size_t count, std::size_t size) {
  void* const block = std::calloc(count, size);
  if (fault == dirty && count > 1 && size > 8) static_cast<char*>(block)[size] = 1;
  return block;
}

void* heapwise_realloc(void* block, std::size_t size) {
  if (block == shared) return std::memcpy(std::malloc(size + sizeof shared), shared, sizeof shared);
  void* const new_block = std::realloc(block, size);
  if (fault == loses_a_byte && new_block != nullptr && size > 10)
    static_cast<char*>(new_block)[9] ^= 1;
  return new_block;
}

void heapwise_free(void* block) {
  if (block == last_of_heap) last_of_heap = nullptr;
  if (block != shared) std::free(block);
}
void heapwise_free_sized(void* block, std::size_t) { heapwise_free(block); }
void heapwise_free_aligned_sized(void* block, std::size_t, std::size_t) { heapwise_free(block); }

void* heapwise_aligned_alloc(std::size_t alignment, std::size_t size) {
  return fault == misaligned && alignment == 256 ? memalign(16, size) : memalign(alignment, size);
}

int heapwise_posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  return posix_memalign(block, alignment, size);
}

std::size_t heapwise_malloc_usable_size(void* block) {
  return block == shared ? sizeof shared : malloc_usable_size(block);
}
std::size_t heapwise_malloc_purge(void) { return 0; }

heapwise_heap* heapwise_heap_create(void) { return new heapwise_heap; }
void* heapwise_heap_malloc(heapwise_heap*, std::size_t size) {
  return last_of_heap = std::malloc(size + 16);
}
void* heapwise_heap_aligned_alloc(heapwise_heap*, std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
void heapwise_heap_destroy(heapwise_heap* heap) {
  if (fault == heap_frees_others && last_of_heap != nullptr) std::memset(last_of_heap, 0, 16);
  last_of_heap = nullptr;
  delete heap;
}
}
