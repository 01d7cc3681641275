// The addresses of the collector's heap: one reserved range, cut into slices, with a kind and a
// record for each in front of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gc/base/kinds.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

using slice_index = std::uint32_t;
inline constexpr slice_index no_slice = ~slice_index{0};

/// A byte for each block: not 0 when it was reached by the last collection, or handed out before it
/// was over. What is not marked when its slice is swept is free. Bytes, because two markers can set
/// neighbours without a locked instruction, and one without waiting for its own last store.
using mark = std::atomic<std::uint8_t>;
inline constexpr std::uint8_t reached = 1;
inline constexpr std::uint8_t handed_out = 2; // while a copy of the process marks
inline constexpr std::size_t marks_of_slice = slice_bytes / granule_bytes;

/// What the collector knows of a slice, apart from its blocks and their marks.
struct slice_record {
  slice_index next;     // in the list of spans that are still to be swept
  std::uint32_t slices; // of a large block; of a slice inside of it: how far behind the first
  std::size_t bytes;    // of a large block: what may be used; of a span to be swept: what is free
  std::atomic<bool> dirty; // it may hold other bytes than zeros. Its owner writes it
  // Something was attached to one of its blocks, or a weak reference was put into one, since it was
  // taken.
  std::atomic<bool> attached;
  std::uint32_t taken_in; // the age of the space
  // The age in which blocks of it were last handed out while a copy of the process marked. Several
  // threads may write it at once, all of them the same.
  std::atomic<std::uint32_t> handed_out_in;
  std::uint32_t marked; // how many of its blocks the last collection marked
  bool filled;          // a span: the block for which a thread got it uses all of its bytes
};

/// Where blocks may be and of what kind: what marking has to know, in registers.
struct map {
  std::uintptr_t base = 0;
  std::uintptr_t extent = 0; // of the slices that were ever used, in bytes
  const std::atomic<kind>* kinds = nullptr;
  mark* marks = nullptr; // marks_of_slice for each slice
  const slice_record* records = nullptr;
};

/// What a space does beside handing out slices.
struct space_features {
  /// Where there are none.
  static constexpr std::size_t no_huge_pages = SIZE_MAX;

  bool notes_use = false; ///< a second table of marks says which blocks are in use
  /// The system is asked for huge pages for slices behind the first bytes, this many.
  std::size_t huge_pages_from = no_huge_pages;
};

/// Thread safety: `take` and `give` under the collector's lock, all others may read meanwhile.
class space {
 public:
  /// None is where the range begins: the collector writes that address down in many places, some of
  /// which are looked through.
  static constexpr slice_index first_slice = 1;

  /// Effects: reserves the range, as much as the system allows. Returns: whether there is any.
  [[nodiscard]] bool start(std::size_t limit_bytes, space_features features = {}) noexcept;

  /// Effects: gives everything back, as if it had never been started.
  void end() noexcept;

  /// Returns: the first of `count` slices side by side, now of this kind (and inside_large), or
  /// no_slice. Marks are clear.
  [[nodiscard]] slice_index take(std::size_t count, kind block_kind) noexcept;

  /// Effects: frees them; their kinds are no_kind.
  void give(slice_index first, std::size_t count) noexcept;

  /// Effects: gives back free dirty slices, those with high addresses first, until no more than
  /// `kept_bytes` of them are left, but at most `most_bytes`. If some are given back, no slice that
  /// is usable now gets huge pages. Returns: how many bytes there are left to be given back; 0 if
  /// the system refuses.
  std::size_t purge(std::size_t kept_bytes, std::size_t most_bytes = SIZE_MAX) noexcept;

  /// Effects: begins another age.
  void begin_age() noexcept { ++age_; }
  [[nodiscard]] std::uint32_t age() const noexcept { return age_; }
  /// Returns: whether the slice was taken in this age. Requires: it is taken.
  [[nodiscard]] bool is_new(slice_index slice) const noexcept {
    expects([&] { return kind_at(slice) != no_kind; }, "the slice is taken");
    return records_[slice].taken_in == age_;
  }

  /// Effects: notes down that a block of the slice is handed out in this age.
  void note_handed_out(slice_index slice) const noexcept {
    records_[slice].handed_out_in.store(age_, std::memory_order_relaxed);
  }
  /// Returns: whether a block of the slice was handed out in this age, as far as it was noted down.
  [[nodiscard]] bool has_handed_out(slice_index slice) const noexcept {
    return records_[slice].handed_out_in.load(std::memory_order_relaxed) == age_;
  }

  /// Effects: marks are found here from now on, marks_of_slice for each slice. Requires: zeros.
  void use_marks(mark* marks) noexcept { marks_ = marks; }

