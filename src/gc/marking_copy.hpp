// Marking beside the program: a copy of the process, which has the memory as it was when the world
// stood still, finds out what could be reached then. What could not be reached then cannot be
// reached later: all that the program does meanwhile is to get new blocks, which are marked when
// they are handed out, and to read weak references, which is noted down.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gc/page_list.hpp"
#include "gc/space.hpp"
#include "os/copies.hpp"

namespace heapwise::gc {

struct root;
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
};

/// Returns: whether a copy marks. Requires: the lock, for this and all that follows.
[[nodiscard]] bool copy_marks() noexcept;

/// Effects: makes a copy that marks what can be reached from the roots. Returns: whether there is
/// one; if not, nothing changed. Requires: a world that stands still; no other copy.
[[nodiscard]] bool start_copy(page_list<root>& roots) noexcept;

/// Returns: whether the copy has found all. Requires: there is one.
[[nodiscard]] bool copy_is_ready() noexcept;

/// Effects: waits until the copy has marked, not until it has ended. Returns: whether what it found
/// can be used: it found all, and the program has got none of the lost blocks from a weak reference
/// meanwhile. False at once if somebody has stopped it (SIGSTOP, a debugger).
[[nodiscard]] bool wait_for_copy() noexcept;

/// Effects: the marks are those of the copy, and blocks handed out meanwhile are marked, too; weak
/// references and finalizers are settled. Requires: wait_for_copy() said that it can be used; no
/// thread marks what it hands out any more.
void take_marks_of_copy() noexcept;

/// Effects: makes room for one more copy that has marked and has not ended: waits for the oldest of
/// them if there are most_leaving. Returns: whether it waited.
bool settle_leaving_copies() noexcept;

/// Effects: there is no copy any more. One that still marks is killed.
void end_copy() noexcept;

/// Effects: as end_copy, in a forked child: the copy is not one of it.
void forget_copy() noexcept;

/// Effects: notes down that the program got the block from a weak reference. Requires: there is a
/// copy.
void note_read(const void* block) noexcept;

} // namespace heapwise::gc
