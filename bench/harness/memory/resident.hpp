// How much memory of this process is there, and the most that ever was: what the kernel says.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// What was resident when the meter was made does not count: tapes, tables and the program itself.
/// Everything since does, stacks of threads too. Reading never allocates.
class resident_meter {
 public:
  resident_meter() noexcept;

  /// A meter for which all anonymous memory of the process counts but `table_bytes`, those of the
  /// experiment's own tables. An allocator that takes more than it needs before the first request
  /// of an experiment (a huge page) has no advantage. What the harness itself holds, some hundred
  /// kilobytes, counts for every subject. Requires: every page of the tables was written to.
  explicit resident_meter(std::uint64_t table_bytes) noexcept;

  /// Bytes resident now above the start, at least one page so that there are ratios. Counted page
  /// by page, some milliseconds for a gigabyte; pages that the kernel may take back but has not
  /// (MADV_FREE) count.
  [[nodiscard]] std::uint64_t now() noexcept;

  /// The most bytes above the start since then, or since restart_peak. The kernel keeps the mark to
  /// some dozens of pages for each processor; what `now` saw is exact.
  [[nodiscard]] std::uint64_t peak() noexcept;

  /// Forgets the peak, where the kernel lets it be forgotten.
  void restart_peak() noexcept;

 private:
  [[nodiscard]] std::uint64_t above_start(std::uint64_t bytes) const noexcept;

  std::uint64_t start_bytes_;
  std::uint64_t seen_ = 0; ///< the most that now() returned
};

} // namespace heapwise::bench
