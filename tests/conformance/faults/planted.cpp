// A malloc with one fault, which FAULT names by the number of the item that has to find it; with 0
// it has none. It borrows the C library's.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <new>

#include <malloc.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

constexpr int fault = FAULT;
constexpr std::size_t page = 4096;

bool is_power(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

void* aligned(std::size_t alignment, std::size_t size) {
  if (fault == 13 && alignment == page && size > 600) return __libc_malloc(size);
  return __libc_memalign(alignment, size);
}

/// Set when this library's constructors run, which is after the first calls.
bool constructed = false;
__attribute__((constructor)) void construct() { constructed = true; }

} // namespace

extern "C" {

std::size_t malloc_usable_size(void* block) {
  // The size that the C library keeps before a block; its lowest bits are marks.
  if (block == nullptr) return 0;
  std::size_t word;
  std::memcpy(&word, static_cast<char*>(block) - 8, 8);
  const bool mapped = (word & 2) != 0;
  const std::size_t usable = (word & ~std::size_t{7}) - (mapped ? 16 : 8);
  return fault == 14 ? usable + 32 : usable;
}

void* malloc(std::size_t size) {
  if (fault == 1 && size == 0) return nullptr;
  void* const block = __libc_malloc(size);
  if (fault == 2 && block == nullptr) errno = 0;
  if (fault == 17 && block == nullptr && std::get_new_handler() != nullptr)
    std::get_new_handler()();
  return block;
}

void free(void* block) {
  __libc_free(block);
  if (fault == 15) errno = EINVAL;
}

void* calloc(std::size_t count, std::size_t size) {
  if (fault == 3 && size != 0 && count > SIZE_MAX / size) return __libc_malloc(count * size);
  void* const block = __libc_calloc(count, size);
  if (fault == 4 && block != nullptr && count * size == 96) static_cast<char*>(block)[95] = 1;
  return block;
}

void* realloc(void* block, std::size_t size) {
  if (fault == 5 && block == nullptr && size == 0) return nullptr;
  if (fault == 19 && !constructed) return nullptr;
  if (fault == 6 && block != nullptr && size == 0) return __libc_realloc(block, 1);
  if (fault == 9 && block != nullptr && size == malloc_usable_size(block)) {
    void* const new_block = __libc_malloc(size);
    std::memcpy(new_block, block, size);
    __libc_free(block);
    return new_block;
  }
  const bool fails = block != nullptr && size > PTRDIFF_MAX;
  if (fault == 7 && fails) static_cast<char*>(block)[0] ^= 1;
  void* const new_block = __libc_realloc(block, size);
  const bool spoils = fault == 8 ? size == 1057 : fault == 22 && size == 1234;
  if (spoils && new_block != nullptr) static_cast<char*>(new_block)[500] ^= 1;
  return new_block;
}

void* reallocarray(void* block, std::size_t count, std::size_t size) {
  if (size == 0 || count <= SIZE_MAX / size) return realloc(block, count * size);
  errno = ENOMEM;
  return nullptr;
}

void* memalign(std::size_t alignment, std::size_t size) {
  if (fault == 12 && !is_power(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return aligned(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if ((fault == 11 && size % alignment != 0) || !is_power(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return aligned(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (fault == 10) *block = nullptr;
  if (!is_power(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int before = errno;
  void* const new_block = aligned(alignment, size);
  errno = before;
  if (new_block == nullptr) return ENOMEM;
  *block = new_block;
  return 0;
}

void* valloc(std::size_t size) { return aligned(page, size); }

void* pvalloc(std::size_t size) {
  if (size > SIZE_MAX - page) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned(page, (size == 0 ? page : size + page - 1) / page * page);
}

void free_sized(void* block, std::size_t size) {
  if (fault == 16 && size == 0 && block != nullptr) __builtin_trap();
  free(block);
}

void free_aligned_sized(void* block, std::size_t, std::size_t size) { free_sized(block, size); }

int mallopt(int, int) { return fault == 20 ? 1 : 0; }
}

namespace {

/// Fails as the standard says, so that item 17 has nothing else to find.
void* by_new(std::size_t size, std::size_t alignment) {
  for (;;) {
    void* const block = size > PTRDIFF_MAX ? nullptr : aligned(alignment, size);
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

} // namespace

void* operator new(std::size_t size) { return by_new(size, 16); }
void* operator new[](std::size_t size) { return by_new(size, 16); }
void* operator new(std::size_t size, std::align_val_t to) { return by_new(size, std::size_t(to)); }
void* operator new[](std::size_t size, std::align_val_t to) {
  return by_new(size, std::size_t(to));
}
