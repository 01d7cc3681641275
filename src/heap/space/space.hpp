// All the addresses of the heap: one range, cut into slices that are used, dirty (free, but the
// system still counts their pages as ours) or clean.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "heap/base/growing_table.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/sharing.hpp"
#include "heap/space/relocation.hpp"
#include "heap/space/slice_map.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Thread safety: all, after `start`.
class space {
 public:
  /// Effects: chooses the range. Where the system has addresses that it leaves alone, only what is
  /// used of them is ever mapped; else as much as the system allows is reserved.
  /// Returns: whether there is any.
  [[nodiscard]] bool start() noexcept;

  /// Returns: the span record of `count` free slices side by side, now used; nullptr without
  /// memory. `alignment` is in slices. `was_clean` tells whether all of their pages read as zero.
  /// The place is the lowest one; if there is one with `free_behind` more free slices behind it,
  /// the lowest of those. Complexity: as slice_map::find.
  [[nodiscard]] span* take(std::size_t count, std::size_t alignment, bool& was_clean,
                           std::size_t free_behind = 0) noexcept;

  /// Effects: the first `bytes` of a span that was taken read as zero. What was clean when it was
  /// taken is not touched. Requires: nobody has written to them since.
  void zero(const span& taken, std::size_t bytes) noexcept;

  /// Effects: makes a span longer at its place, if the slices behind it are free.
  [[nodiscard]] bool extend(span& grown, std::size_t count) noexcept;

  /// Effects: frees the slices of a span from the `kept`-th on; `clean` when their pages were given
  /// back already. With `kept` 0 the span is gone. Free slices are not pieces
  /// (span::pieces), unless the system refused to mend them. Those stay counted.
  void give(span& freed, std::size_t kept = 0, bool clean = false) noexcept;

  /// Effects: gives the pages of free slices back that were freed `age` ticks ago or longer. Ends
  /// when `wanted` bytes went back, or up to `most_purged_at_once` slices more. Returns: the bytes
  /// given back.
  std::size_t purge(std::uint8_t age, std::size_t wanted = SIZE_MAX) noexcept;

  /// Effects: brings the contents of a large block to another span, at least as long, by moving its
  /// pages where that is possible.
  [[nodiscard]] relocated relocate(span& from, span& to) noexcept;

  /// Effects: the span is gone, and its slices stay out of use for ever. Some of them are not
  /// mapped, or something else is mapped there.
  void retire(span& lost) noexcept;

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
  [[nodiscard]] std::byte* begin_of(const span& record) const noexcept {
    return address_of(index_of(record));
  }
  [[nodiscard]] slice_index index_of(const span& record) const noexcept {
    return static_cast<slice_index>(&record - spans_);
  }

  /// Returns: the record of the span that the address is in, if it is in a span of small blocks;
  /// otherwise some record, or nullptr where there is none.
  [[nodiscard]] span* find_span(const void* address) const noexcept {
    const slice_index at = slice_of(address);
    span* const slice = record(at);
    if (slice == nullptr || slice->use.load(std::memory_order_relaxed) != slice_use::inside) {
      return slice;
    }
    // What the record says may be of an earlier life, and then be any number.
    return slice->slices <= at ? slice - slice->slices : slice;
  }
  /// Requires: a slice of a span that exists.
  [[nodiscard]] span& span_at(const void* address) const noexcept {
    span* const home = find_span(address);
    expects(home != nullptr, "the address is in a span");
    return *home;
  }
  [[nodiscard]] span* record(slice_index slice) const noexcept {
    // Acquire: pairs with the release in commit_to and pass_over. The record is mapped.
    return slice < committed_slices_.load(std::memory_order_acquire) ? &spans_[slice] : nullptr;
  }

  // Always inlined, as block_map::prefetch.
  HEAPWISE_ALWAYS_INLINE void prefetch_mixed(const void* block) const noexcept {
    const span& slice = spans_[slice_of(block)];
    HEAPWISE_PREFETCH_TO_WRITE(&slice);
    HEAPWISE_PREFETCH_TO_WRITE(&granule_class(block));
    const std::uintptr_t offset = (reinterpret_cast<std::uintptr_t>(block) - base_) % slice_bytes;
    slice.free_map.prefetch(static_cast<std::uint32_t>(offset / granule_bytes));
  }

  /// Effects: makes the classes of granules usable, for all slices from now on. They are a
  /// sixteenth of the heap, and a heap without mixed spans has none. Returns: whether they are.
  [[nodiscard]] bool allow_mixing() noexcept;

  /// The class of the block of a mixed span that starts at a granule. Requires: allow_mixing().
  [[nodiscard]] std::atomic<std::uint8_t>& granule_class(const void* block) const noexcept {
    expects(granule_classes_ != nullptr && holds(block), "granules of the space have classes");
    return granule_classes_[(reinterpret_cast<std::uintptr_t>(block) - base_) / granule_bytes];
  }

  /// Effects: writes down what the slices of the span hold, where `free` looks.
  void set_class(const span& record, size_class to) noexcept;

  [[nodiscard]] std::size_t reserved_bytes() const noexcept {
    return reserved_slices_ * slice_bytes;
  }
  [[nodiscard]] std::size_t committed_slices() const noexcept {
    // Acquire: as in `record`; the caller goes on to the tables of these slices.
    return committed_slices_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_slices_.load(std::memory_order_relaxed) * slice_bytes;
  }
  /// Returns: the bytes of slices that are used or dirty.
  [[nodiscard]] std::size_t touched_bytes() const noexcept { return used_bytes() + dirty_bytes(); }
  [[nodiscard]] std::size_t dirty_bytes() const noexcept {
    return dirty_slices_.load(std::memory_order_relaxed) * slice_bytes;
  }
  [[nodiscard]] std::size_t metadata_bytes() const noexcept;

