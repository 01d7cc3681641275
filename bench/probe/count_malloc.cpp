// malloc and its family, counted and forwarded.
#include <cerrno>
#include <cstddef>

#include "probe/count.hpp"

using namespace heapwise::bench;
using call = tally::call;

extern "C" {

void* malloc(std::size_t size) {
  auto* next = next_malloc.get();
  if (next == nullptr) return early.allocate(size, default_alignment);
  counted.count(call::malloc, size);
  return counted_live(next(size));
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  auto* next = next_calloc.get();
  if (next == nullptr) return overflows ? nullptr : early.allocate(bytes, default_alignment);
  counted.count(call::calloc, overflows ? 0 : bytes);
  return counted_live(next(count, size));
}

void* realloc(void* block, std::size_t size) {
  counted.count(call::realloc, size);
  if (early.owns(block)) return counted_live(move_out_of_early(block, size));
  auto* next = next_realloc.get();
  if (next == nullptr) return early.allocate(size, default_alignment);
  const std::int64_t before = bytes_of(block);
  void* after = next(block, size);
  // A call that fails leaves the block as it is, and one with no size may end it.
  if (after != nullptr || size == 0) counted.change_live(bytes_of(after) - before);
  return after;
}

void* reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(block, bytes);
  errno = ENOMEM;
  return nullptr;
}

void free(void* block) {
  if (early.owns(block)) return;
  if (block != nullptr) {
    counted.count(call::free);
    counted.change_live(-bytes_of(block));
  }
  if (auto* next = next_free.get(); next != nullptr) next(block);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_aligned_alloc.get();
  return next != nullptr ? counted_live(next(alignment, size)) : early.allocate(size, alignment);
}

void* memalign(std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_memalign.get();
  return next != nullptr ? counted_live(next(alignment, size)) : early.allocate(size, alignment);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_posix_memalign.get();
  if (next != nullptr) {
    const int error = next(block, alignment, size);
    if (error == 0) counted_live(*block);
    return error;
  }
  *block = early.allocate(size, alignment);
  return *block != nullptr ? 0 : ENOMEM;
}

void* valloc(std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_valloc.get();
  return next != nullptr ? counted_live(next(size)) : nullptr;
}

void* pvalloc(std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_pvalloc.get();
  return next != nullptr ? counted_live(next(size)) : nullptr;
}

std::size_t malloc_usable_size(void* block) {
  if (early.owns(block)) return 0;
  auto* next = next_usable_size.get();
  return next != nullptr ? next(block) : 0;
}
}
