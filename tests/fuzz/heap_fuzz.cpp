// libFuzzer's way into the heap: the bytes of an input are the numbers from which operations are
// drawn, so that every input is a program of mallocs and frees.
#include <cstddef>
#include <cstdint>

#include "conformance/shadow.hpp"
#include "heapwise/malloc.h"

namespace {

struct of_heap {
  static constexpr bool has_heaps = true;
  static void* malloc(std::size_t size) { return heapwise_malloc(size); }
  static void* calloc(std::size_t count, std::size_t size) { return heapwise_calloc(count, size); }
  static void* realloc(void* block, std::size_t size) { return heapwise_realloc(block, size); }
  static void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return heapwise_aligned_alloc(alignment, size);
  }
  static int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    return heapwise_posix_memalign(block, alignment, size);
  }
  static void free(void* block) { heapwise_free(block); }
  static void free_sized(void* block, std::size_t size) { heapwise_free_sized(block, size); }
  static void free_aligned_sized(void* block, std::size_t alignment, std::size_t size) {
    heapwise_free_aligned_sized(block, alignment, size);
  }
  static std::size_t usable_size(void* block) { return heapwise_malloc_usable_size(block); }
  static void purge() { heapwise_malloc_purge(); }
  static void* heap_create() { return heapwise_heap_create(); }
  static void* heap_malloc(void* heap, std::size_t size) {
    return heapwise_heap_malloc(static_cast<heapwise_heap*>(heap), size);
  }
  static void* heap_aligned_alloc(void* heap, std::size_t alignment, std::size_t size) {
    return heapwise_heap_aligned_alloc(static_cast<heapwise_heap*>(heap), alignment, size);
  }
  static void heap_destroy(void* heap) { heapwise_heap_destroy(static_cast<heapwise_heap*>(heap)); }
};

/// The input, as many bytes at a time as the limit needs; zeroes behind its end.
class numbers_of_input {
 public:
  numbers_of_input(const std::uint8_t* bytes, std::size_t count)
      : at_(bytes), end_(bytes + count) {}

  std::size_t next(std::size_t limit) {
    std::size_t number = 0;
    for (std::size_t reach = limit - 1; reach > 0; reach >>= 8) {
      number = number << 8 | (at_ == end_ ? 0 : *at_++);
    }
    return number % limit;
  }
  bool is_empty() const { return at_ == end_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  numbers_of_input numbers(bytes, count);
  conformance::shadow<of_heap, numbers_of_input> one(numbers);
  one.run(count);
  return 0;
}
