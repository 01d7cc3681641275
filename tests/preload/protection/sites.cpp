// Allocates a block in one function, frees it in another one, and uses it wrongly. Prints where the
// code of the two functions begins and ends.
//
//   sites ALLOCATION RELEASE FAULT BYTES
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <malloc.h>

using std::string_view;

// The linker makes these of the names of sections.
extern "C" const char __start_allocates[], __stop_allocates[], __start_releases[],
    __stop_releases[];

namespace {

std::size_t bytes = 0;

// The functions of heaps of their own: this program is not linked with the library.
template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
auto* const make_heap = find<void*()>("heapwise_heap_create");
auto* const take_from = find<void*(void*, std::size_t)>("heapwise_heap_malloc");

// A call at the end would become a jump, and return to somebody else.
#define IN_SECTION(name) [[gnu::noinline, gnu::section(name)]]

IN_SECTION("allocates") void* allocate(string_view how, void* small, void* heap) {
  void* block = nullptr;
  if (how == "malloc") block = std::malloc(bytes);
  if (how == "calloc") block = std::calloc(1, bytes);
  if (how == "aligned_alloc") block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (how == "posix_memalign" && posix_memalign(&block, 32, bytes) != 0) block = nullptr;
  if (how == "realloc") block = std::realloc(small, bytes);
  if (how == "new") block = ::operator new(bytes);
  if (how == "new_aligned") block = ::operator new(bytes, std::align_val_t{64});
  if (how == "own") block = take_from(heap, bytes);
  asm volatile("" : "+r"(block));
  return block;
}

IN_SECTION("releases") void release(string_view how, void* block) {
  void* larger = nullptr;
  if (how == "free") std::free(block);
  if (how == "realloc") larger = std::realloc(block, 4 * bytes);
  if (how == "delete") ::operator delete(block);
  if (how == "delete_sized") ::operator delete(block, bytes);
  if (how == "delete_aligned") ::operator delete(block, std::align_val_t{64});
  asm volatile("" : "+r"(larger));
}

void churn() {
  for (int i = 0; i < 100'000; ++i) {
    void* volatile other = std::malloc(bytes);
    if (i % 2 == 0) std::free(other);
  }
}

void misuse(string_view fault, char* address) {
  char* volatile block = address;
  if (fault == "twice") std::free(block);
  if (fault == "resized") block = static_cast<char*>(std::realloc(block, 2 * bytes));
  if (fault == "inside") std::free(block + 16);
  if (fault == "wrong_size") ::operator delete(block, 3 * bytes);
  if (fault == "overrun") {
    std::memset(block, 'x', malloc_usable_size(block) + 1);
    std::free(block);
  }
  if (fault == "written") {
    block[8] = 'x';
    churn();
  }
  if (fault == "behind") block[malloc_usable_size(block)] = 'x';
  if (fault == "touched") block[8] = 'x';
}

} // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const string_view allocation = words[1];
  const string_view how = words[2];
  bytes = std::strtoul(words[4], nullptr, 10);
  // Before the block is freed, since it allocates.
  std::printf("%p %p %p %p\n", static_cast<const void*>(__start_allocates),
              static_cast<const void*>(__stop_allocates),
              static_cast<const void*>(__start_releases),
              static_cast<const void*>(__stop_releases));
  std::fflush(stdout);
  void* const heap = allocation == "own" ? make_heap() : nullptr;
  char* const block = static_cast<char*>(allocate(allocation, std::malloc(1), heap));
  if (how == "thread") {
    std::thread{[&] { release("free", block); }}.join();
  } else {
    release(how, block);
  }
  misuse(words[3], block);
  return 0;
}
