// All spans of one size class, and the batches of free blocks that threads pass on to each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <type_traits>

#include "heap/base/linked.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sharing.hpp"
#include "heap/central/batches.hpp"
#include "heap/central/span_lists.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "os/expects.hpp"

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
  /// Effects: exchanges an empty batch for a whole one that waits, or puts up to `most` blocks of
  /// spans into it. Returns: how many blocks are in it; fewer where memory is short.
  [[nodiscard]] std::uint32_t refill(batch*& loaded, size_class class_index,
                                     std::uint32_t most = whole_batch) noexcept;

  /// Effects: as refill, but the bin makes no new span. Unless `may_wait` is set, it does nothing
  /// if another thread is busy with the bin.
  [[nodiscard]] std::uint32_t refill_if_free(batch*& loaded, size_class class_index,
                                             std::uint32_t most, bool may_wait) noexcept;

  /// Effects: exchanges a full batch for an empty one. Its blocks wait for another thread, or go
  /// back to their spans if there are many waiting already.
  void flush(batch*& full, size_class class_index) noexcept;

  /// Effects: as flush, if the batch can wait for another thread. Returns: whether it can.
  [[nodiscard]] bool stock(batch*& full, size_class class_index) noexcept;

  /// Effects: takes blocks back to their spans, through the bins that these belong to.
  void put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept;

  /// Returns: one block, or nullptr: for threads that have no cache.
  [[nodiscard]] void* take_one(size_class class_index) noexcept;

  /// Effects: returns to their spans the batches that nobody took since the last call, and the
  /// spare empty span.
  void trim(size_class class_index) noexcept;

  /// Effects: frees the spare empty span, if there is one.
  void drop_spare(size_class class_index) noexcept;

  /// Effects: gives back the pages of a span that hold free blocks only, unless blocks came or went
  /// since the last call. Returns: the bytes given back.
  /// Requires: a slice whose class was this one a moment ago.
  std::size_t purge_pages(span& of_span, size_class class_index, bool even_if_touched) noexcept;

  /// Effects: makes its span with the most free blocks a mixed one, if half of it is free, it has
  /// free neighbours of `hole_bytes` together, and nobody is busy with the bin. A span without a
  /// block in use is dissolved instead. Returns: whether it did. Requires: hole_bytes > 0.
  [[nodiscard]] bool let_go_sparsest(size_class class_index, std::size_t hole_bytes) noexcept;

  /// Returns: the free blocks inside spans.
  [[nodiscard]] std::size_t free_blocks() const noexcept {
    return free_blocks_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] bin_figures figures(size_class class_index) noexcept;

  /// Returns: the full batches that wait.
  [[nodiscard]] std::uint32_t stocked() const noexcept {
    return stocked_.load(std::memory_order_relaxed);
  }

  /// Effects: the bin belongs to this shard. Requires: it has no span.
  void belong_to(std::uint8_t shard) noexcept;

  /// Returns: whether all that the bin knows of its spans and batches is so.
  /// Complexity: all of them.
  [[nodiscard]] bool is_sound(size_class class_index) noexcept;

  /// Taken around a fork.
  heap_mutex<shared::bin>& lock() noexcept { return lock_; }

 private:
  class change;

  [[nodiscard]] span* make_span(size_class class_index) noexcept;
  /// Effects: the span leaves the bin. It goes to the space when the change is over.
  void dissolve(span& empty, change& ongoing, size_class class_index) noexcept;
  void dissolve_spare(change& ongoing, size_class class_index) noexcept;
  std::uint32_t take_from_holes(std::byte** top, std::uint32_t wanted,
                                size_class class_index) noexcept;
  /// Effects: puts up to `wanted` blocks of the span onto the stack, the lowest one on top.
  /// Returns: how many.
  std::uint32_t take_blocks(span& from, std::byte** top, std::uint32_t wanted,
                            size_class class_index) noexcept;
  /// Returns: whether a batch in the stock has waited long enough. Requires: the lock.
  [[nodiscard]] bool has_ripe_batch() const noexcept {
    expects_held(lock_);
    if constexpr (chosen_profile.keeps_states) {
      constexpr std::uint32_t quarantined = 2; // batches
      return stocked() > quarantined;
    } else {
      return !stock_.is_empty();
    }
  }
  [[nodiscard]] batch* take_stocked() noexcept;
  /// Effects: puts up to `wanted` blocks of the spans that there are onto the stack. Returns: how
  /// many.
  std::uint32_t take_from_spans(std::byte** top, std::uint32_t wanted,
                                size_class class_index) noexcept;
  /// Effects: as refill; without `may_grow` the bin makes no new span. The lock is let go. If the
  /// heap grew, free memory goes back.
  /// Requires: the lock.
  std::uint32_t refill_locked(batch*& loaded, size_class class_index, std::uint32_t most,
                              bool may_grow) noexcept;
  [[nodiscard]] bin& of_shard(std::size_t shard, size_class class_index) noexcept;
  /// Effects: counts batches that came into the stock, or left it. Requires: not the lock.
  void count_stocked(std::ptrdiff_t batches, size_class class_index) const noexcept;
  /// Effects: as put_back, for at most max_batch blocks.
  void put_back_batch(std::span<std::byte* const> blocks, bool is_flush,
                      size_class class_index) noexcept;
  /// Returns: the bin that a block belongs to; this one if that is none of the class.
  [[nodiscard]] bin& home_of(const std::byte* block, size_class class_index) noexcept;
  /// Returns: the bin of one of the blocks whose shard was not tried yet, or nullptr.
  [[nodiscard]] bin* next_bin(std::span<std::byte* const> blocks, std::uint32_t tried,
                              size_class class_index) noexcept;
  template <bool one_slice>
  class returning;
  /// Effects: blocks go back to their spans. Returns: how many do not, because the span is not the
  /// bin's, or the block is free. They are written to `doubtful`, which may be where they are.
  [[nodiscard]] std::size_t take_back(std::span<std::byte* const> blocks, std::byte** doubtful,
                                      change& ongoing, size_class class_index) noexcept;
  /// Effects: a span that became emptier changes its list, or is taken out if it has no block in
  /// use.
  HEAPWISE_NOINLINE void change_list(span& home, change& ongoing, size_class class_index) noexcept;
  void take_whole(span& whole, change& ongoing, size_class class_index) noexcept;
  /// Effects: as put_back, for a block that may be of a mixed span, or invalid.
  void put_back_alone(std::byte* block, size_class class_index) noexcept;
  void add_free(std::ptrdiff_t blocks) noexcept;
  /// Returns: whether nothing that is quickly seen is wrong. Requires: the lock, as the next one.
  [[nodiscard]] bool is_plausible(size_class class_index) const noexcept;
  [[nodiscard]] bool is_sound_locked(size_class class_index) const noexcept;

  heap_mutex<shared::bin> lock_;
  // Full ones. Where every call is checked, the first to come is the first to go: a block waits as
  // long as it can until it is used again.
  std::conditional_t<chosen_profile.keeps_states, linked_queue<batch>, linked_stack<batch>> stock_;
  linked_stack<batch> empty_batches_;     // to ask for one would need a second lock
  std::atomic<std::uint32_t> stocked_{0}; // written under the lock
  std::uint32_t least_stocked_ = 0;       // since the last trim
  span_lists lists_;
  span* spare_ = nullptr; // one span without a block in use, kept for the next refill
  std::size_t spans_ = 0;
  std::atomic<std::size_t> free_blocks_{0}; // written under the lock
  std::size_t refills_ = 0;
  std::size_t flushes_ = 0;
  std::uint8_t shard_ = 0; // whose threads it serves
};

static_assert(alignof(bin) == cache_line_bytes && sizeof(bin) % cache_line_bytes == 0,
              "no two bins share a line");

} // namespace heapwise::detail
