// Where blocks of any size come from. A source is what workload/replay.hpp asks for, made from a
// `demand`, and `round_ends()`, which is called inside the clock when every block was freed: what
// frees nothing before, does it there.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "harness/memory/mapped_array.hpp"
#include "heapwise/heap.hpp"
#include "heapwise/pool.hpp"
#include "sources/by_list.hpp"
#include "sources/plain_pool.hpp"

namespace memory {

struct demand {
  std::size_t round_blocks;  ///< allocated in a round
  std::size_t round_bytes;   ///< in all of them, each rounded up to 16
  std::size_t largest_bytes; ///< of a block
};

/// What the C++ library's new calls.
struct system_new {
  explicit system_new(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    ::operator delete(block, bytes);
  }
  void round_ends() {}
};

struct system_malloc {
  explicit system_malloc(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { std::free(block); }
  void round_ends() {}
};

/// Blocks of the report latency-lab have this alignment, a cache line.
inline constexpr std::size_t line_alignment = 64;

struct aligned_new {
  explicit aligned_new(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    return ::operator new(bytes, std::align_val_t{line_alignment});
  }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    ::operator delete(block, bytes, std::align_val_t{line_alignment});
  }
  void round_ends() {}
};

struct pmr_aligned {
  explicit pmr_aligned(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    return resource_.allocate(bytes, line_alignment);
  }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    resource_.deallocate(block, bytes, line_alignment);
  }
  void round_ends() {}

 private:
  std::pmr::unsynchronized_pool_resource resource_;
};

/// Any resource with pools of its own, as `Options` makes it.
template <class Resource, class Options>
class pmr_pools {
 public:
  explicit pmr_pools(const demand& wanted) : resource_{Options::of(wanted)} {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    resource_.deallocate(block, bytes);
  }
  void round_ends() {}

 private:
  Resource resource_;
};

struct library_chooses {
  static std::pmr::pool_options of(const demand&) { return {}; }
};
/// Pools for what is asked for, and none above: what a careful user would write.
struct up_to_largest {
  static std::pmr::pool_options of(const demand& wanted) {
    return {.max_blocks_per_chunk = 0, .largest_required_pool_block = wanted.largest_bytes};
  }
};
using pmr_unsynchronized = pmr_pools<std::pmr::unsynchronized_pool_resource, library_chooses>;
using pmr_synchronized = pmr_pools<std::pmr::synchronized_pool_resource, library_chooses>;
using pmr_limited = pmr_pools<std::pmr::unsynchronized_pool_resource, up_to_largest>;

/// Its buffer holds a whole round; frees do nothing until release.
class pmr_monotonic {
 public:
  explicit pmr_monotonic(const demand& wanted)
      : buffer_{wanted.round_bytes}, resource_{buffer_.data(), buffer_.size()} {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    resource_.deallocate(block, bytes);
  }
  void round_ends() { resource_.release(); }

 private:
  heapwise::bench::mapped_array<std::byte> buffer_;
  std::pmr::monotonic_buffer_resource resource_;
};

class pmr_by_list {
 public:
  explicit pmr_by_list(const demand&) {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    resource_.deallocate(block, bytes);
  }
  void round_ends() {}

 private:
  by_list resource_;
};

/// A list of free blocks, linked through them.
class free_list {
 public:
  explicit free_list(const demand& wanted) : pool_{wanted.largest_bytes, wanted.round_blocks} {}

  [[gnu::always_inline]] void* allocate(std::size_t) { return pool_.allocate(); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { pool_.deallocate(block); }
  void round_ends() {}

 private:
  plain_pool pool_;
};

/// One addition for each block, one assignment for all frees of a round; room for a round.
class arena {
 public:
  explicit arena(const demand& wanted) : memory_{wanted.round_bytes}, next_{memory_.data()} {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    constexpr std::size_t granule = alignof(std::max_align_t);
    std::byte* const block = next_;
    const std::size_t taken = (bytes + granule - 1) / granule * granule;
    if (taken > static_cast<std::size_t>(memory_.end() - block)) return nullptr;
    next_ = block + taken;
    return block;
  }
  [[gnu::always_inline]] void deallocate(void*, std::size_t) {}
  void round_ends() { next_ = memory_.data(); }

 private:
  heapwise::bench::mapped_array<std::byte> memory_;
  std::byte* next_;
};

/// Heapwise's pool of one block size.
class our_pool {
 public:
  explicit our_pool(const demand& wanted)
      : pool_{{.block_size = wanted.largest_bytes, .block_count = wanted.round_blocks}} {}

  [[gnu::always_inline]] void* allocate(std::size_t) { return pool_.try_allocate(); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t) { pool_.deallocate(block); }
  void round_ends() {}

 private:
  heapwise::pool<> pool_;
};

/// Heapwise's heap, inlined; the sizes of freed blocks are known.
struct our_heap {
  explicit our_heap(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return heapwise::allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    heapwise::deallocate(block, bytes);
  }
  void round_ends() {}
};

/// A heap of its own, emptied as a whole: frees do nothing until then.
class our_cleared_heap {
 public:
  explicit our_cleared_heap(const demand&) {}
  [[gnu::always_inline]] void* allocate(std::size_t bytes) { return heap_.allocate(bytes); }
  [[gnu::always_inline]] void deallocate(void*, std::size_t) {}
  void round_ends() { heap_.clear(); }

 private:
  heapwise::heap heap_;
};

/// Addresses 16 bytes apart, for the cost of the loop itself. The first 16 bytes are nobody else's;
/// the rest is, so these are not blocks.
class nothing {
 public:
  explicit nothing(const demand& wanted)
      : memory_{wanted.round_blocks * step + wanted.largest_bytes}, next_{memory_.data()} {}

  [[gnu::always_inline]] void* allocate(std::size_t) {
    std::byte* const place = next_;
    next_ += step;
    return place;
  }
  [[gnu::always_inline]] void deallocate(void*, std::size_t) {}
  void round_ends() { next_ = memory_.data(); }

 private:
  static constexpr std::size_t step = 16;

  heapwise::bench::mapped_array<std::byte> memory_;
  std::byte* next_;
};

} // namespace memory
