// All the addresses of the heap: one reserved range, cut into slices that are used, dirty (free,
// but the system still counts their pages as ours) or clean.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "heap/span.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/mutex.hpp"

namespace heapwise::detail {

using slice_index = std::size_t;

/// Thread safety: all, after `start`.
class space {
 public:
  /// Effects: reserves the range, as much as the system allows. Returns: whether there is any.
  [[nodiscard]] bool start() noexcept;

  /// Returns: the span record of `count` free slices side by side, now used; nullptr without
  /// memory. `alignment` is in slices. `was_clean` tells whether all of their pages read as zero.
  /// Complexity: linear in the number of holes below the place found.
  [[nodiscard]] span* take(std::size_t count, std::size_t alignment, bool& was_clean) noexcept;

  /// Effects: makes a span longer at its place, if the slices behind it are free.
  [[nodiscard]] bool extend(span& grown, std::size_t count) noexcept;

  /// Effects: frees the slices of a span from the `kept`-th on; `clean` when their pages were given
  /// back already. With `kept` 0 the span is gone.
  void give(span& freed, std::size_t kept = 0, bool clean = false) noexcept;

  /// Effects: gives the pages of free slices back that were freed `age` ticks ago or longer.
  /// Returns: the bytes given back.
  std::size_t purge(std::uint8_t age) noexcept;

  /// Effects: as os::move_pages; refuses when the system already has to describe too many pieces
  /// that came from elsewhere. They are mended when they are given back. Requires: used slices.
  [[nodiscard]] bool move_pages(std::byte* from, std::byte* to, std::size_t size_bytes) noexcept;

  /// Effects: counts the time that dirty slices have been dirty.
  void tick() noexcept { now_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - base_ < reserved_slices_ * slice_bytes;
  }
  [[nodiscard]] slice_index slice_of(const void* address) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) - base_) / slice_bytes;
  }
  [[nodiscard]] std::byte* address_of(slice_index slice) const noexcept {
    return reinterpret_cast<std::byte*>(base_) + slice * slice_bytes;
  }
  [[nodiscard]] std::byte* begin_of(const span& of) const noexcept {
    return address_of(index_of(of));
  }
  [[nodiscard]] slice_index index_of(const span& of) const noexcept {
    return static_cast<slice_index>(&of - spans_);
  }

  /// Returns: the span of a small block, whichever of its slices the address is in.
  /// Requires: a slice of a span that exists.
  [[nodiscard]] span& span_at(const void* address) const noexcept {
    span& slice = spans_[slice_of(address)];
    return slice.use.load(std::memory_order_relaxed) == slice_use::inside
               ? (&slice)[-static_cast<std::ptrdiff_t>(slice.slices)]
               : slice;
  }
  [[nodiscard]] span* record(slice_index slice) const noexcept {
    return slice < committed_slices_.load(std::memory_order_acquire) ? &spans_[slice] : nullptr;
  }

  [[nodiscard]] static bool share_slice(const void* one, const void* other) noexcept {
    return (reinterpret_cast<std::uintptr_t>(one) ^ reinterpret_cast<std::uintptr_t>(other)) <
           slice_bytes;
  }

  // Always inlined, as block_map::prefetch.

  /// Effects: lets the processor fetch what `put_back` needs to know of a block. Of a span of more
  /// than one slice that is only where its first slice is.
  HEAPWISE_ALWAYS_INLINE void prefetch(const void* block, size_class of) const noexcept {
    const span& slice = spans_[slice_of(block)];
    HEAPWISE_PREFETCH_TO_WRITE(&slice);
    if (class_table[of].slices > 1) return;
    const std::uintptr_t offset = (reinterpret_cast<std::uintptr_t>(block) - base_) % slice_bytes;
    slice.free_map.prefetch(block_at(of, offset));
  }

  HEAPWISE_ALWAYS_INLINE void prefetch_mixed(const void* block) const noexcept {
    const span& slice = spans_[slice_of(block)];
    HEAPWISE_PREFETCH_TO_WRITE(&slice);
    HEAPWISE_PREFETCH_TO_WRITE(&granule_class(block));
    const std::uintptr_t offset = (reinterpret_cast<std::uintptr_t>(block) - base_) % slice_bytes;
    slice.free_map.prefetch(static_cast<std::uint32_t>(offset / granule_bytes));
  }

  /// The class of the block of a mixed span that starts at a granule.
  [[nodiscard]] std::atomic<std::uint8_t>& granule_class(const void* block) const noexcept {
    return granule_classes_[(reinterpret_cast<std::uintptr_t>(block) - base_) / granule_bytes];
  }

  /// Effects: writes down what the slices of the span hold, where `free` looks.
  void set_class(const span& of, size_class to) noexcept;

  [[nodiscard]] std::size_t reserved_bytes() const noexcept {
    return reserved_slices_ * slice_bytes;
  }
  [[nodiscard]] std::size_t committed_slices() const noexcept {
    return committed_slices_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_slices_.load(std::memory_order_relaxed) * slice_bytes;
  }
  [[nodiscard]] std::size_t dirty_bytes() const noexcept {
    return dirty_slices_.load(std::memory_order_relaxed) * slice_bytes;
  }
  [[nodiscard]] std::size_t metadata_bytes() const noexcept;

  /// Taken around a fork, one after the other. Order: after all bins.
  os::mutex& purging() noexcept { return purging_; }
  os::mutex& lock() noexcept { return lock_; }

 private:
  using word = std::uint64_t;
  [[nodiscard]] slice_index find(std::size_t count, std::size_t alignment) const noexcept;
  [[nodiscard]] slice_index first_with(bool used, slice_index from,
                                       slice_index limit) const noexcept;
  [[nodiscard]] bool start_with(std::size_t slices) noexcept;
  [[nodiscard]] bool commit_to(slice_index end) noexcept;
  [[nodiscard]] bool commit_tables(slice_index from, slice_index to) noexcept;
  [[nodiscard]] bool over_limit(std::size_t more_slices) const noexcept;
  bool give_back(slice_index first, std::size_t count) noexcept;
  [[nodiscard]] bool purge_run(slice_index& from, std::uint8_t age, std::size_t& purged) noexcept;
  bool mark_used(slice_index first, std::size_t count) noexcept;
  void mark_free(slice_index first, std::size_t count, bool clean) noexcept;
  [[nodiscard]] std::size_t next_old_run(slice_index from, std::uint8_t age,
                                         slice_index& first) const noexcept;

  std::uintptr_t base_ = 0;
  bool refused_before_ = false; // then little is asked for, lest every request repeats the search
  std::size_t reserved_slices_ = 0;
  std::atomic<std::size_t> committed_slices_{0};
  span* spans_ = nullptr;
  std::atomic<std::uint8_t>* granule_classes_ = nullptr;
  word* used_ = nullptr;             // a bit for each slice
  word* dirty_ = nullptr;            // likewise
  std::uint8_t* freed_at_ = nullptr; // the tick at which a dirty slice became free
  slice_index lowest_free_ = 0;
  std::size_t being_purged_ = 0; // slices that only seem used meanwhile
  std::atomic<std::size_t> used_slices_{0};
  std::atomic<std::size_t> dirty_slices_{0};
  std::atomic<std::uint8_t> now_{0};
  std::atomic<std::uint32_t> moves_{0}; // since all that was dirty had been given back
  os::mutex purging_; // held while pages are given back, which must be done before a fork
  os::mutex lock_;
};

extern space the_space;

} // namespace heapwise::detail
