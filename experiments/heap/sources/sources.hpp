// Where the blocks of the heap experiments come from. A source is what workload/replay.hpp asks for
// and `usable(block)`; each thread makes one of its own.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "harness/experiment.hpp"
#include "heapwise/heap.hpp"

namespace heaps {

/// malloc, whichever library provides it in this process.
struct system_malloc {
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { std::free(block); }
  [[gnu::always_inline]] void* reallocate(void* block, std::size_t, std::size_t bytes) {
    return std::realloc(block, bytes);
  }
  [[gnu::always_inline]] void deallocate_resized(void* block) { std::free(block); }
  static std::size_t usable(void* block) { return malloc_usable_size(block); }
};

/// The same for blocks that must be aligned; sizes are multiples of the alignment, as C11 asked.
template <std::size_t alignment>
struct system_aligned_alloc : system_malloc {
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    return std::aligned_alloc(alignment, bytes);
  }
};

/// The functions of heapwise/heap.hpp, inlined; the sizes of freed blocks are known, unless they
/// were resized.
struct inlined_heap {
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return heapwise::allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    heapwise::deallocate(block, bytes);
  }
  static void* reallocate(void* block, std::size_t, std::size_t bytes) {
    return heapwise_realloc(block, bytes);
  }
  /// A block that was resized is of any size class, so nobody can free it by its size.
  [[gnu::always_inline]] void deallocate_resized(void* block) { heapwise::deallocate(block); }
  static std::size_t usable(void* block) { return heapwise_malloc_usable_size(block); }
};

template <std::size_t alignment>
struct inlined_aligned_heap : inlined_heap {
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    return heapwise::allocate(bytes, std::align_val_t{alignment});
  }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    heapwise::deallocate(block, bytes, std::align_val_t{alignment});
  }
};

/// What every experiment on the heap measures; `Measure<Source>::run` is its function of a cell.
template <template <class> class Measure, class Malloc = system_malloc,
          class Inlined = inlined_heap>
std::vector<heapwise::bench::subject> subjects() {
  return {{"malloc", "the malloc of this process", Measure<Malloc>::run, "",
           heapwise::bench::subject_kind::malloc},
          {"heap_inlined", "heapwise/heap.hpp, inlined", Measure<Inlined>::run}};
}

inline constexpr const char* baseline = "malloc@glibc";
} // namespace heaps