  /// Effects: whether copies of the process have the marks. Requires: no thread forks meanwhile.
  void leave_marks_out_of_copies(bool yes) const noexcept;

  /// Effects: no more than this many bytes are taken from now on; 0: as much as there is. Requires:
  /// the collector's lock.
  void limit_to(std::size_t limit_bytes) noexcept;

  /// Effects: looks for free slices from the left again.
  void restart() noexcept { cursor_ = first_slice; }

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - base_ <
           std::size_t{top_.load(std::memory_order_relaxed)} * slice_bytes;
  }
  [[nodiscard]] slice_index slice_of(const void* address) const noexcept {
    return static_cast<slice_index>((reinterpret_cast<std::uintptr_t>(address) - base_) /
                                    slice_bytes);
  }
  [[nodiscard]] std::byte* address_of(slice_index slice) const noexcept {
    return reinterpret_cast<std::byte*>(base_) + std::size_t{slice} * slice_bytes;
  }
  [[nodiscard]] slice_record& record(slice_index slice) const noexcept { return records_[slice]; }
  [[nodiscard]] mark* marks_of(slice_index slice) const noexcept {
    return marks_ + std::size_t{slice} * marks_of_slice;
  }
  /// For each block whether it is in use; like marks. Requires: notes_use().
  [[nodiscard]] mark* uses_of(slice_index slice) const noexcept {
    expects(notes_use(), "it is noted which blocks are in use");
    return uses_ + std::size_t{slice} * marks_of_slice;
  }
  [[nodiscard]] bool notes_use() const noexcept { return uses_ != nullptr; }
  [[nodiscard]] kind kind_at(slice_index slice) const noexcept {
    // Relaxed: the thread that has the address of a block learned of it after the kind was written.
    return kinds_[slice].load(std::memory_order_relaxed);
  }
  /// Returns: how large the blocks of a slice are, the address of a layout included. Requires: it
  /// is taken, and not inside of a large block.
  [[nodiscard]] std::size_t block_bytes(slice_index slice) const noexcept {
    const kind block_kind = kind_at(slice);
    expects(block_kind != no_kind && block_kind != inside_large, "blocks begin in the slice");
    return block_kind < small_kinds ? kind_table[block_kind].bytes : records_[slice].bytes;
  }

  /// Effects: calls `visit` with each slice in which blocks begin, and their kind. It may give
  /// the slice.
  template <class Visit>
  void each_used(Visit visit) const noexcept {
    for (slice_index slice = first_slice; slice < top(); ++slice) {
      const kind block_kind = kind_at(slice);
      if (block_kind != no_kind && block_kind != inside_large) visit(slice, block_kind);
    }
  }

  [[nodiscard]] slice_index top() const noexcept { return top_.load(std::memory_order_relaxed); }
  [[nodiscard]] map what_is_where() const noexcept {
    return {base_, std::size_t{top()} * slice_bytes, kinds_, marks_, records_};
  }

  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_.load(std::memory_order_relaxed) * slice_bytes;
  }
  /// Returns: whether this many slices could be taken if all of them were free.
  [[nodiscard]] bool could_take(std::size_t count) const noexcept {
    return count <= limit_ && count <= reserved_ - first_slice;
  }
  [[nodiscard]] std::size_t metadata_bytes() const noexcept {
    const std::size_t tables = notes_use() ? 2 : 1;
    return std::size_t{top()} * (sizeof(slice_record) + sizeof(kind) + tables * marks_of_slice);
  }

 private:
  [[nodiscard]] slice_index find(std::size_t count) const noexcept;
  [[nodiscard]] bool start_with(std::size_t slices, space_features features) noexcept;
  [[nodiscard]] bool commit_to(std::size_t end) noexcept;
  [[nodiscard]] bool commit_next(std::size_t end) noexcept;
  void leave_huge_pages() noexcept;
  void collapse_next() noexcept;
  void renew_huge_page(slice_index first) noexcept;

  void* memory_ = nullptr; // the tables, and then the slices
  std::size_t memory_bytes_ = 0;
  std::uintptr_t base_ = 0;
  std::atomic<kind>* kinds_ = nullptr;
  mark* marks_ = nullptr;
  mark* uses_ = nullptr;
  slice_record* records_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t committed_ = 0;
  std::size_t huge_pages_from_ = SIZE_MAX; // slice
  std::size_t small_pages_from_ = 0;       // slice: up to huge_pages_from_, for now
  std::atomic<slice_index> top_{0};        // slices from here on were never used; 0: not started
  slice_index cursor_ = first_slice;       // no free slice below, at least not for one
  std::atomic<std::size_t> used_{0};
  std::size_t limit_ = 0; // slices
  std::uint32_t age_ = 0;
};

} // namespace heapwise::gc
