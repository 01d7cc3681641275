// Marking beside the program: a copy of the process, which has the memory as it was when the world
// stood still, finds out what could be reached then. What could not be reached then cannot be
// reached later: all that the program does meanwhile is to get new blocks, which are marked when
// they are handed out, and to read weak references, which is noted down.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gc/base/page_list.hpp"
#include "os/collector/copies.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

struct copy_report;

/// How many copies that have marked may not have ended yet. Each keeps pages that were written
/// since it was made.
inline constexpr std::size_t most_leaving = 2;

/// The copy that marks now, if any. All under the collector's lock.
struct marking_copy {
  os::copy_number number = os::no_copy;
  // Have marked and may not have ended: the oldest first, then no_copy.
  std::array<os::copy_number, most_leaving> leaving{os::no_copy, os::no_copy};
  copy_report* report = nullptr; // in memory that both write
  std::size_t shared_bytes = 0;
  page_list<const void*> read; // blocks that the program got from weak references meanwhile
  bool read_more = false;      // than there was memory to write down
  std::uint64_t pause_ns = 0;  // while it was made
  std::uint64_t mark_ns = 0;   // that the last one took whose marks were taken over
  std::size_t failures = 0;    // copies that ended without a result

  /// Returns: whether a copy marks. Requires: the lock.
  [[nodiscard]] bool marks() const noexcept { return number != os::no_copy; }

  /// Effects: notes down that the program got the block from a weak reference. Requires: the lock;
  /// there is a copy.
  void note_read(const void* block) noexcept {
    expects(marks(), "there is a copy that marks");
    if (!read.add(block)) read_more = true;
  }
};

} // namespace heapwise::gc
