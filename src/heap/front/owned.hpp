// A heap of its own: blocks that are freed one by one or all at once, with the heap.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "heap/base/invalid.hpp"
#include "heap/base/linked.hpp"
#include "heap/central/bin.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "os/mutex.hpp"

namespace heapwise::detail {

class quarantine;

/// Thread safety: `allocate` by one thread at a time; `release` by all.
class owned_blocks {
 public:
  [[nodiscard]] void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept;
  void release(void* block, span& home) noexcept;

  os::mutex& lock() noexcept { return lock_; }

  /// Effects: frees every block. Complexity: linear in the spans.
  void release_all() noexcept;

 private:
  friend void release_owned(void* block, span& home) noexcept;
  [[nodiscard]] void* allocate_alone(std::size_t size_bytes, std::size_t alignment) noexcept;
  [[nodiscard]] void* allocate_of_class(size_class class_index) noexcept;
  void adopt(span& new_span) noexcept;
  [[nodiscard]] bool start_run(size_class class_index) noexcept;
  [[nodiscard]] std::byte* cut(size_class class_index) noexcept;
  [[nodiscard]] bool pop(size_class class_index, std::byte*& block) noexcept;
  void push(std::byte* block, size_class class_index) noexcept;
  [[nodiscard]] bool end_quarantine(size_class class_index) noexcept;
  [[nodiscard]] void* sample(size_class class_index) noexcept;
  /// Returns: what was wrong with the block, if something was.
  std::optional<invalid> release_locked(std::byte* block, span& home) noexcept;

  os::mutex lock_;
  quarantine* held_back_ = nullptr;   // what a profile with a quarantine has of this heap's blocks
  std::uint32_t blocks_taken_ = 0;    // of this one a part is sampled; in checking profiles only
  bool has_samples_ = false;          // in guarded pages
  linked_list<span> spans_;           // all
  std::byte* free_[class_slots] = {}; // blocks that came back, linked
  /// Blocks that nobody had yet: they are cut off in the order of their addresses.
  struct run {
    std::byte* next = nullptr;
    std::byte* end = nullptr;
  };
  run runs_[class_slots] = {};
};

/// Returns: a block of the heap, or what no_memory() returns. Requires: the caller holds no lock.
[[nodiscard]] void* allocate_owned(owned_blocks& from, std::size_t size_bytes,
                                   std::size_t alignment) noexcept;

/// Effects: gives a block back to the heap that the span belongs to.
void release_owned(void* block, span& home) noexcept;

[[nodiscard]] std::size_t owned_heap_count() noexcept;

/// Taken around a fork: all heaps there are. Order: before everything else.
void lock_owned_heaps() noexcept;
void unlock_owned_heaps() noexcept;

} // namespace heapwise::detail
