// A program that has the fast paths of heap.hpp in its own code, and was built before it is known
// which profile will serve it.
//
//   inlined legal    uses all bytes of blocks of many sizes and alignments
//   inlined lists    frees many blocks in each way that heap.hpp has, and one that it has not
//   inlined twice    frees a block twice
//   inlined sized    the same, where the program says how large the block is
//   inlined inside   frees an address inside of a block
//   inlined overrun  writes behind a block, and frees it
//   inlined written  writes to a block that was freed, and goes on
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <new>
#include <string_view>

#include <heapwise/heap.hpp>

namespace {

constexpr std::size_t bytes = 64;

char* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return static_cast<char*>(block);
}

bool uses_all_bytes(std::size_t size, std::size_t alignment) {
  char* const block = seen(heapwise::allocate(size, std::align_val_t{alignment}));
  char* const other = seen(heapwise::allocate(size, std::align_val_t{alignment}));
  std::memset(block, 'a', size);
  std::memset(other, 'b', size);
  bool is_right = reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
  for (std::size_t at = 0; at < size; ++at) is_right &= block[at] == 'a';
  heapwise::deallocate(block, size, std::align_val_t{alignment});
  heapwise::deallocate(other);
  return is_right;
}

int use_legally() {
  for (std::size_t size = 1; size < 70'000; size += size / 8 + 1) {
    for (const std::size_t alignment : {16U, 64U, 4096U}) {
      if (!uses_all_bytes(size, alignment)) return 1;
    }
  }
  std::puts("done");
  return 0;
}

/// Allocates many blocks, then frees them: more than a thread keeps for itself.
template <class Allocate, class Release>
void fill_and_empty(Allocate allocate, Release release) {
  static char* blocks[20'000];
  for (int round = 0; round < 3; ++round) {
    for (char*& each : blocks) each = static_cast<char*>(std::memset(allocate(), 1, bytes));
    for (char* each : blocks) release(each);
  }
}

int use_in_lists() {
  constexpr std::align_val_t alignment{64};
  const auto allocated = [] { return heapwise::allocate(bytes); };
  const auto by_size = [](char* block) { heapwise::deallocate(block, bytes); };
  fill_and_empty(allocated, by_size);
  fill_and_empty(allocated, [](char* block) { heapwise::deallocate(block); });
  fill_and_empty(allocated, [](char* block) { std::free(block); });
  fill_and_empty([] { return heapwise::allocate(bytes, alignment); },
                 [](char* block) { heapwise::deallocate(block, bytes, alignment); });
  // Not allowed. It is right as long as no profile checks it.
  fill_and_empty([] { return std::malloc(bytes); }, by_size);
  std::list<int, heapwise::heap_allocator<int>> numbers(100'000, 1);
  numbers.clear();
  std::puts("done");
  return 0;
}

void go_on() {
  for (int i = 0; i < 100'000; ++i) heapwise::deallocate(seen(heapwise::allocate(bytes)), bytes);
}

} // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string_view fault = words[1];
  if (fault == "legal") return use_legally();
  if (fault == "lists") return use_in_lists();
  char* const block = seen(heapwise::allocate(bytes));
  std::printf("%p\n", static_cast<void*>(block));
  std::fflush(stdout);
  if (fault == "overrun") block[heapwise_malloc_usable_size(block)] = 'x';
  if (fault == "inside") heapwise::deallocate(seen(block + 16));
  fault == "sized" ? heapwise::deallocate(block, bytes) : heapwise::deallocate(block);
  if (fault == "twice") heapwise::deallocate(seen(block));
  if (fault == "sized") heapwise::deallocate(seen(block), bytes);
  if (fault == "written") block[8] = 'x';
  go_on();
  return 0;
}
