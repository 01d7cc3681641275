// All spans of one size class, and the batches of free blocks that threads pass on to each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "heap/batches.hpp"
#include "heap/invalid.hpp"
#include "heap/linked.hpp"
#include "heap/span_lists.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "os/mutex.hpp"

namespace heapwise::detail {

struct bin_figures {
  std::size_t spans = 0;
  std::size_t free_blocks = 0;    // inside spans
  std::size_t stocked_blocks = 0; // in batches
  std::size_t refills = 0;
  std::size_t flushes = 0;
};

/// Thread safety: all.
class alignas(cache_line_bytes) bin {
 public:
  /// Effects: exchanges an empty batch for a whole one that waits, or fills it from spans.
  /// Returns: how many blocks are in it; less than a batch where memory is short.
  [[nodiscard]] std::uint32_t refill(batch*& loaded, size_class of) noexcept;

  /// Effects: exchanges a full batch for an empty one. Its blocks wait for another thread, or go
  /// back to their spans if there are many waiting already.
  void flush(batch*& full, size_class of) noexcept;

  /// Effects: takes blocks back to their spans.
  void put_back(std::byte* const* blocks, std::size_t count, size_class of) noexcept;

  /// Returns: one block, or nullptr: for threads that have no cache.
  [[nodiscard]] void* take_one(size_class of) noexcept;

  /// Effects: returns to their spans the batches that nobody took since the last call, and the
  /// spare empty span.
  void trim(size_class of) noexcept;

  /// Effects: frees the spare empty span, if there is one.
  void drop_spare(size_class of) noexcept;

  /// Effects: gives back the pages of a span that hold free blocks only, unless blocks came or went
  /// since the last call. Returns: the bytes given back.
  /// Requires: a slice whose class was this one a moment ago.
  std::size_t purge_pages(span& of_span, size_class of, bool even_if_touched) noexcept;

  /// Effects: makes its span with the most free blocks a mixed one, if half of it is free, it has
  /// free neighbours of `hole_bytes` together, and nobody is busy with the bin. A span without a
  /// block in use is dissolved instead. Returns: whether it did. Requires: hole_bytes > 0.
  [[nodiscard]] bool let_go_sparsest(size_class of, std::size_t hole_bytes) noexcept;

  /// Returns: the free blocks inside spans.
  [[nodiscard]] std::size_t free_blocks() const noexcept {
    return free_blocks_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bin_figures figures(size_class of) noexcept;

  /// Taken around a fork.
  os::mutex& lock() noexcept { return lock_; }

 private:
  [[nodiscard]] span* source(size_class of) noexcept;
  [[nodiscard]] span* make_span(size_class of) noexcept;
  std::uint32_t take_from_holes(std::byte**& top, size_class of) noexcept;
  std::uint32_t take_blocks(span& from, std::byte**& top, std::uint32_t wanted,
                            size_class of) noexcept;
  void handed_out(span& from, std::uint32_t first, std::uint32_t count, size_class of) noexcept;
  /// Effects: as `put_back`. The lock is let go and taken again where something is to be reported.
  void put_back_locked(std::byte* const* blocks, std::size_t count, size_class of) noexcept;
  /// Effects: takes blocks back to their span, up to the first one of another, or behind the first
  /// invalid one, which is reported. Returns: where the others begin.
  std::byte* const* put_back_to(span& home, std::span<std::byte* const> blocks,
                                size_class of) noexcept;
  /// Requires: the lock, which is let go meanwhile.
  void report(const std::byte* block, invalid why) noexcept;
  void count_free(std::ptrdiff_t blocks, size_class of) noexcept;
  void dissolve(span& empty, size_class of) noexcept;
  /// Returns: the span of a block, or nullptr for one that went to a mixed span or is invalid.
  [[nodiscard]] span* home_of(std::byte* block, size_class of) noexcept;
  void came_back(span& home, std::uint32_t count, size_class of) noexcept;

  os::mutex lock_;
  linked_stack<batch> stock_;         // full ones
  linked_stack<batch> empty_batches_; // to ask for one would need a second lock
  std::uint32_t stocked_ = 0;
  std::uint32_t least_stocked_ = 0; // since the last trim
  span_lists lists_;
  span* spare_ = nullptr; // one span without a block in use, kept for the next refill
  std::size_t spans_ = 0;
  std::atomic<std::size_t> free_blocks_{0};
  std::size_t refills_ = 0;
  std::size_t flushes_ = 0;
};

extern std::array<bin, class_slots> the_bins;

/// The bytes of all free blocks inside spans.
extern std::atomic<std::size_t> the_free_bytes;

/// The bytes of all free blocks in batches that wait in bins.
extern std::atomic<std::size_t> the_stocked_bytes;

} // namespace heapwise::detail