  /// Returns: whether more bytes are used or dirty than the limit of growth, which is raised each
  /// time that the heap becomes larger than ever before.
  [[nodiscard]] bool is_over_growth_limit() const noexcept {
    return over_growth_limit_.load(std::memory_order_relaxed);
  }
  struct growth {
    std::size_t limit = 0;   // that was passed
    std::size_t touched = 0; // bytes used or dirty
  };
  /// Effects: raises the limit of growth by a part of what is used or dirty.
  /// Returns: what was; zeros if another thread has raised the limit.
  [[nodiscard]] growth raise_growth_limit() noexcept;
  /// Effects: makes the limit lower, after some of the bytes were given back.
  void lower_growth_limit(const growth& before, std::size_t purged) noexcept;

  /// Returns: whether the counts agree with the tables. Complexity: linear in the slices.
  [[nodiscard]] bool is_sound() noexcept;

  /// Returns: the length of the begin of this object, which only `start` writes: whole pages in a
  /// profile that seals them.
  [[nodiscard]] std::size_t sealed_bytes() const noexcept {
    return reinterpret_cast<std::uintptr_t>(&committed_slices_) -
           reinterpret_cast<std::uintptr_t>(this);
  }

  /// Taken around a fork, one after the other. Order: after all bins.
  heap_mutex<shared::purging>& purging() noexcept { return purging_; }
  heap_mutex<shared::space>& lock() noexcept { return lock_; }

 private:
  struct layout;

  [[nodiscard]] bool start_quietly(std::size_t slices) noexcept;
  [[nodiscard]] bool start_reserved(std::size_t slices) noexcept;
  [[nodiscard]] bool start_at(std::byte* memory, const layout& parts, bool is_reserved) noexcept;
  [[nodiscard]] bool commit_to(slice_index end) noexcept;
  [[nodiscard]] bool commit_tables(slice_index end) noexcept;
  [[nodiscard]] bool pass_over(slice_index end) noexcept;
  [[nodiscard]] slice_index find_usable(std::size_t count, std::size_t alignment,
                                        std::size_t free_behind) noexcept;
  [[nodiscard]] bool over_limit(std::size_t more_slices) const noexcept;
  // No thread waits for the lock until more slices than these are marked, or looked at.
  static constexpr std::size_t most_at_once = 4096;
  static constexpr std::size_t most_searched_at_once = 64 * most_at_once;
  // A heap of less than 1 MiB is not worth a purge. Later limits are a sixteenth apart.
  static constexpr std::size_t first_growth_limit = 16;
  static constexpr std::size_t growth_part = 16;
  // No thread waits for more than 16 MiB being given back.
  static constexpr std::size_t most_purged_at_once = 256;
  using purged_slices = std::array<bool, most_purged_at_once>;
  [[nodiscard]] bool purge_run(slice_index& from, std::uint8_t age, std::size_t& purged) noexcept;
  [[nodiscard]] purged_slices purge_one_by_one(slice_index first, std::size_t count) noexcept;
  void purge_granule_classes(slice_index first, std::size_t count,
                             std::size_t usable_bytes) noexcept;
  [[nodiscard]] growing_table& granule_classes_table() noexcept { return tables_.back(); }
  bool mark_used(slice_index first, std::size_t count) noexcept;
  /// Returns: the slices that are used or dirty. Requires: the lock.
  [[nodiscard]] std::size_t touched_slices() const noexcept;
  void mark_free(slice_index first, std::size_t count, bool clean) noexcept;
  [[nodiscard]] std::size_t next_dirty_run(slice_index& first, slice_index end) noexcept;
  [[nodiscard]] std::size_t next_old_run(slice_index from, std::uint8_t age,
                                         slice_index& first) const noexcept;

  // What `start` writes, and every thread reads.
  std::uintptr_t base_ = 0;
  std::size_t reserved_slices_ = 0;
  span* spans_ = nullptr;
  std::atomic<std::uint8_t>* granule_classes_ = nullptr;
  slice_word* dirty_ = nullptr; // a bit for each slice; of a used one: was dirty when it was taken
  std::uint8_t* freed_at_ = nullptr; // the tick at which a dirty slice became free

  // What every thread reads, and hardly anyone writes. On the same line, unless that is sealed.
  alignas(alignment_behind_seal<std::atomic<std::size_t>>)
      std::atomic<std::size_t> committed_slices_{0};
  std::atomic<bool> may_mix_{false};           // written with the lock
  std::atomic<bool> over_growth_limit_{false}; // written with the lock

  // What is read and written with the lock.
  alignas(cache_line_bytes) heap_mutex<shared::space> lock_;
  std::size_t being_purged_ = 0;                  // slices that only seem used meanwhile
  std::size_t growth_limit_ = first_growth_limit; // slices that are used or dirty
  std::atomic<std::size_t> used_slices_{0};
  std::atomic<std::size_t> dirty_slices_{0};
  std::atomic<std::uint8_t> now_{0};
  slice_map map_;
  growing_table slices_;
  std::array<growing_table, 4> tables_; // classes, ages, spans, classes of granules
  bool refused_before_ = false; // then little is asked for, so that not every request searches

  // Held while pages are given back, which must be done before a fork.
  alignas(cache_line_bytes) heap_mutex<shared::purging> purging_;
};

static_assert(alignof(space) == seal_alignment, "nothing else is on the lines of its lock");

extern space the_space;

} // namespace heapwise::detail
