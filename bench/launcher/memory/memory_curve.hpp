// What the program's processes have in memory, looked at while they run.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "launcher/memory/group_memory.hpp"
#include "launcher/memory/process_memory.hpp"
#include "launcher/memory/process_tree.hpp"
#include "launcher/memory/shared_files.hpp"
#include "line/json_line.hpp"

namespace heapwise::bench {

/// Of all processes together at one moment. A page that several share counts in equal parts in
/// `proportional_kib`, and whole for each of them in `shared_kib`.
struct tree_memory {
  std::uint64_t at_ns = 0;
  std::int64_t proportional_kib = 0;
  std::int64_t private_kib = 0;
  std::int64_t shared_kib = 0;
  std::int64_t lazy_free_kib = 0; ///< private ones that the kernel may take back at any time
  std::int64_t swap_kib = 0;
  std::int64_t resident_kib = 0; ///< shared pages whole: what a count has to walk over
  std::int64_t file_kib = 0;     ///< of these, pages of files and shared memory; of a glance
  std::int64_t mapped_kib = 0;   ///< proportional, of shared memory; of a count
  std::int64_t unmapped_kib = 0; ///< shared memory that is open and not mapped; proportional too
  int processes = 0;
  int unread = 0;      ///< that may not be looked at
  bool counted = true; ///< false: a glance; all but the proportional size are of the last count
};

/// Looks of one kind, which take at most a given share of the time.
class look_clock {
 public:
  void start(std::uint64_t now_ns, std::uint64_t first_ns) {
    start_ns_ = now_ns;
    due_ns_ = now_ns + first_ns;
  }
  void took(std::uint64_t cost_ns, std::uint64_t now_ns, std::uint64_t distance_ns);

  /// What the next look will probably cost: it waits until that fits into the share too.
  void expect(std::uint64_t cost_ns) { expected_ns_ = cost_ns; }
  [[nodiscard]] std::uint64_t due_ns() const;
  [[nodiscard]] std::uint64_t cost_ns() const { return cost_ns_; }

 private:
  std::uint64_t start_ns_ = 0;
  std::uint64_t due_ns_ = UINT64_MAX;
  std::uint64_t cost_ns_ = 0;
  std::uint64_t expected_ns_ = 0;
};

/// A count asks the kernel for every page of a process, and the kernel keeps its map locked
/// meanwhile: 15 us for each MiB. A glance reads the resident size, which the kernel knows. Both
/// are made as often as all looks together take at most a thousandth of the time, which is then
/// the most that the program can lose. The first look is a glance: only then is it known what a
/// count would cost.
class memory_curve {
 public:
  static constexpr int most_kept = 4096;

  /// kept: how many moments are kept at most; with 0 nobody looks. If there are more, every second
  /// one is dropped and looks are twice as far apart from then on. group: is looked at with the
  /// processes, and must outlive this; null: there is none.
  explicit memory_curve(int kept, group_memory* group = nullptr)
      : kept_{kept < most_kept ? kept : most_kept}, group_{group} {}

  /// The program starts now.
  void start(pid_t program, std::uint64_t now_ns);

  /// When the next look is due; the greatest number when none is.
  [[nodiscard]] std::uint64_t due_ns() const;

  /// Looks now.
  void look();

  /// The program has ended.
  void stop() { program_ = -1; }

  /// Writes an object of columns; null if there was no look.
  void write(json_line& line) const;

 private:
  [[nodiscard]] tree_memory see(bool count);
  [[nodiscard]] tree_memory first_count();
  [[nodiscard]] std::uint64_t expected_count_ns(const tree_memory& seen) const;
  void keep(const tree_memory& seen);
  void thin();
  template <class Field>
  void write_column(json_line& line, const char* name, Field field) const;

  int kept_;
  group_memory* group_;
  int count_ = 0;
  pid_t program_ = -1;
  std::uint64_t start_ns_ = 0;
  std::uint64_t distance_ns_ = 0;
  look_clock counts_;
  look_clock glances_;
  std::int64_t looks_ = 0;
  tree_memory peak_;
  tree_memory last_;
  tree_memory counted_;       ///< by the last count
  double cost_of_kib_ns_ = 0; ///< of the last count; 0 before the first
  process_tree tree_;
  sharing sharing_;
  shared_files files_;
  std::int64_t most_unmapped_kib_ = 0;
  tree_memory moments_[most_kept];
};

} // namespace heapwise::bench
