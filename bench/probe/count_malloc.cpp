// malloc and its family, counted and forwarded.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "probe/count.hpp"
#include "probe/next.hpp"

using heapwise::bench::counted;
using heapwise::bench::early;
using heapwise::bench::next_function;
using call = heapwise::bench::tally::call;

namespace {

constexpr std::size_t default_alignment = 16;

constinit next_function<void*(std::size_t)> next_malloc{"malloc"};
constinit next_function<void*(std::size_t, std::size_t)> next_calloc{"calloc"};
constinit next_function<void*(void*, std::size_t)> next_realloc{"realloc"};
constinit next_function<void(void*)> next_free{"free"};
constinit next_function<void*(std::size_t, std::size_t)> next_aligned_alloc{"aligned_alloc"};
constinit next_function<void*(std::size_t, std::size_t)> next_memalign{"memalign"};
constinit next_function<int(void**, std::size_t, std::size_t)> next_posix_memalign{
    "posix_memalign"};
constinit next_function<void*(std::size_t)> next_valloc{"valloc"};
constinit next_function<void*(std::size_t)> next_pvalloc{"pvalloc"};
constinit next_function<std::size_t(void*)> next_usable_size{"malloc_usable_size"};

void* move_out_of_early(void* block, std::size_t size) noexcept {
  auto* next = next_malloc.get();
  void* moved = next != nullptr ? next(size) : early.allocate(size, default_alignment);
  const std::size_t readable = early.readable(block);
  if (moved != nullptr) std::memcpy(moved, block, size < readable ? size : readable);
  return moved;
}

} // namespace

extern "C" {

void* malloc(std::size_t size) {
  auto* next = next_malloc.get();
  if (next == nullptr) return early.allocate(size, default_alignment);
  counted.count(call::malloc, size);
  return next(size);
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  auto* next = next_calloc.get();
  if (next == nullptr) return overflows ? nullptr : early.allocate(bytes, default_alignment);
  counted.count(call::calloc, overflows ? 0 : bytes);
  return next(count, size);
}

void* realloc(void* block, std::size_t size) {
  counted.count(call::realloc, size);
  if (early.owns(block)) return move_out_of_early(block, size);
  auto* next = next_realloc.get();
  return next != nullptr ? next(block, size) : early.allocate(size, default_alignment);
}

void* reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(block, bytes);
  errno = ENOMEM;
  return nullptr;
}

void free(void* block) {
  if (early.owns(block)) return;
  if (block != nullptr) counted.count(call::free);
  if (auto* next = next_free.get(); next != nullptr) next(block);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_aligned_alloc.get();
  return next != nullptr ? next(alignment, size) : early.allocate(size, alignment);
}

void* memalign(std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_memalign.get();
  return next != nullptr ? next(alignment, size) : early.allocate(size, alignment);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_posix_memalign.get();
  if (next != nullptr) return next(block, alignment, size);
  *block = early.allocate(size, alignment);
  return *block != nullptr ? 0 : ENOMEM;
}

void* valloc(std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_valloc.get();
  return next != nullptr ? next(size) : nullptr;
}

void* pvalloc(std::size_t size) {
  counted.count(call::aligned, size);
  auto* next = next_pvalloc.get();
  return next != nullptr ? next(size) : nullptr;
}

std::size_t malloc_usable_size(void* block) {
  if (early.owns(block)) return 0;
  auto* next = next_usable_size.get();
  return next != nullptr ? next(block) : 0;
}
}
