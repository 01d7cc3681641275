// The research allocator under each refill strategy, as sources of a tape.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include <heapwise/hybrid.hpp>

#include "harness/experiment.hpp"

namespace hybrids {

using heapwise::bench::subject;

/// One allocator that all threads of a repeat share. Frees tell no size, as free does.
/// alignment: that every block must have; 0: the allocator's own.
template <class Refill, std::size_t alignment = 0>
class ours {
 public:
  template <std::size_t bytes>
  using aligned_to = ours<Refill, bytes>;

  explicit ours(heapwise::strategy how) : how_{how}, heap_{options} {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    if constexpr (alignment != 0) return heap_.allocate_aligned(bytes, alignment, how_);
    return heap_.allocate(bytes, how_);
  }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { heap_.deallocate(block); }
  [[nodiscard]] std::size_t usable(void* block) { return heap_.usable_bytes(block); }
  [[nodiscard]] heapwise::hybrid_statistics statistics() const { return heap_.statistics(); }

  static constexpr bool calls_malloc = false;

 private:
  /// 2 MiB for each class, so that rl_small never has to wait for a slice: the reserve's best case.
  static constexpr heapwise::hybrid_options options{.reserve_slices = 128};

  heapwise::strategy how_;
  heapwise::hybrid<Refill> heap_;
};

/// Sizes of aligned blocks are multiples of the alignment, as C11 asked.
template <std::size_t alignment = 0>
class system_malloc {
 public:
  template <std::size_t bytes>
  using aligned_to = system_malloc<bytes>;

  explicit system_malloc(heapwise::strategy) {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    if constexpr (alignment != 0) return std::aligned_alloc(alignment, bytes);
    return std::malloc(bytes);
  }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { std::free(block); }
  [[nodiscard]] std::size_t usable(void* block) { return malloc_usable_size(block); }

  static constexpr bool calls_malloc = true;
};

template <template <class> class Measure>
std::vector<subject> strategies() {
  using namespace heapwise::refill;
  return {{"global_lock", "one lock for all lists and for carving: AllocatorBench's baseline",
           Measure<ours<global_lock>>::run},
          {"sharded", "a lock for each list, one for carving: AllocatorBench's change",
           Measure<ours<sharded>>::run},
          {"class_arena", "chunks of its own for each class: remedy 1",
           Measure<ours<class_arena>>::run},
          {"lock_free_refill", "carving and lists without locks: remedy 2",
           Measure<ours<lock_free_refill>>::run},
          {"reserved", "carved ahead, by another thread: remedy 3", Measure<ours<reserved>>::run},
          {"cached_lists", "class_arena, and threads keep blocks of the lists too",
           Measure<ours<cached_lists>>::run}};
}

} // namespace hybrids
