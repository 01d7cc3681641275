// What the kernel charges to the control group of the program.
#pragma once

#include <cstdint>

#include "launcher/memory/control_group.hpp"
#include "line/json_line.hpp"

namespace heapwise::bench {

/// What a group had at one moment, in KiB. Less than 0: nobody looked, or the kernel does not say.
struct group_parts {
  std::uint64_t at_ns = 0; ///< since the program's start
  std::int64_t whole_kib = -1;
  std::int64_t swap_kib = -1;
  std::int64_t anonymous_kib = -1;
  std::int64_t file_kib = -1; ///< pages of files that this group was the first to use
  std::int64_t shared_memory_kib = -1;
  std::int64_t inactive_file_kib = -1; ///< also anonymous pages after MADV_FREE
  std::int64_t kernel_kib = -1;        ///< page tables, stacks and other objects of the kernel
  std::int64_t socket_kib = -1;
};

/// A look reads one number. It reads the parts again if that has grown by a sixteenth since: they
/// are then of a moment near the largest look, and are read a few times in all.
class group_memory {
 public:
  /// group: must outlive this.
  explicit group_memory(const control_group& group) : group_{group} {}

  /// The program has just started. entering_ns: the time that it took to enter its group.
  void begin(std::uint64_t entering_ns);

  /// Effects: reads what the group has, at this time since the program's start.
  void look(std::uint64_t at_ns);

  /// Effects: reads what the kernel has counted by itself. Requires: the group still exists.
  void end();

  /// Effects: writes an object; null if no group counts the memory, or if nobody asked.
  void write(json_line& line) const;

 private:
  [[nodiscard]] group_parts read_parts(std::uint64_t at_ns, std::int64_t whole_kib) const;

  const control_group& group_;
  bool begun_ = false;
  bool own_ = false;
  std::uint64_t entering_ns_ = 0;
  std::int64_t before_kib_ = -1; ///< of other processes, when the program started
  std::int64_t most_kib_ = -1;   ///< of all looks
  std::int64_t peak_kib_ = -1;
  std::int64_t limit_kib_ = -1;
  std::int64_t kills_before_ = -1;
  std::int64_t kills_ = -1; ///< processes that the kernel killed because memory was short
  group_parts parts_;
};

} // namespace heapwise::bench
